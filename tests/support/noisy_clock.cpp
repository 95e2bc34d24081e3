#include "tests/support/noisy_clock.h"

#include <cmath>

namespace trainyard {

double NoisyClock::batch(int ops)
{
    // Sum of exp(-i / tau) over the ops of this batch: those not warm yet, counted as cold ones.
    const double decay = std::exp(-1 / noise_.warm_up_ops);
    const double cold =
        std::exp(-ops_ / noise_.warm_up_ops) * (1 - std::pow(decay, ops)) / (1 - decay);
    double seconds = noise_.op * (ops + (noise_.warm_up_factor - 1) * cold);
    seconds *= 1 + noise_.drift * batches_ / noise_.drift_batches;
    if (random_.uniform() < noise_.second_share)
        seconds *= noise_.second_factor;
    seconds = (seconds + noise_.batch_overhead) * std::exp(noise_.spread * state_);
    if (random_.uniform() < noise_.outlier_share)
        seconds *= noise_.outlier_factor;
    if (noise_.tick > 0)
        seconds = std::round(seconds / noise_.tick) * noise_.tick;
    state_ = noise_.correlation * state_ +
             std::sqrt(1 - noise_.correlation * noise_.correlation) * random_.normal();
    ops_ += ops;
    batches_ += 1;
    elapsed_ += seconds;
    return seconds / ops;
}

std::vector<double> NoisyClock::batches(int count, int ops)
{
    std::vector<double> out;
    for (int i = 0; i < count; ++i)
        out.push_back(batch(ops));
    return out;
}

} // namespace trainyard

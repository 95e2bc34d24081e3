#include "calibrate/measure/statistics/sampler.h"

#include "calibrate/fit/order_statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace trainyard {
namespace {

constexpr int most_growths = 8;
constexpr double most_growth = 100; // of the ops of a batch at once
constexpr double margin = 1.1;      // a batch is aimed at so much more than the least time
constexpr std::size_t thirds = 3;
constexpr double third_seconds = 3.3e-3; // of the first groups: 10 ms show a time that still falls
constexpr int most_rounds = 30;          // of groups that do not agree
constexpr int batches_between_looks = 10;
constexpr double request_seconds = 0.25;

// How many times `each` last `seconds`.
int times_to_last(double seconds, double each, int most)
{
    if (each * most <= seconds)
        return most;
    return std::max(1, static_cast<int>(std::ceil(seconds / each)));
}

// Batches in each of the first groups to be compared.
std::size_t first_group(double batch, double warm_up)
{
    const std::size_t least = static_cast<double>(3 * thirds) * batch <= warm_up ? 3 : 1;
    const int lasting = times_to_last(third_seconds, batch, 20);
    return std::max(least, static_cast<std::size_t>(lasting));
}

} // namespace

std::optional<Request> Sampler::next() const
{
    switch (phase_) {
    case Phase::first_op:
    case Phase::growing:
        return Request{SampleKind::warm_up, 1, ops_};
    case Phase::settling: {
        const auto wanted = static_cast<int>(thirds * group_ - settling_.size());
        return Request{SampleKind::warm_up, affordable(wanted), ops_};
    }
    case Phase::timing:
        return Request{SampleKind::timed, affordable(timed_wanted()), ops_};
    case Phase::isolating:
        return Request{SampleKind::isolated, limits_.isolated, 1};
    case Phase::ended:
        break;
    }
    return std::nullopt;
}

void Sampler::add(std::span<const double> seconds_per_op, Seconds spent)
{
    assert(std::all_of(seconds_per_op.begin(), seconds_per_op.end(),
                       [](double value) { return std::isfinite(value) && value >= 0; }));
    const std::optional<Request> request = next();
    if (!request)
        return;
    assert(seconds_per_op.size() <= static_cast<std::size_t>(request->batches));
    const double sum = std::accumulate(seconds_per_op.begin(), seconds_per_op.end(), 0.0);
    const double cost = std::max(spent.value(), sum * request->ops);
    if (request->kind == SampleKind::isolated) {
        isolated_.assign(seconds_per_op.begin(), seconds_per_op.end());
        phase_ = Phase::ended;
        return;
    }
    batch_ = cost / request->batches;
    if (request->kind == SampleKind::timed) {
        timed_.insert(timed_.end(), seconds_per_op.begin(), seconds_per_op.end());
        asked_ += request->batches;
        timed_spent_ += cost;
        batch_ = timed_spent_ / asked_;
        weigh_timed();
        return;
    }
    warm_up_ops_ += request->batches * request->ops;
    if (phase_ == Phase::first_op) {
        phase_ = Phase::growing;
        return;
    }
    warm_up_spent_ += cost;
    if (phase_ == Phase::growing)
        grow(seconds_per_op.empty() ? cost / request->ops : seconds_per_op.front());
    else
        settle(seconds_per_op);
}

// No more than fit into one request.
int Sampler::affordable(int batches) const
{
    if (batch_ * batches <= request_seconds)
        return batches;
    return std::max(1, static_cast<int>(request_seconds / batch_));
}

// Up to the next look, as far as time allows.
int Sampler::timed_wanted() const
{
    const int past = std::max(asked_ - limits_.least_batches, 0) % batches_between_looks;
    const int look = asked_ < limits_.least_batches ? limits_.least_batches
                                                    : asked_ + batches_between_looks - past;
    const int wanted = std::min(look, limits_.most_batches) - asked_;
    const double left = limits_.timed.value() - timed_spent_;
    if (batch_ * wanted <= left)
        return wanted;
    const int fewest = std::clamp(fewest_batches - asked_, 1, wanted);
    return std::clamp(static_cast<int>(std::max(left, 0.0) / batch_), fewest, wanted);
}

// Finds about how many ops last long enough, from one batch at a time.
void Sampler::grow(double seconds_per_op)
{
    const double aim = limits_.batch.value();
    const double lasted = seconds_per_op * ops_;
    const int most =
        static_cast<int>(std::min(static_cast<double>(limits_.most_ops), most_growth * ops_));
    const int wanted = times_to_last(margin * aim, seconds_per_op, most);
    const bool fits =
        (lasted >= aim || ops_ == limits_.most_ops) && (ops_ == 1 || lasted < 2 * aim);
    set_ops(wanted);
    if (!fits && ++growths_ < most_growths)
        return;
    phase_ = Phase::settling;
    group_ = first_group(batch_, limits_.warm_up.value());
    if (warm_up_is_out_of_time())
        start_timing(seconds_per_op);
}

// Ends the warm-up when three groups of batches in a row agree or time is up. While they do not,
// the groups get longer, with the warm-up as a whole: one that takes long is not over while its
// times still fall slowly, and medians of more batches are steadier.
void Sampler::settle(std::span<const double> seconds_per_op)
{
    ++rounds_;
    settling_.insert(settling_.end(), seconds_per_op.begin(), seconds_per_op.end());
    double latest = batch_ / ops_;
    if (settling_.size() >= thirds * group_) {
        const auto group = static_cast<std::ptrdiff_t>(group_);
        std::vector<double> medians;
        for (auto begin = settling_.begin(); medians.size() < thirds; begin += group)
            medians.push_back(median({begin, begin + group}));
        latest = medians.back();
        const auto [low, high] = std::minmax_element(medians.begin(), medians.end());
        settled_ = *high <= *low * (1 + limits_.agreement);
        settling_.erase(settling_.begin(), settling_.begin() + group);
        group_ += (group_ + 2) / 3;
    }
    const bool enough = warm_up_ops_ >= limits_.least_warm_up_ops;
    if ((settled_ && enough) || warm_up_is_out_of_time())
        start_timing(latest);
}

// Fewer ops than the least number only where the next one would take longer than all timed batches
// may.
bool Sampler::warm_up_is_out_of_time() const
{
    const bool enough = warm_up_ops_ >= limits_.least_warm_up_ops;
    const bool long_op = warm_up_spent_ + batch_ > limits_.timed.value();
    const bool long_enough = warm_up_spent_ >= limits_.warm_up.value() || rounds_ >= most_rounds;
    return long_op || (enough && long_enough);
}

void Sampler::start_timing(double seconds_per_op)
{
    set_ops(times_to_last(margin * limits_.batch.value(), seconds_per_op, limits_.most_ops));
    phase_ = Phase::timing;
}

void Sampler::set_ops(int ops)
{
    batch_ *= static_cast<double>(ops) / ops_;
    ops_ = ops;
}

bool Sampler::precise() const
{
    const auto interval = interval_of_median(timed_);
    return interval && (interval->high - interval->low) / 2 <= limits_.half_width * median(timed_);
}

void Sampler::weigh_timed()
{
    const int more = asked_ - limits_.least_batches;
    const bool most = asked_ >= limits_.most_batches;
    const bool late = asked_ >= fewest_batches && timed_spent_ + batch_ > limits_.timed.value();
    const bool look = more >= 0 && more % batches_between_looks == 0;
    if (!look && !most && !late)
        return;
    if (more >= 0 && precise())
        end_ = SampleEnd::precise;
    else if (most)
        end_ = SampleEnd::most_batches;
    else if (late)
        end_ = SampleEnd::out_of_time;
    else
        return;
    phase_ = limits_.isolated > 0 && ops_ > 1 ? Phase::isolating : Phase::ended;
}

} // namespace trainyard

#include "sim/study/training/expected_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

// First and second moment of a time, in s and s^2.
struct Moments {
    double mean = 0;
    double second = 0;

    double variance() const { return std::max(0.0, second - mean * mean); }
};

Moments constant(double value)
{
    return {value, value * value};
}

// Of a sum of independent ones.
Moments operator+(Moments a, Moments b)
{
    return {a.mean + b.mean, a.second + b.second + 2 * a.mean * b.mean};
}

// Of one with this weight, else the other.
Moments mixed(Moments a, double weight, Moments b)
{
    const double rest = 1 - weight;
    return {weight * a.mean + rest * b.mean, weight * a.second + rest * b.second};
}

// Contributions of x < length to the moments of an exponential time x: small ones from the series,
// where the closed form cancels.
Moments cut_short(double rate, double length)
{
    const double x = rate * length;
    if (x < 1e-3)
        return {length * x * (1.0 / 2 - x / 3 + x * x / 8),
                length * length * x * (1.0 / 3 - x / 4 + x * x / 10)};
    const double survives = std::exp(-x);
    return {(1 - survives * (1 + x)) / rate, (2 - survives * (x * x + 2 * x + 2)) / (rate * rate)};
}

// What happens beside the work of a run: pauses at `rate` of time worked.
struct Pauses {
    double rate = 0;
    Moments each;

    // A time of work, with its pauses. Takes contributions to moments too.
    Moments stretched(Moments work) const
    {
        const double factor = 1 + rate * each.mean;
        return {factor * work.mean, factor * factor * work.second + rate * work.mean * each.second};
    }
};

// Runs of `length` until one is not cut short; `mend` after each that is.
Moments until_done(double rate, double length, Moments mend, const Pauses& pauses = {})
{
    const double done = std::exp(-rate * length);
    const double cut = -std::expm1(-rate * length);
    const Moments success = pauses.stretched(constant(length));
    const Moments lost = pauses.stretched(cut_short(rate, length));
    Moments out;
    out.mean = success.mean + (lost.mean + cut * mend.mean) / done;
    const double with_mend = lost.second + cut * mend.second + 2 * lost.mean * mend.mean;
    const double again = 2 * (lost.mean + cut * mend.mean) * out.mean;
    out.second = success.second + (with_mend + again) / done;
    return out;
}

// The same where only the first run is of `first`, later ones of another length that takes `again`.
Moments first_of(double rate, double first, Moments mend, Moments again, const Pauses& pauses)
{
    const double cut = -std::expm1(-rate * first);
    const Moments success = pauses.stretched(constant(first));
    const Moments lost = pauses.stretched(cut_short(rate, first));
    const Moments rest = mend + again;
    return {(1 - cut) * success.mean + lost.mean + cut * rest.mean,
            (1 - cut) * success.second + lost.second + cut * rest.second +
                2 * lost.mean * rest.mean};
}

double share(double part, double all)
{
    return all > 0 ? part / all : 0.0;
}

// How long a node is waited for after a failure of the hardware: the first of n + 1 repairs.
// `running`: wall time but for such waits, in which so many failures come.
Moments wait_for_node(const FailureProcess& process, double failures, Seconds running)
{
    const double load = failures * process.replaced * (process.repair / running);
    const double waits = process.replaced * no_spare_share(load, process.spare_nodes);
    const double first = process.repair.value() / (process.spare_nodes + 1);
    return {waits * first, waits * 2 * first * first};
}

Seconds deviation_of(const FailureProcess& process, Moments wait)
{
    const Moments hardware = constant(process.detection.value()) + wait;
    const Moments spot = constant(process.spot_return.value());
    const double rate = process.rate();
    const Moments any = mixed(hardware, share(process.hardware_rate, rate), spot);
    const Moments restart = until_done(rate, process.restart.value(), any);
    const double losing = process.losing_rate();
    const Moments mend = mixed(hardware, share(process.hardware_rate, losing), spot) + restart;
    const Pauses pauses{process.warned_rate,
                        constant(process.checkpoint.write.value()) + spot + restart};
    const double length = process.segment().value();
    const Moments afresh =
        until_done(losing, length + process.written_behind().value(), mend, pauses);
    const Moments next = first_of(losing, length, mend, afresh, pauses);
    return Seconds(std::sqrt(restart.variance() + afresh.variance() +
                             static_cast<double>(process.segments - 1) * next.variance()));
}

// How often work fails; infinite where it never gets done.
double failures_in_work(const FailureProcess& process)
{
    const double rate = process.losing_rate();
    const double length = process.segment().value();
    const double afresh = rate * (length + process.written_behind().value());
    return std::expm1(afresh) - static_cast<double>(process.segments - 1) *
                                    std::expm1(-rate * length) * std::exp(afresh);
}

Seconds work_and_checkpoints(const FailureProcess& process)
{
    return process.segment() * static_cast<double>(process.segments) + process.written_behind();
}

// Gamma distribution of the time above that without failures.
struct Excess {
    double least = 0;
    double shape = 0;
    double scale = 0;
};

Excess excess_of(const FailureProcess& process, const ExpectedTime& time)
{
    const double least = (work_and_checkpoints(process) + process.restart).value();
    const double mean = std::max(0.0, time.mean().value() - least);
    const double variance = time.deviation.value() * time.deviation.value();
    if (mean <= 0 || variance <= 0)
        return {least, 0, 0};
    return {least, mean * mean / variance, variance / mean};
}

// Wilson and Hilferty 1931: the cube root of a gamma variate is nearly normal.
double excess_quantile(const Excess& excess, double z)
{
    if (excess.shape <= 0)
        return excess.least;
    const double root = 1 - 1 / (9 * excess.shape) + z / (3 * std::sqrt(excess.shape));
    return excess.least + excess.shape * excess.scale * std::pow(std::max(0.0, root), 3);
}

} // namespace

ExpectedTime expected_time(const FailureProcess& process)
{
    const double rate = process.rate();
    const double losing = process.losing_rate();
    const double failed = failures_in_work(process);
    const Seconds worked = losing > 0 && std::isfinite(failed)
                               ? std::max(work_and_checkpoints(process), Seconds(failed / losing))
                               : work_and_checkpoints(process) * (losing > 0 ? failed : 1.0);
    const double warned = process.warned_rate * worked.value();
    const double restarts = failed + warned + 1; // the first start too
    const double hits = std::expm1(rate * process.restart.value());
    const double hardware = failed * share(process.hardware_rate, losing) +
                            restarts * hits * share(process.hardware_rate, rate);
    const double all = failed + warned + restarts * hits;
    const double spot = process.rate() > process.hardware_rate ? all - hardware : 0.0;

    ExpectedTime out;
    out.failures = hardware;
    out.interruptions = spot;
    WallAccount& account = out.account;
    account[WallTime::steps] = process.steps;
    account[WallTime::stragglers] = process.stragglers;
    account[WallTime::evaluation] = process.evaluation;
    account[WallTime::checkpoints] =
        work_and_checkpoints(process) - process.work() + process.checkpoint.write * warned;
    account[WallTime::lost_work] = worked - work_and_checkpoints(process);
    account[WallTime::detection] = process.detection * hardware;
    account[WallTime::repair] = process.spot_return * spot;
    account[WallTime::restart] =
        rate > 0 ? Seconds(restarts * hits / rate) : process.restart * restarts;
    const Moments wait = wait_for_node(process, hardware, account.total());
    account[WallTime::repair] += Seconds(wait.mean) * hardware;
    out.deviation = deviation_of(process, wait);
    const Excess excess = excess_of(process, out);
    out.low = Seconds(excess_quantile(excess, -z_of_95));
    out.high = Seconds(excess_quantile(excess, z_of_95));
    return out;
}

double share_within(const FailureProcess& process, const ExpectedTime& time, Seconds wall)
{
    const Excess excess = excess_of(process, time);
    const double over = wall.value() - excess.least;
    if (over < 0 || excess.shape <= 0)
        return over < 0 ? 0.0 : 1.0;
    const double root = std::cbrt(over / (excess.shape * excess.scale));
    const double z = (root - 1 + 1 / (9 * excess.shape)) * 3 * std::sqrt(excess.shape);
    return std::erfc(-z / std::sqrt(2.0)) / 2;
}

Seconds daly_interval(const FailureProcess& process)
{
    const double mtbf = 1 / process.losing_rate();
    const double cost = process.checkpoint.block.value();
    if (cost >= 2 * mtbf)
        return Seconds(mtbf);
    return Seconds(std::sqrt(2 * cost * mtbf) *
                       (1 + std::sqrt(cost / (2 * mtbf)) / 3 + cost / (18 * mtbf)) -
                   cost);
}

// The time falls, then rises with the number of segments, so thirds of its logarithm are cut off.
// A checkpoint that is written behind the steps must be done before the next.
FailureProcess with_best_interval(FailureProcess process)
{
    process.segments = 1;
    if (process.losing_rate() <= 0)
        return process;
    const auto time_with = [&](double segments) {
        process.segments = static_cast<std::int64_t>(segments);
        const double time = expected_time(process).mean().value();
        return std::isfinite(time) ? time : std::numeric_limits<double>::infinity();
    };
    const double behind = process.written_behind().value();
    const double shortest = std::max({behind, daly_interval(process).value() / 32, 1e-3});
    const double most = std::floor(std::clamp(process.work().value() / shortest, 1.0, 1e12));
    double low = 0;
    double high = std::log(most);
    for (int cut = 0; cut < 60; ++cut) {
        const double third = (high - low) / 3;
        const double at_left = time_with(std::exp(low + third));
        if (std::isfinite(at_left) && at_left <= time_with(std::exp(high - third)))
            high -= third;
        else
            low += third;
    }
    double best = std::clamp(std::floor(std::exp(low)) - 1, 1.0, most);
    for (double segments = best; segments <= std::min(best + 3, most); ++segments)
        if (time_with(segments) < time_with(best))
            best = segments;
    process.segments = static_cast<std::int64_t>(best);
    return process;
}

} // namespace trainyard

#include "sim/study/training/simulated_trainings.h"

#include "sim/base/parallel.h"
#include "sim/base/random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

constexpr std::size_t chunk = 64; // trainings summed up at once, in order

struct OneTraining {
    WallAccount account;
    double failures = 0;
    double interruptions = 0;
};

enum class Event { hardware, sudden, warned };

class TrainingRun {
public:
    TrainingRun(const FailureProcess& process, std::uint64_t seed)
        : process_(process), random_(seed)
    {}

    OneTraining run()
    {
        restart();
        while (!work_until_failure())
            restart();
        out_.account[WallTime::steps] = process_.steps;
        out_.account[WallTime::stragglers] = process_.stragglers;
        out_.account[WallTime::evaluation] = process_.evaluation;
        return std::move(out_);
    }

private:
    double exponential(double rate)
    {
        return rate > 0 ? -std::log1p(-random_.uniform()) / rate
                        : std::numeric_limits<double>::infinity();
    }

    void spend(WallTime cause, double time)
    {
        out_.account[cause] += Seconds(time);
        now_ += time;
    }

    // What strikes next, while the job runs: its kind follows from the rates.
    Event drawn_event()
    {
        const double at = random_.uniform() * process_.rate();
        if (at < process_.hardware_rate)
            return Event::hardware;
        return at < process_.losing_rate() ? Event::sudden : Event::warned;
    }

    // Runs from the last checkpoint until work is lost or done. Returns whether it is done.
    bool work_until_failure()
    {
        const double segment = process_.segment().value();
        const double behind = process_.written_behind().value();
        const double left = static_cast<double>(process_.segments - saved_) * segment + behind;
        double ran = 0;
        while (true) {
            const double next = ran + exponential(process_.rate());
            if (next >= left) {
                finish(left - ran);
                return true;
            }
            now_ += next - ran;
            ran = next;
            const Event event = drawn_event();
            if (event != Event::warned) {
                lose(ran, segment, behind);
                stop(event);
                return false;
            }
            spend(WallTime::checkpoints, process_.checkpoint.write.value());
            stop(event);
            restart();
        }
    }

    void finish(double rest)
    {
        now_ += rest;
        keep(process_.segments - saved_);
        out_.account[WallTime::checkpoints] += process_.written_behind();
    }

    void keep(std::int64_t segments)
    {
        saved_ += segments;
        out_.account[WallTime::checkpoints] +=
            process_.checkpoint.block * static_cast<double>(segments);
    }

    void lose(double ran, double segment, double behind)
    {
        const double written = std::max(0.0, std::floor((ran - behind) / segment));
        keep(static_cast<std::int64_t>(written));
        out_.account[WallTime::lost_work] += Seconds(ran - written * segment);
    }

    // From a failure to the moment at which a restart may begin.
    void stop(Event event)
    {
        if (event != Event::hardware) {
            ++out_.interruptions;
            spend(WallTime::repair, process_.spot_return.value());
            return;
        }
        ++out_.failures;
        spend(WallTime::detection, process_.detection.value());
        if (random_.uniform() < process_.replaced)
            replace_node();
    }

    void replace_node()
    {
        std::erase_if(repaired_at_, [&](double time) { return time <= now_; });
        if (process_.repair.value() > 0)
            repaired_at_.push_back(now_ + exponential(1 / process_.repair.value()));
        if (static_cast<int>(repaired_at_.size()) <= process_.spare_nodes)
            return;
        const auto first = std::min_element(repaired_at_.begin(), repaired_at_.end());
        spend(WallTime::repair, *first - now_);
        repaired_at_.erase(first);
    }

    void restart()
    {
        const double needed = process_.restart.value();
        while (true) {
            const double struck = exponential(process_.rate());
            spend(WallTime::restart, std::min(struck, needed));
            if (struck >= needed)
                return;
            stop(drawn_event());
        }
    }

    const FailureProcess& process_;
    Random random_;
    OneTraining out_;
    std::int64_t saved_ = 0; // segments
    double now_ = 0;         // s
    std::vector<double> repaired_at_;
};

// Sums over some trainings, and of squares.
struct Sums {
    WallAccount account;
    std::array<double, wall_time_kinds> squares{};
    double failures = 0;
    double interruptions = 0;

    void add(const OneTraining& one)
    {
        for (std::size_t i = 0; i < wall_time_kinds; ++i) {
            const Seconds part = one.account.by_cause[i];
            account.by_cause[i] += part;
            squares[i] += part.value() * part.value();
        }
        failures += one.failures;
        interruptions += one.interruptions;
    }
    void add(const Sums& more)
    {
        for (std::size_t i = 0; i < wall_time_kinds; ++i) {
            account.by_cause[i] += more.account.by_cause[i];
            squares[i] += more.squares[i];
        }
        failures += more.failures;
        interruptions += more.interruptions;
    }
};

double standard_deviation(double mean, double mean_of_squares)
{
    return std::sqrt(std::max(0.0, mean_of_squares - mean * mean));
}

void set_durations(SimulatedTrainings& out, std::vector<Seconds> durations)
{
    const double count = static_cast<double>(durations.size());
    for (const Seconds duration : durations)
        out.mean += duration / count;
    double squares = 0;
    for (const Seconds duration : durations) {
        const double off = (duration - out.mean).value();
        squares += off * off / count;
    }
    out.deviation = Seconds(std::sqrt(squares));
    std::sort(durations.begin(), durations.end());
    out.durations = std::move(durations);
}

} // namespace

Seconds SimulatedTrainings::quantile(double share) const
{
    const auto at = static_cast<std::size_t>(share * static_cast<double>(durations.size() - 1));
    return durations[at];
}

double SimulatedTrainings::share_within(Seconds wall) const
{
    const auto end = std::upper_bound(durations.begin(), durations.end(), wall);
    return static_cast<double>(end - durations.begin()) / static_cast<double>(durations.size());
}

std::size_t affordable_trainings(double failures, std::size_t wanted)
{
    constexpr double most_failures = 1e8; // 5 to 10 million a second and core
    const double most = std::max(1.0, most_failures / std::max(1.0, failures));
    return most < static_cast<double>(wanted) ? static_cast<std::size_t>(most) : wanted;
}

SimulatedTrainings simulate_trainings(const FailureProcess& process, const TrainingSamples& samples)
{
    const std::size_t count = std::max<std::size_t>(1, samples.count);
    std::vector<Seconds> durations(count);
    std::vector<Sums> sums((count + chunk - 1) / chunk);
    const int threads = samples.threads > 0 ? samples.threads : usable_threads();
    for_each_index(sums.size(), threads, [&](std::size_t index) {
        const std::size_t end = std::min(count, (index + 1) * chunk);
        for (std::size_t i = index * chunk; i < end; ++i) {
            const OneTraining one = TrainingRun(process, hash_key(samples.seed, i)).run();
            durations[i] = one.account.total();
            sums[index].add(one);
        }
    });
    Sums all;
    for (const Sums& part : sums)
        all.add(part);
    const double n = static_cast<double>(count);
    SimulatedTrainings out;
    for (std::size_t i = 0; i < wall_time_kinds; ++i) {
        out.account.by_cause[i] = all.account.by_cause[i] / n;
        out.error.by_cause[i] = Seconds(
            standard_deviation(out.account.by_cause[i].value(), all.squares[i] / n) / std::sqrt(n));
    }
    out.failures = all.failures / n;
    out.interruptions = all.interruptions / n;
    set_durations(out, std::move(durations));
    return out;
}

} // namespace trainyard

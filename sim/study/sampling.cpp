#include "sim/study/sampling.h"

#include "sim/study/run_setup.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace trainyard {

namespace {

Checked<Run> run_bound(const Parts& parts, const Scenario& scenario, SimTime origin,
                       const WorkControl& work)
{
    const std::shared_ptr<const Topology> topology =
        perturbed_topology(parts.sound, scenario.perturbations, scenario.run.seed);
    const Binding binding =
        bind(*parts.plan, parts.job, *topology, *parts.cost, bind_options(scenario, parts, origin));
    return run(parts.plan->program, binding, run_control(scenario, work));
}

Checked<SimTime> step_time(const Parts& parts, const Scenario& scenario, const WorkControl& work)
{
    SimTime origin{};
    if (has_windows(scenario.perturbations)) {
        const Checked<Run> before = run_bound(parts, before_windows(scenario), SimTime(0), work);
        if (!before)
            return tl::unexpected(before.error());
        origin = measured_from(before->result);
    }
    const Checked<Run> made = run_bound(parts, scenario, origin, work);
    if (!made)
        return tl::unexpected(made.error());
    return made->result.step_time;
}

// Hands out samples to threads and keeps what they find.
class Sampling {
public:
    Sampling(const Parts& parts, const Scenario& scenario, int count, const WorkControl& work)
        : parts_(parts),
          scenario_(scenario),
          work_(work),
          made_(static_cast<std::size_t>(count), SimTime(0))
    {
        inner_.cancel = work.cancel;
    }

    Checked<Samples> take()
    {
        const std::size_t threads =
            std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), made_.size());
        std::vector<std::jthread> others;
        for (std::size_t t = 1; t < threads; ++t)
            others.emplace_back([this] { work_on(false); });
        work_on(true);
        others.clear();
        if (failure_)
            std::rethrow_exception(failure_);
        Samples samples{scenario_.run.seed, {}};
        for (Checked<SimTime>& made : made_) {
            if (!made)
                return tl::unexpected(std::move(made.error()));
            samples.step_times.push_back(*made);
        }
        return samples;
    }

private:
    // Only the calling thread tells of progress.
    void work_on(bool calling)
    {
        try {
            for (std::size_t i = next_++; i < made_.size() && !stopped_; i = next_++) {
                Scenario scenario = scenario_;
                scenario.run.seed += i;
                made_[i] = step_time(parts_, scenario, inner_);
                ++done_;
                if (calling)
                    work_.report("samples", static_cast<double>(done_),
                                 static_cast<double>(made_.size()));
            }
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            if (!failure_)
                failure_ = std::current_exception();
            stopped_ = true;
        }
    }

    const Parts& parts_;
    const Scenario& scenario_;
    const WorkControl& work_;
    WorkControl inner_; // cancel without progress
    std::vector<Checked<SimTime>> made_;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::size_t> done_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::exception_ptr failure_;
};

} // namespace

Checked<Samples> sample_steps(const Parts& parts, const Scenario& scenario, int count,
                              const WorkControl& work)
{
    return Sampling(parts, scenario, count, work).take();
}

} // namespace trainyard

#pragma once

// A job at which nothing goes on any more since a rank hangs or has died, and when it would notice.

#include "sim/engine/standstill.h"
#include "sim/strategy/plan.h"
#include "sim/study/scenario.h"

#include <memory>
#include <optional>

namespace trainyard {

struct Stuck {
    Scenario scenario;
    Job job;
    std::shared_ptr<const Topology> topology;
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const Binding> binding;
    Standstill standstill;
    SimTime measured_from{}; // when the measured step began: times of reports count from there
    int measured_step = 0;   // counted from 1; steps after it are unrolled too
    Problems warnings;
};

// Whether every rank has stopped or waits.
bool holds_everyone(const Stuck& stuck);

// Whether a lane is to hang or die before `time`.
bool any_stops_before(const Binding& binding, SimTime time);

// How long a process waits for an op that it has issued before it ends the job: what the scenario
// says, else PyTorch's default: 10 minutes for NCCL (pytorch/pytorch#110947), 30 for other back
// ends of a process group (torch/distributed/constants.py). NVSHMEM has no process group, hence no
// time-out.
std::optional<Seconds> time_out_of(const Scenario& scenario, Backend backend);

// The first rank to give up.
struct Notice {
    LaneId lane{};
    OpPlace place{};
    SimTime issued{};
    Backend backend = Backend::nccl;
    Seconds after{};
};

// None where everyone waits for ever.
std::optional<Notice> first_notice(const Stuck& stuck);

// A time-out that is over before nothing goes on any more: refused, since it might also end a job
// in which nobody is stuck.
Problems time_out_problems(const Stuck& stuck);

// Every entry that stops a rank, in a run that came to its end all the same.
Problems stops_too_late(const Scenario& scenario, const StepResult& result, SimTime measured_from);

} // namespace trainyard

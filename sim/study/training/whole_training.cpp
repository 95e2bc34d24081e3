#include "sim/study/training/whole_training.h"

#include "sim/base/units.h"

#include <fmt/core.h>

#include <cmath>

namespace trainyard {

namespace {

// What a training that takes longer has become: hopeless.
constexpr double longest = 1000 * 365.25 * 86400;

Problems hopeless(const FailureProcess& process)
{
    const Seconds between(1 / process.rate());
    return {
        {{},
         0,
         "/failures",
         fmt::format("the training never ends: something fails every {}, and a restart with "
                     "work to the next checkpoint takes {}",
                     to_display(between),
                     to_display(process.restart + process.segment() + process.written_behind())),
         "write checkpoints more often or faster, restart faster, or use fewer devices",
         Severity::error}};
}

std::vector<std::string> assumptions_of(const WholeTrainingRequest& request,
                                        const FailureProcess& process)
{
    std::vector<std::string> out;
    const auto assume = [&](bool needed, std::string text) {
        if (needed)
            out.push_back(std::move(text));
    };
    const FailureModel& failures = request.failures;
    const CheckpointModel& checkpoints = request.checkpoints;
    assume(process.rate() <= 0, "nothing fails: no mean time between failures given");
    assume(process.hardware_rate > 0 && !failures.spare_nodes && process.spare_nodes > 0,
           fmt::format("spare nodes not given: {}, so that a failure in a hundred waits",
                       process.spare_nodes));
    assume(!checkpoints.time && !checkpoints.bytes && process.checkpoint.bytes.value() > 0,
           fmt::format("bytes of a checkpoint not given: {}, 14 for each parameter",
                       to_display(process.checkpoint.bytes)));
    assume(!checkpoints.time && !checkpoints.bandwidth && process.checkpoint.bytes.value() > 0,
           fmt::format("rate of storage not given: {}, that of published runs of this size",
                       to_display(process.checkpoint.rate)));
    assume(process.checkpoint.write.value() <= 0 && !checkpoints.time,
           "checkpoints take no time: neither that nor the model's size is given");
    bool in_proportion = false;
    for (const BatchRamp& stage : request.ramp)
        in_proportion = in_proportion || !stage.step_time;
    assume(in_proportion, "steps of smaller batches take less in proportion");
    return out;
}

} // namespace

Checked<WholeTraining> whole_training(const WholeTrainingRequest& request)
{
    if (Problems problems = problems_of(request); !problems.empty())
        return tl::unexpected(std::move(problems));
    WholeTraining out;
    out.request = request;
    out.steps = count_steps(request);
    const FailureProcess process = failure_process(request);
    out.process = request.checkpoints.interval
                      ? with_interval(process, *request.checkpoints.interval)
                      : with_best_interval(process);
    out.time = expected_time(out.process);
    if (const double mean = out.time.mean().value(); !(mean < longest) && out.process.rate() > 0)
        return tl::unexpected(hopeless(out.process));
    out.cost = training_cost(request, out.process, out.time.account);
    if (request.deadline)
        out.in_time = share_within(out.process, out.time, *request.deadline);
    out.assumptions = assumptions_of(request, out.process);
    return out;
}

} // namespace trainyard

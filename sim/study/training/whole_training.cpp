#include "sim/study/training/whole_training.h"

#include "sim/base/units.h"

#include <fmt/core.h>

#include <algorithm>
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
    assume(process.waits_for_nodes() && !failures.spare_nodes,
           fmt::format("spare nodes not given: {}, for more would cost more than waiting for "
                       "repairs does",
                       process.spare_nodes == 0 ? "none" : std::to_string(process.spare_nodes)));
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

// Of the log-normal whose sides the interval has; by failures alone as these are distributed.
double chance_within(const WholeTraining& training, Seconds wall)
{
    if (is_step_sure(training.request))
        return share_within(training.process, training.time, wall);
    const double mean = training.time.mean().value();
    const bool late = wall.value() > mean;
    const double side = late ? training.wall.high.value() / mean : mean / training.wall.low.value();
    const double off = std::log(wall.value() / mean);
    if (!(wall.value() > 0) || !(side > 1))
        return late ? 1.0 : 0.0;
    return std::erfc(-z_of_95 * off / std::log(side) / std::sqrt(2.0)) / 2;
}

WholeTraining with_spares(const WholeTrainingRequest& request, int spare_nodes)
{
    WholeTraining out;
    out.request = request;
    out.steps = count_steps(request);
    FailureProcess process = failure_process(request);
    process.spare_nodes = spare_nodes;
    out.process = request.checkpoints.interval
                      ? with_interval(process, *request.checkpoints.interval)
                      : with_best_interval(process);
    out.time = expected_time(out.process);
    out.cost = training_cost(request, out.process, out.time.account);
    return out;
}

// Where nodes have no price, their hours are what they cost.
double cost_of_nodes(const WholeTraining& training)
{
    return training.cost.rent > 0 ? *training.cost.money : training.cost.gpu_hours;
}

// Each is paid all the time and shortens the waits for repairs by less than the one before.
int cheapest_spares(const WholeTrainingRequest& request)
{
    const auto pays = [&](int spares) {
        return cost_of_nodes(with_spares(request, spares + 1)) <
               cost_of_nodes(with_spares(request, spares));
    };
    if (!failure_process(request).waits_for_nodes())
        return 0;
    int fewest = 0; // all before them pay
    int most = 0;
    for (const int limit = most_spares(request); most < limit && pays(most);) {
        fewest = most + 1;
        most = std::min(2 * fewest, limit);
    }
    while (fewest < most) {
        const int middle = fewest + (most - fewest) / 2;
        if (pays(middle))
            fewest = middle + 1;
        else
            most = middle;
    }
    return fewest;
}

} // namespace

bool is_step_sure(const WholeTrainingRequest& request)
{
    return !request.step_time_low || !request.step_time_high ||
           !(*request.step_time_low < *request.step_time_high);
}

WallInterval with_step_interval(const WholeTrainingRequest& request, Seconds mean,
                                const WallInterval& by_failures)
{
    if (is_step_sure(request))
        return by_failures;
    const auto side = [](double one, double other) {
        return std::exp(std::hypot(std::log(std::max(1.0, one)), std::log(std::max(1.0, other))));
    };
    return {mean / side(mean / by_failures.low, request.step_time / *request.step_time_low),
            mean * side(by_failures.high / mean, *request.step_time_high / request.step_time)};
}

Checked<WholeTraining> whole_training(const WholeTrainingRequest& request)
{
    if (Problems problems = problems_of(request); !problems.empty())
        return tl::unexpected(std::move(problems));
    const std::optional<int>& spares = request.failures.spare_nodes;
    WholeTraining out = with_spares(request, spares ? *spares : cheapest_spares(request));
    if (const double mean = out.time.mean().value(); !(mean < longest) && out.process.rate() > 0)
        return tl::unexpected(hopeless(out.process));
    out.wall = with_step_interval(request, out.time.mean(), {out.time.low, out.time.high});
    if (request.deadline)
        out.in_time = chance_within(out, *request.deadline);
    if (request.budget && out.cost.money.value_or(0) > 0) // which grows with the wall time
        out.in_budget = chance_within(out, out.time.mean() * (*request.budget / *out.cost.money));
    out.assumptions = assumptions_of(request, out.process);
    return out;
}

} // namespace trainyard

#include "sim/study/training/failure_process.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

double rate_of(const std::optional<Seconds>& mtbf, int count)
{
    return mtbf ? count / mtbf->value() : 0.0;
}

} // namespace

template <>
std::vector<EnumName<WallTime>> enum_names<WallTime>()
{
    return {{WallTime::steps, "steps"},           {WallTime::stragglers, "stragglers"},
            {WallTime::evaluation, "evaluation"}, {WallTime::checkpoints, "checkpoints"},
            {WallTime::lost_work, "lost_work"},   {WallTime::detection, "detection"},
            {WallTime::repair, "repair"},         {WallTime::restart, "restart"}};
}

Seconds WallAccount::total() const
{
    Seconds sum;
    for (const Seconds part : by_cause)
        sum += part;
    return sum;
}

double no_spare_share(double load, int spares)
{
    double share = 1;
    for (int n = 1; n <= spares; ++n)
        share = load * share / (n + load * share);
    return share;
}

StepCount count_steps(const WholeTrainingRequest& request)
{
    StepCount out;
    double left = request.tokens;
    for (const BatchRamp& stage : request.ramp) {
        const double steps = std::ceil(stage.tokens / stage.batch_tokens);
        const Seconds step = stage.step_time.value_or(request.step_time *
                                                      (stage.batch_tokens / request.batch_tokens));
        out.steps += steps;
        out.time += step * steps;
        left -= steps * stage.batch_tokens;
    }
    const double steps = std::ceil(std::max(0.0, left) / request.batch_tokens);
    out.steps += steps;
    out.time += request.step_time * steps;
    return out;
}

FailureProcess failure_process(const WholeTrainingRequest& request)
{
    const FailureModel& model = request.failures;
    FailureProcess out;
    out.steps = count_steps(request).time;
    out.stragglers = out.steps * request.stragglers;
    out.evaluation = out.steps * request.evaluation;
    out.checkpoint = checkpoint_cost(request);
    out.hardware_rate =
        rate_of(model.mtbf_per_gpu, request.gpus) + rate_of(model.mtbf_per_node, request.nodes());
    const double spot = rate_of(model.spot_mtbf_per_node, request.nodes());
    (model.spot_notice < out.checkpoint.write ? out.sudden_rate : out.warned_rate) = spot;
    out.replaced = model.replaced;
    out.detection = model.detection;
    out.restart = model.restart;
    out.repair = model.repair;
    out.spot_return = model.spot_return;
    out.spare_nodes = model.spare_nodes.value_or(0);
    return out;
}

FailureProcess with_interval(FailureProcess process, Seconds interval)
{
    const double parts = std::ceil(process.work() / interval * (1 - 1e-12));
    process.segments = static_cast<std::int64_t>(std::clamp(parts, 1.0, 1e15));
    return process;
}

} // namespace trainyard

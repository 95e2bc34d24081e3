#include "tests/unit/strategy/pipelines.h"

#include "tests/catch.h"
#include "tests/support/flaws.h"

#include <algorithm>

namespace trainyard::testing {

namespace {

using namespace trainyard::literals;

Kernel product(const char* name, bool for_weights)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.name = name;
    kernel.gemm = {64, 64, 64, 1};
    kernel.for_weights = for_weights;
    return kernel;
}

Seconds time_of(const ComputeRequest& request, const PassTimes& times)
{
    if (request.phase == Phase::forward)
        return times.forward;
    Seconds sum(0);
    if (request.phase == Phase::backward)
        for (const WorkItem& item : request.kernels)
            sum += std::get<Kernel>(item).for_weights ? times.weights : times.input;
    return sum;
}

} // namespace

std::vector<std::vector<Pass>> passes_of(const Pipeline& pipeline)
{
    const PipelineSchedule* schedule = find_schedule(pipeline.schedule);
    REQUIRE(schedule != nullptr);
    REQUIRE(schedule->refusal(pipeline.shape) == "");
    std::vector<std::vector<Pass>> passes;
    for (int stage = 0; stage < pipeline.shape.stages; ++stage)
        passes.push_back(schedule->passes(pipeline.shape, stage));
    return passes;
}

JobWork equal_stages(const Pipeline& pipeline)
{
    KindOfLayer kind;
    kind.work.forward = {product("mlp", false)};
    kind.work.backward = {product("mlp_input", false), product("mlp_weights", true)};
    kind.work.output = 1_MiB;
    kind.work.tensors = {{.name = "kept", .bytes = 1 << 20}};
    kind.held.splits = true;
    JobWork work;
    work.kinds = {kind};
    work.stages.assign(static_cast<std::size_t>(pipeline.shape.stages * pipeline.shape.chunks),
                       {0});
    return work;
}

Job job_of(const Pipeline& pipeline)
{
    Strategy strategy;
    strategy.pp = pipeline.shape.stages;
    strategy.vpp = pipeline.shape.chunks;
    strategy.schedule = pipeline.schedule;
    strategy.overlap.pp = pipeline.overlap;
    strategy.pipeline.norm_in_turn = pipeline.norm_in_turn;
    if (pipeline.shape.group > 0) // of interleaved-1f1b
        strategy.pipeline.micro_batch_group = pipeline.shape.group;
    Model model = small_decoder();
    std::get<Transformer>(model.architecture).layers =
        pipeline.shape.stages * pipeline.shape.chunks;
    return job_of(model, strategy, training_of(pipeline.shape.micro_batches));
}

BoundPipeline bound(const Pipeline& pipeline, const PassTimes& times)
{
    const Job job = job_of(pipeline);
    const Plan plan = lower(job, equal_stages(pipeline));
    const ToyCosts costs{[&](const ComputeRequest& request) { return time_of(request, times); },
                         [&](const TransferRequest& request) {
                             return request.kind == CollectiveKind::send_receive ? times.message
                                                                                 : Seconds(0);
                         },
                         Seconds(0)};
    Binding binding = with_costs(bind(plan, job, h100_nodes(4), h100_costs(), {}), plan, costs);
    REQUIRE(flaws(plan.program) == std::vector<std::string>{});
    REQUIRE(flaws(plan.program, binding) == std::vector<std::string>{});
    return {plan.program, std::move(binding)};
}

PipelineRun run(const Pipeline& pipeline, const PassTimes& times, int steps)
{
    const BoundPipeline job = bound(pipeline, times);
    RunControl control;
    control.steps = steps;
    control.record.lane = [](LaneId) { return true; };
    control.record.first_step = static_cast<std::uint16_t>(steps - 1);
    const Checked<StepResult> result = run_reference(job.program, job.binding, control);
    if (!result)
        FAIL(render(result.error(), ""));
    return {*result, job.program};
}

Seconds bubble(const Pipeline& pipeline, const PassTimes& times)
{
    const PipelineShape& shape = pipeline.shape;
    const Seconds work = (times.forward + times.input + times.weights) *
                         static_cast<double>(shape.micro_batches * shape.chunks);
    return to_seconds(run(pipeline, times).result.step_time) - work;
}

int most_in_flight(const std::vector<Pass>& passes)
{
    int now = 0;
    int most = 0;
    for (const Pass& pass : passes) {
        now += pass.kind == PassKind::forward ? 1 : 0;
        most = std::max(most, now);
        now -= completes_gradients(pass.kind) ? 1 : 0;
    }
    return most;
}

} // namespace trainyard::testing

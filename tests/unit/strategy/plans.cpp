#include "tests/unit/strategy/plans.h"

#include "sim/cost/profile_library.h"
#include "tests/catch.h"
#include "tests/support/cluster_text.h"
#include "tests/support/flaws.h"

namespace trainyard::testing {

Model small_decoder()
{
    Transformer t;
    t.hidden = 1024;
    t.layers = 8;
    t.heads = 8;
    t.kv_heads = 8;
    t.head_dim = 128;
    t.ffn = 4096;
    t.vocabulary = 8192;
    return {"small decoder", t};
}

Model small_mixture()
{
    Model model = small_decoder();
    model.name = "small mixture";
    std::get<Transformer>(model.architecture).moe =
        MixtureOfExperts{.experts = 8, .experts_per_token = 2, .expert_ffn = 2048};
    return model;
}

Training training_of(std::int64_t global_batch)
{
    Training training;
    training.sequence_length = 1024;
    training.global_batch = global_batch;
    return training;
}

Job job_of(const Model& model, const Strategy& strategy, const Training& training,
           const SoftwareClass& software)
{
    JobRequest request;
    request.model = model;
    request.strategy = strategy;
    request.training = training;
    request.software = software;
    request.devices = strategy.tp * strategy.cp * strategy.pp * strategy.dp.value_or(1);
    request.strategy.dp = strategy.dp.value_or(1);
    const Checked<Job> job = resolve(request);
    if (!job)
        FAIL(render(job.error(), ""));
    return *job;
}

Topology h100_nodes(int nodes)
{
    const std::string text =
        R"({"format": "trainyard.topology/1", "generator": "cluster", "nodes": )" +
        std::to_string(nodes) +
        R"(, "node": "dgx-h100", "fabric": {"kind": "rail", "network": "ib_ndr"}})";
    return testing::topology_of(text);
}

const CostModel& h100_costs()
{
    static const CostModel costs(load_profile("h100-sxm-ndr400").value().profile);
    return costs;
}

StepResult run(const Program& program, const Binding& binding, int steps, Fidelity fidelity)
{
    REQUIRE(flaws(program) == std::vector<std::string>{});
    REQUIRE(flaws(program, binding) == std::vector<std::string>{});
    RunControl control;
    control.steps = steps;
    control.fidelity = fidelity;
    const Checked<StepResult> result = run_reference(program, binding, control);
    if (!result)
        FAIL(render(result.error(), ""));
    return *result;
}

Seconds step_time(const Job& job)
{
    const Plan plan = make_plan(job);
    const Binding bound = bind(plan, job, h100_nodes(1), h100_costs(), {});
    return to_seconds(run(plan.program, bound).step_time);
}

LayerParameters stage_parameters(const Job& job, int stage)
{
    LayerParameters sum;
    const JobWork work = job_work(job);
    for (const PlacedLayer& layer : layers_of_stage(work, placement_of(job), stage)) {
        sum.dense += work.kinds[layer.kind].held.parameters.dense;
        sum.expert += work.kinds[layer.kind].held.parameters.expert;
    }
    return sum;
}

void for_each_op(const Program& program, const Role& role,
                 const std::function<void(const Block&, const Op&, const BlockUse&)>& visit)
{
    for (const BlockUse& use : role.order) {
        const Block& block = program.blocks[use.block.value];
        for (const Op& op : block.ops)
            visit(block, op, use);
    }
}

Volume volume(const Plan& plan, int stage, CollectiveKind kind, GroupKind group)
{
    double count = 0;
    Volume sum;
    for_each_op(plan.program, plan.program.roles[static_cast<std::size_t>(stage)],
                [&](const Block&, const Op& op, const BlockUse&) {
                    const Label& label = plan.program.labels[op.label.value];
                    if (op.kind != OpKind::collective || label.collective != kind ||
                        label.group != group)
                        return;
                    const TransferRequest& request = plan.transfers[op.cost.value];
                    const double share = std::min(request.share, 1.0); // of its bytes
                    count += share;
                    sum.bytes += static_cast<double>(request.bytes.value()) * share;
                });
    sum.count = static_cast<int>(count + 0.5);
    return sum;
}

Binding with_costs(Binding binding, const Plan& plan, const ToyCosts& costs)
{
    for (std::size_t i = 0; i < plan.compute.size(); ++i)
        binding.costs.compute[i] = to_sim_time(costs.compute(plan.compute[i]));
    for (auto& variant : binding.costs.transfers)
        for (std::size_t i = 0; i < plan.transfers.size(); ++i) {
            const Bytes bytes = variant[i].bytes;
            variant[i] = TransferCost{};
            variant[i].bytes = bytes;
            if (costs.transfer)
                variant[i].latency =
                    to_sim_time(costs.transfer(plan.transfers[i]) * plan.transfers[i].share);
        }
    binding.costs.host_per_kernel.fill(to_sim_time(costs.host_per_kernel));
    return binding;
}

std::function<Seconds(const ComputeRequest&)> phase_costs(Seconds forward, Seconds backward)
{
    return [=](const ComputeRequest& request) {
        return request.phase == Phase::forward    ? forward
               : request.phase == Phase::backward ? backward
                                                  : Seconds(0);
    };
}

} // namespace trainyard::testing

#include "sim/report/flops.h"

#include "sim/workload/parameters.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

// Muon's products are no part of the passes, and their format need not be that of the passes.
bool counts(const ComputeRequest& request)
{
    return request.phase != Phase::optimizer;
}

// What a rank of uneven experts does on average, of what the fullest does.
double mean_of_fullest(const Job& job)
{
    const int ranks = job.strategy.ep;
    const std::vector<double> loads = expert_loads(job.strategy.experts, ranks);
    return kept_share(job.strategy.experts, ranks) / *std::ranges::max_element(loads);
}

double flops_of(const ComputeRequest& request, double mean_of_fullest)
{
    double sum = 0;
    for (const WorkItem& item : request.kernels)
        if (const auto* kernel = std::get_if<Kernel>(&item))
            sum += hardware_flops(*kernel).value() * (kernel->uneven ? mean_of_fullest : 1);
    return sum;
}

// Flops of one run of each block, mean of its ranks.
std::vector<double> flops_of_blocks(const Job& job, const Plan& plan)
{
    const double mean = mean_of_fullest(job);
    std::vector<double> by_cost(plan.compute.size());
    for (std::size_t i = 0; i < plan.compute.size(); ++i)
        if (counts(plan.compute[i]))
            by_cost[i] = flops_of(plan.compute[i], mean);
    std::vector<double> by_block;
    for (const Block& block : plan.program.blocks) {
        double sum = 0;
        for (const Op& op : block.ops)
            if (op.kind == OpKind::compute)
                sum += by_cost[op.cost.value];
        by_block.push_back(sum);
    }
    return by_block;
}

// How often all roles together run each compute request.
std::vector<double> uses_of_costs(const Plan& plan)
{
    std::vector<double> by_block(plan.program.blocks.size());
    for (const Role& role : plan.program.roles)
        for (const BlockUse& use : role.order)
            by_block[use.block.value] += 1;
    std::vector<double> by_cost(plan.compute.size());
    for (std::size_t b = 0; b < by_block.size(); ++b)
        for (const Op& op : plan.program.blocks[b].ops)
            if (op.kind == OpKind::compute)
                by_cost[op.cost.value] += by_block[b];
    return by_cost;
}

} // namespace

Flops model_flops_per_step(const Job& job)
{
    const Training& training = job.training;
    const std::vector<std::int64_t> documents = partition_of(job).documents;
    const double kept = kept_share(job.strategy.experts, job.strategy.ep);
    const Flops sequence =
        training.lora
            ? adapter_flops_per_sequence(job.model, *training.lora, training.sequence_length,
                                         documents, kept)
            : model_flops_per_sequence(job.model, training.sequence_length, documents, kept);
    return sequence * static_cast<double>(training.global_batch);
}

Flops hardware_flops_per_step(const Job& job, const Plan& plan, const Binding& binding)
{
    const std::vector<double> by_block = flops_of_blocks(job, plan);
    std::vector<double> by_role;
    for (const Role& role : plan.program.roles) {
        double sum = 0;
        for (const BlockUse& use : role.order)
            sum += by_block[use.block.value];
        by_role.push_back(sum);
    }
    double sum = 0;
    for (const Lane& lane : binding.lanes)
        sum += by_role[lane.role.value] * lane.multiplicity;
    return Flops(sum);
}

Precision main_precision(const Plan& plan, Precision otherwise)
{
    const std::vector<double> uses = uses_of_costs(plan);
    std::map<Precision, double> flops;
    for (std::size_t i = 0; i < plan.compute.size(); ++i)
        for (const WorkItem& item : plan.compute[i].kernels)
            if (const auto* kernel = std::get_if<Kernel>(&item))
                if (kernel->kind == KernelKind::gemm && counts(plan.compute[i]))
                    flops[kernel->precision] += uses[i] * hardware_flops(*kernel).value();
    const auto most =
        std::max_element(flops.begin(), flops.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == flops.end() ? otherwise : most->first;
}

double flops_utilization(Flops work, Seconds step, FlopRate peak, int gpus)
{
    const double could = step.value() * peak.value() * gpus;
    return could > 0 ? work.value() / could : 0.0;
}

} // namespace trainyard

#include "sim/report/flops.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

// Flops of one run of each block.
std::vector<double> flops_of_blocks(const Plan& plan)
{
    std::vector<double> by_cost(plan.compute.size());
    for (std::size_t i = 0; i < plan.compute.size(); ++i)
        by_cost[i] = hardware_flops(plan.compute[i].kernels).value();
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

} // namespace

Flops model_flops_per_step(const Job& job)
{
    return model_flops_per_sequence(job.model, job.training.sequence_length) *
           static_cast<double>(job.training.global_batch);
}

Flops hardware_flops_per_step(const Plan& plan, const Binding& binding)
{
    const std::vector<double> by_block = flops_of_blocks(plan);
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
    std::map<Precision, double> flops;
    for (const ComputeRequest& request : plan.compute)
        for (const WorkItem& item : request.kernels)
            if (const auto* kernel = std::get_if<Kernel>(&item))
                if (kernel->kind == KernelKind::gemm)
                    flops[kernel->precision] += hardware_flops(*kernel).value();
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

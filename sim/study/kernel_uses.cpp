#include "sim/study/kernel_uses.h"

#include <map>

namespace trainyard {
namespace {

// How often one role's step asks for each cost, on ops with each scale.
using CostUses = std::map<std::pair<CostId, ScaleSlot>, std::uint64_t>;

CostUses cost_uses(const Program& program, const Role& role)
{
    std::vector<std::uint64_t> by_block(program.blocks.size());
    for (const BlockUse& use : role.order)
        ++by_block[use.block.value];
    CostUses uses;
    for (std::size_t b = 0; b < by_block.size(); ++b)
        if (by_block[b] > 0)
            for (const Op& op : program.blocks[b].ops)
                if (op.kind == OpKind::compute)
                    uses[{op.cost, op.scale}] += by_block[b];
    return uses;
}

} // namespace

void for_each_kernel(const Outcome& outcome, LaneId lane,
                     const std::function<void(const KernelUses&)>& visit)
{
    const Lane& at = outcome.binding->lanes[lane.value];
    const Program& program = outcome.plan->program;
    for (const auto& [what, count] : cost_uses(program, program.roles[at.role.value])) {
        const auto& [cost, scale] = what;
        const ComputeRequest& request = outcome.plan->compute[cost.value];
        const double slower =
            scale.valid() ? static_cast<double>(at.scales[scale.value]) / full_share : 1.0;
        const Seconds time = to_seconds(outcome.binding->costs.compute[cost.value]) *
                             (slower * static_cast<double>(count));
        const Seconds alone = outcome.cost->kernel_time(request.kernels);
        bool any = false;
        for (const WorkItem& item : request.kernels)
            if (const auto* kernel = std::get_if<Kernel>(&item); kernel != nullptr) {
                any = true;
                const double share =
                    alone.value() > 0 ? outcome.cost->kernel_time(*kernel) / alone : 0;
                visit({kernel, request.phase, count, time * share});
            }
        if (!any && time.value() > 0)
            visit({nullptr, request.phase, count, time});
    }
}

} // namespace trainyard

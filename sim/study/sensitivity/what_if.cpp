#include "sim/study/sensitivity/what_if.h"

#include "sim/base/parallel.h"
#include "sim/study/run_setup.h"

#include <algorithm>
#include <cmath>
#include <mutex>

namespace trainyard {
namespace {

double factor_of(LinkKind kind, const LinkFactors& links)
{
    switch (kind) {
    case LinkKind::nvlink:
        return links.nvlink;
    case LinkKind::pcie:
        return links.pcie;
    case LinkKind::nic:
        return links.network;
    case LinkKind::leaf_up:
    case LinkKind::leaf_down:
    case LinkKind::spine_up:
    case LinkKind::spine_down:
        return links.network * links.fabric;
    case LinkKind::c2c:
    case LinkKind::other:
        break;
    }
    return 1;
}

// Where transfers share links, these are as much wider as the costs took them for.
void widen(Binding& binding, const Topology& topology, const LinkFactors& links)
{
    if (links == LinkFactors{})
        return;
    for (std::size_t i = 0; i < binding.links.size(); ++i) {
        const double factor = factor_of(topology.link(make_id<LinkId>(i)).kind, links);
        binding.links[i] = ByteRate(static_cast<std::uint64_t>(
            std::llround(static_cast<double>(binding.links[i].value()) * factor)));
    }
}

BoundStep bound_with(const Outcome& outcome, const Improvement& improvement)
{
    BoundStep step{outcome.plan->program, *outcome.binding};
    if (improvement.inputs) {
        BindInputs inputs{
            outcome.job, outcome.cost->profile(), outcome.topology, {}, outcome.bound};
        improvement.inputs(inputs);
        const CostModel cost(std::move(inputs.profile), outcome.cost->nccl_settings(),
                             inputs.links);
        step.binding = bind(*outcome.plan, inputs.job, *inputs.topology, cost, inputs.options);
        widen(step.binding, *inputs.topology, inputs.links);
    }
    if (improvement.step)
        improvement.step(step);
    return step;
}

// The step with it; nothing when the job does not use the resource.
Checked<std::optional<Seconds>> step_with(const Outcome& outcome, const Improvement& improvement,
                                          const CancelFlag* cancel)
{
    const BoundStep step = bound_with(outcome, improvement);
    if (step.binding == *outcome.binding && step.program == outcome.plan->program)
        return improvement.used ? std::optional(to_seconds(outcome.result->step_time))
                                : std::nullopt;
    const Checked<Run> made =
        run(step.program, step.binding, run_control(outcome.scenario, {cancel, {}}));
    if (!made)
        return tl::unexpected(made.error());
    return to_seconds(made->result.step_time);
}

} // namespace

Checked<std::vector<WhatIf>> what_if(const Outcome& outcome,
                                     std::span<const Improvement> improvements,
                                     const WhatIfOptions& options)
{
    std::vector<Checked<std::optional<Seconds>>> steps(improvements.size(), std::nullopt);
    std::mutex mutex;
    std::size_t done = 0;
    const int threads = options.threads > 0 ? options.threads : usable_threads();
    for_each_index(improvements.size(), threads, [&](std::size_t i) {
        options.work.check();
        steps[i] = step_with(outcome, improvements[i], options.work.cancel);
        const std::lock_guard lock(mutex);
        options.work.report("what if", static_cast<double>(++done),
                            static_cast<double>(improvements.size()));
    });
    const Seconds base = to_seconds(outcome.result->step_time);
    std::vector<WhatIf> rows;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!steps[i])
            return tl::unexpected(steps[i].error());
        if (const std::optional<Seconds> step = *steps[i]; step && base.value() > 0)
            rows.push_back(
                {improvements[i].resource, improvements[i].change, *step, 1 - *step / base});
    }
    std::ranges::stable_sort(rows, std::ranges::greater{}, &WhatIf::gain);
    return rows;
}

Checked<std::vector<WhatIf>> what_if(const Outcome& outcome, const WhatIfOptions& options)
{
    return what_if(outcome, improvements_for(outcome), options);
}

} // namespace trainyard

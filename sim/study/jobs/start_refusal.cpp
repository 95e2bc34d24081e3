#include "sim/study/jobs/start_refusal.h"

#include "sim/base/units.h"
#include "sim/study/jobs/layout_text.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

Problems problem(std::string message, std::string hint)
{
    return {{"", 0, "", std::move(message), std::move(hint), Severity::error}};
}

Problems batch_problem(const LayoutFacts& facts, const LayoutSpace& space)
{
    return problem(fmt::format("a global batch of {} divides over none of the layouts of {} GPUs",
                               facts.global_batch, facts.gpus),
                   fmt::format("data-parallel sizes are {}; nearest batches that divide: {}",
                               listed(space.replicas),
                               nearest_batches(facts.global_batch, space.replicas)));
}

Problems memory_problem(const StartRequest& request, const LayoutFacts& facts,
                        const LayoutSpace& space, const LayoutTrials& trials)
{
    const std::optional<LayoutTrial>& leanest = trials.leanest();
    std::string hint =
        leanest
            ? fmt::format("the leanest of {} layouts ({}) needs {} of {} on the fullest device",
                          space.layouts, described(leanest->scenario),
                          to_display(leanest->memory.peak()), to_display(leanest->memory.capacity))
            : fmt::format("parameters, gradients and optimizer alone take {} of {} per device "
                          "in the leanest layout",
                          to_display(space.least_states), to_display(facts.device.memory));
    hint += ": more GPUs, larger ones or shorter sequences";
    if (request.global_batch && space.batch_divides_not > 0)
        hint += fmt::format("; a batch other than {} would allow {} more divisions",
                            facts.global_batch, space.batch_divides_not);
    return problem(fmt::format("{} does not fit on {} x {}",
                               facts.model.name.empty() ? "the model" : facts.model.name,
                               facts.gpus, facts.device.name),
                   std::move(hint));
}

} // namespace

StartRefusal start_refusal(const StartRequest& request, const LayoutFacts& facts,
                           const LayoutSpace& space, const LayoutTrials& trials)
{
    if (!trials.leanest() && space.layouts > 0)
        return {trials.problems(), false};
    if (!trials.leanest() && space.too_large == 0)
        return {batch_problem(facts, space), false};
    return {memory_problem(request, facts, space, trials), true};
}

} // namespace trainyard

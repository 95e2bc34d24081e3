#include "sim/study/jobs/start_refusal.h"

#include "sim/base/units.h"
#include "sim/strategy/misfits.h"
#include "sim/study/jobs/layout_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

Problems problem(std::string message, std::string hint)
{
    return {{"", 0, "", std::move(message), std::move(hint), Severity::error}};
}

// Whether every layout that the batch alone leaves out would make too many micro-batches of it.
bool makes_too_many(const LayoutFacts& facts, const LayoutSpace& space)
{
    return std::ranges::all_of(space.undivided, [&](const Layout& layout) {
        return facts.global_batch % *layout.strategy.dp == 0;
    });
}

Problems batch_problem(const LayoutFacts& facts, const LayoutSpace& space,
                       const std::vector<std::int64_t>& batches)
{
    return problem(
        makes_too_many(facts, space)
            ? fmt::format("a global batch of {} makes more than {} micro-batches in every layout "
                          "that fits on {} GPUs",
                          facts.global_batch, most_micro_batches, facts.gpus)
            : fmt::format("a global batch of {} divides over none of the layouts that fit on {} "
                          "GPUs",
                          facts.global_batch, facts.gpus),
        fmt::format("nearest {}: {}",
                    batches.size() == 1 ? "batch that works" : "batches that work",
                    fmt::join(batches, " or ")));
}

Problems memory_problem(const LayoutFacts& facts, const LayoutSpace& space,
                        const LayoutTrials& trials)
{
    const std::optional<WeighedScenario>& leanest = trials.leanest();
    std::string hint =
        leanest
            ? fmt::format("the leanest of {} layouts ({}) needs {} of {} on the fullest device",
                          space.layouts + std::ssize(space.undivided), described(leanest->scenario),
                          to_display(leanest->memory.peak()), to_display(leanest->memory.capacity))
            : fmt::format("parameters, gradients and optimizer alone take {} of {} per device "
                          "in the leanest layout",
                          to_display(space.least_states), to_display(facts.device.memory));
    hint += ": more GPUs, larger ones or shorter sequences";
    return problem(fmt::format("{} does not fit on {} x {}",
                               facts.model.name.empty() ? "the model" : facts.model.name,
                               facts.gpus, facts.device.name),
                   std::move(hint));
}

} // namespace

StartRefusal start_refusal(const LayoutFacts& facts, const LayoutSpace& space,
                           const LayoutTrials& trials, const std::vector<std::int64_t>& batches)
{
    if (!batches.empty())
        return {batch_problem(facts, space, batches), false};
    if (!trials.leanest() && !trials.problems().empty())
        return {trials.problems(), false};
    return {memory_problem(facts, space, trials), true};
}

} // namespace trainyard

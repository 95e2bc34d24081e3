// How many GPUs the degrees of a strategy and the batch ask for.

#include "sim/study/jobs/job_degrees.h"

#include "sim/base/words.h"
#include "sim/study/jobs/job_context.h"

#include <numeric>

namespace trainyard {
namespace {

constexpr std::int64_t most_gpus = 1'000'000;

// "tp 8 x pp 16", sizes of 1 left out.
std::string degrees_text(const Strategy& strategy)
{
    std::string out;
    const auto add = [&out](std::string_view name, std::int64_t size) {
        if (size > 1)
            out += fmt::format("{}{} {}", out.empty() ? "" : " x ", name, size);
    };
    add("tp", strategy.tp);
    add("pp", strategy.pp);
    add("cp", strategy.cp);
    return out;
}

} // namespace

int with_changes(int value, std::string_view field, const std::vector<Override>& changes)
{
    for (const Override& change : changes)
        if (change.field == field)
            value = to_number<int>(change.value).value_or(value);
    return value;
}

std::optional<ModelRanks> model_ranks(const Strategy& s, const std::vector<Override>& changes)
{
    const auto product = [](std::initializer_list<std::int64_t> sizes) {
        std::int64_t out = 1;
        for (const std::int64_t size : sizes)
            out = size < 1 || out == 0 || size > most_gpus / out ? 0 : out * size;
        return out;
    };
    const std::int64_t tp = with_changes(s.tp, "strategy.tp", changes);
    const std::int64_t pp = with_changes(s.pp, "strategy.pp", changes);
    const std::int64_t cp = with_changes(s.cp, "strategy.cp", changes);
    const std::int64_t ep = with_changes(s.ep, "strategy.ep", changes);
    const std::int64_t etp = with_changes(s.etp, "strategy.etp", changes);
    const ModelRanks out{product({tp, pp, cp}), product({ep, etp, pp})};
    return out.replica > 0 && out.experts > 0 ? std::optional(out) : std::nullopt;
}

std::optional<FittingNodes> fitting_nodes(const JobDraft& draft, int per_node, bool stated,
                                          const std::vector<Override>& changes)
{
    const Strategy& strategy = draft.scenario.strategy;
    const Training& training = draft.scenario.training;
    const std::optional<ModelRanks> ranks = model_ranks(strategy, changes);
    if (!ranks || per_node < 1)
        return std::nullopt;
    const std::int64_t copies = std::max<std::int64_t>(1, draft.size.copies);
    const std::int64_t dp = with_changes(strategy.dp.value_or(0), "strategy.dp", changes);
    const std::int64_t exact = dp > 0 ? dp : draft.size.replicas.value_or(0);
    if (copies > most_gpus / ranks->replica || exact > most_gpus / ranks->replica)
        return std::nullopt;
    const std::int64_t unit = std::lcm(ranks->replica * copies, ranks->experts);
    std::int64_t gpus = exact * ranks->replica;
    const std::string degrees = degrees_text(strategy);
    FittingNodes out;
    if (exact > 0)
        out.why = fmt::format("{}{}{} replica{}", degrees, degrees.empty() ? "" : " x ", exact,
                              exact == 1 ? "" : "s");
    else {
        gpus = std::lcm(unit, std::int64_t{per_node});
        if (gpus > per_node)
            out.why =
                fmt::format("the fewest that {} divide",
                            unit > ranks->replica ? fmt::format("the degrees ({} GPUs)", unit)
                                                  : fmt::format("{} ({} GPUs)", degrees, unit));
        const std::int64_t passes =
            draft.size.passes.value_or(training.global_batch > 0 && training.micro_batch > 0
                                           ? training.global_batch / training.micro_batch
                                           : 0);
        // Fewer GPUs where the batch has no pass for each replica.
        std::int64_t fewer = gpus;
        while (!stated && passes > 0 && fewer > unit && passes % (fewer / ranks->replica) != 0)
            fewer -= unit;
        if (fewer != gpus && passes % (fewer / ranks->replica) == 0) {
            gpus = fewer;
            out.why = fmt::format("{} passes a step divide over {} replicas", passes,
                                  gpus / ranks->replica);
        }
    }
    if (gpus > most_gpus)
        return std::nullopt;
    std::int64_t each = std::min<std::int64_t>(per_node, gpus);
    while (gpus % each != 0)
        --each;
    out.gpus_per_node = static_cast<int>(each);
    out.nodes = static_cast<int>(gpus / each);
    return out;
}

} // namespace trainyard

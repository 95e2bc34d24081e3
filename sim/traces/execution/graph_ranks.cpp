#include "sim/traces/execution/graph_ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace trainyard {
namespace {

bool states_what_goes_in(const DigestedRank& rank)
{
    return rank.activity.graph && rank.activity.graph->sizes_go_in;
}

// All ranks of the job, where nothing says that there are others; else 0.
int ranks_given(const std::vector<DigestedRank>& ranks, const std::vector<TraceGroup>& listed)
{
    std::set<int> numbers;
    for (const DigestedRank& rank : ranks)
        numbers.insert(rank.file.rank.value_or(-1));
    const auto count = static_cast<int>(numbers.size());
    const bool gap = *numbers.begin() != 0 || *numbers.rbegin() != count - 1;
    const bool others = std::any_of(listed.begin(), listed.end(), [&](const TraceGroup& group) {
        return std::any_of(group.ranks.begin(), group.ranks.end(),
                           [&](int rank) { return rank >= count; });
    });
    return gap || others || count < 2 ? 0 : count;
}

} // namespace

Checked<DigestedRank> digest(ExecutionTrace&& trace)
{
    DigestedRank out;
    out.file.file = trace.file;
    out.file.rank = trace.rank;
    out.file.world = trace.world;
    out.file.groups = trace.groups;
    out.file.events = trace.nodes.size();
    Checked<RankActivity> activity = activity_of(std::move(trace));
    if (!activity)
        return tl::unexpected(std::move(activity.error()));
    out.activity = std::move(*activity);
    return out;
}

void complete_transfers(std::vector<DigestedRank>& ranks, const std::vector<TraceGroup>& listed,
                        std::vector<std::string>& assumed)
{
    if (!std::all_of(ranks.begin(), ranks.end(), states_what_goes_in))
        return;
    const int all = ranks_given(ranks, listed);
    bool used = false;
    for (DigestedRank& rank : ranks) {
        for (TraceTransfer& transfer : rank.activity.transfers) {
            const auto group =
                std::find_if(listed.begin(), listed.end(),
                             [&](const TraceGroup& of) { return of.name == transfer.group; });
            if (group != listed.end()) {
                transfer.ranks = group->size;
                transfer.members = group->ranks;
            } else if (transfer.group == every_rank && transfer.ranks == 0) {
                transfer.ranks = all;
                used = used || all > 0;
            }
            if (transfer.kind == CollectiveKind::all_gather) {
                const auto count = static_cast<std::uint64_t>(transfer.ranks);
                const bool fits = count > 0 && transfer.bytes <= ~std::uint64_t{0} / count;
                transfer.bytes = fits ? transfer.bytes * count : 0;
            }
        }
        if (all > 0 && !rank.file.world)
            rank.file.world = all;
    }
    if (used)
        assumed.push_back(fmt::format("the {} files are of all ranks", all));
}

} // namespace trainyard

#include "sim/report/timeline/recorded.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace trainyard {

std::set<LaneId> first_lanes(const Binding& binding)
{
    std::set<LaneId> lanes;
    std::set<RoleId> seen;
    for (std::size_t i = 0; i < binding.lanes.size(); ++i)
        if (seen.insert(binding.lanes[i].role).second)
            lanes.insert(make_id<LaneId>(i));
    return lanes;
}

RecordRequest default_trace_lanes(const Outcome& outcome)
{
    std::set<LaneId> lanes = first_lanes(*outcome.binding);
    lanes.insert(outcome.result->critical_lane);
    const std::size_t steps = outcome.result->step_ends.size();
    RecordRequest request;
    request.lane = [lanes = std::move(lanes)](LaneId lane) { return lanes.contains(lane); };
    request.first_step = static_cast<std::uint16_t>(steps > 0 ? steps - 1 : 0);
    return request;
}

RecordRequest picture_lanes(const Outcome& outcome, std::uint64_t most_ops)
{
    RecordRequest request = default_trace_lanes(outcome);
    if (outcome.result->ops / std::max<std::size_t>(1, outcome.result->step_ends.size()) <=
        most_ops)
        request.lane = [](LaneId) { return true; };
    return request;
}

namespace {

std::set<LaneId> dp_group_of(const Outcome& outcome, LaneId lane)
{
    const Program& program = outcome.plan->program;
    const std::vector<GroupId>& groups = outcome.binding->lanes[lane.value].groups;
    std::set<LaneId> lanes{lane};
    for (std::size_t slot = 0; slot < groups.size(); ++slot)
        if (program.groups[slot].kind == GroupKind::dp && groups[slot].valid()) {
            const auto& members = outcome.binding->groups[groups[slot].value].members;
            lanes.insert(members.begin(), members.end());
        }
    return lanes;
}

std::set<LaneId> lanes_wanted(const Outcome& outcome, const LaneChoice& choice)
{
    const Binding& binding = *outcome.binding;
    std::set<LaneId> lanes;
    if (choice.of == LanesOf::dp_group)
        lanes = dp_group_of(outcome, outcome.result->critical_lane);
    else if (choice.of == LanesOf::ranks) {
        for (const RankId rank : choice.ranks)
            if (rank.value < binding.lane_of.size())
                lanes.insert(binding.lane_of[rank.value]);
    } else
        for (std::size_t i = 0; i < binding.lanes.size(); ++i)
            lanes.insert(make_id<LaneId>(i));
    if (lanes.empty())
        lanes.insert(outcome.result->critical_lane);
    return lanes;
}

} // namespace

RecordRequest chosen_lanes(const Outcome& outcome, const LaneChoice& choice, std::uint64_t most_ops)
{
    if (choice.of == LanesOf::usual)
        return picture_lanes(outcome);
    RecordRequest request = default_trace_lanes(outcome);
    if (choice.of == LanesOf::stages)
        return request;
    const Program& program = outcome.plan->program;
    std::vector<std::uint64_t> of_role(program.roles.size());
    for (std::size_t role = 0; role < of_role.size(); ++role)
        of_role[role] = op_count(program, program.roles[role]);
    std::set<LaneId> lanes;
    std::uint64_t ops = 0;
    for (const LaneId lane : lanes_wanted(outcome, choice)) {
        ops += of_role[outcome.binding->lanes[lane.value].role.value];
        if (ops > most_ops && !lanes.empty())
            break;
        lanes.insert(lane);
    }
    request.lane = [lanes = std::move(lanes)](LaneId lane) { return lanes.contains(lane); };
    return request;
}

std::optional<std::vector<RankId>> parse_ranks(std::string_view text)
{
    constexpr std::uint32_t most = 1'000'000; // ranks of a list
    std::set<RankId> ranks;
    const auto skip = [&] {
        while (!text.empty() && text.front() == ' ')
            text.remove_prefix(1);
    };
    const auto number = [&]() -> std::optional<std::uint32_t> {
        skip();
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc())
            return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        skip();
        return value;
    };
    for (;;) {
        const std::optional<std::uint32_t> first = number();
        std::optional<std::uint32_t> last = first;
        if (first && !text.empty() && text.front() == '-') {
            text.remove_prefix(1);
            last = number();
        }
        if (!last || *last < *first || *last - *first >= most)
            return std::nullopt;
        for (std::uint32_t rank = *first; rank <= *last; ++rank)
            ranks.insert(RankId{rank});
        if (text.empty())
            return std::vector<RankId>(ranks.begin(), ranks.end());
        if (text.front() != ',')
            return std::nullopt;
        text.remove_prefix(1);
    }
}

std::uint64_t ops_in_step(const Program& program, const Binding& binding,
                          const std::function<bool(LaneId)>& lanes)
{
    std::vector<std::uint64_t> of_role(program.roles.size(), 0);
    for (std::size_t role = 0; role < of_role.size(); ++role)
        of_role[role] = op_count(program, program.roles[role]);
    std::uint64_t ops = 0;
    for (std::size_t lane = 0; lane < binding.lanes.size(); ++lane)
        if (lanes(make_id<LaneId>(lane)))
            ops += of_role[binding.lanes[lane].role.value];
    return ops;
}

std::vector<RankId> representative_ranks(const Outcome& outcome, std::size_t most_ops)
{
    std::map<LaneId, std::size_t> ops;
    for (const OpRecord& record : outcome.result->records)
        if (record.stream != host_stream)
            ++ops[record.lane];
    std::vector<LaneId> order;
    if (ops.contains(outcome.result->critical_lane))
        order.push_back(outcome.result->critical_lane);
    for (const auto& [lane, count] : ops)
        if (lane != outcome.result->critical_lane)
            order.push_back(lane);
    std::vector<RankId> ranks;
    std::size_t taken = 0;
    for (const LaneId lane : order) {
        taken += ops.at(lane);
        if (!ranks.empty() && taken > most_ops)
            break;
        ranks.push_back(outcome.binding->lanes[lane.value].rank);
    }
    return ranks;
}

} // namespace trainyard

#include "sim/report/timeline/recorded.h"

#include <algorithm>
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

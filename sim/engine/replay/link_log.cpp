#include "sim/engine/replay/link_log.h"

#include "sim/engine/flow/link_sharing.h"
#include "sim/engine/slowdown.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

constexpr std::uint32_t pattern_count = 5;

// From `at` on a link is asked for so much more, or less.
struct Change {
    Time at = 0;
    u128 load = 0;
};

void sort_by_time(std::vector<Change>& changes)
{
    const auto earlier = [](const Change& a, const Change& b) { return a.at < b.at; };
    if (!std::is_sorted(changes.begin(), changes.end(), earlier))
        std::sort(changes.begin(), changes.end(), earlier);
}

} // namespace

LinkLog::LinkLog(const Binding& binding, const LaneClasses& lane_classes, const StepCode& code)
    : binding_(binding), classes_(lane_classes), code_(code), transfer_of_(code.values.size(), none)
{
    find_collectives();
    find_messages();
}

void LinkLog::find_collectives()
{
    for (std::uint32_t m = 0; m < classes_.group_classes.size(); ++m) {
        const GroupClass& group_class = classes_.group_classes[m];
        const auto first_route = static_cast<std::uint32_t>(routes_.size());
        for (const std::uint32_t group : group_class.groups)
            for (std::uint32_t p = 0; p < pattern_count; ++p)
                routes_.push_back(
                    {binding_.groups[group].uses(static_cast<TrafficPattern>(p)), {}});
        // The ops of each ordinal, by member class.
        std::vector<const FlatOp*> ops(std::size_t{group_class.per_step} *
                                       group_class.classes.size());
        std::vector<Value> ends(group_class.per_step, none); // of the first member class
        for (std::size_t s = 0; s < group_class.classes.size(); ++s) {
            const LaneClass& lane_class = classes_.all[group_class.classes[s].lane_class];
            for (std::uint32_t o = 0; o < lane_class.kind->ops.size(); ++o) {
                const FlatOp& op = lane_class.kind->ops[o];
                if (op.kind != OpKind::collective ||
                    lane_class.group_classes[op.group.value] != m ||
                    lane_class.first_slots[op.group.value] != group_class.classes[s].slot)
                    continue;
                ops[op.ordinal * group_class.classes.size() + s] = &op;
                if (s == 0)
                    ends[op.ordinal] = code_.ops[group_class.classes[0].lane_class][o].end;
            }
        }
        for (std::uint32_t ordinal = 0; ordinal < group_class.per_step; ++ordinal) {
            transfer_of_[ends[ordinal]] = static_cast<std::uint32_t>(transfers_.size());
            const std::span of_ordinal(ops.data() + ordinal * group_class.classes.size(),
                                       group_class.classes.size());
            transfers_.push_back({m, first_route, &loads_of(m, of_ordinal)});
        }
    }
}

void LinkLog::find_messages()
{
    for (std::uint32_t c = 0; c < classes_.all.size(); ++c) {
        const LaneClass& lane_class = classes_.all[c];
        std::map<PeerSlot, std::uint32_t> first_routes;
        for (const FlatOp& op : lane_class.kind->ops)
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p) {
                const PartPlan& part = lane_class.kind->parts[p];
                if (part.direction != Direction::send)
                    continue;
                const auto [found, added] =
                    first_routes.try_emplace(part.peer, static_cast<std::uint32_t>(routes_.size()));
                if (added)
                    for (const std::uint32_t lane : lane_class.lanes)
                        routes_.push_back({binding_.lanes[lane].peers[part.peer.value].links, {}});
                transfer_of_[code_.parts[c][p].end] = static_cast<std::uint32_t>(transfers_.size());
                transfers_.push_back({none, found->second, &loads_of(c, op, part)});
            }
    }
}

std::size_t LinkLog::size_of_step() const
{
    std::size_t moves = 0;
    for (const Transfer& transfer : transfers_)
        moves += transfer.loads->size();
    return moves * sizeof(Move);
}

// The loads by group of the group class. The scale of a collective is the greatest of its members.
const std::vector<LinkLog::Load>& LinkLog::loads_of(std::uint32_t m,
                                                    std::span<const FlatOp* const> ops)
{
    const GroupClass& group_class = classes_.group_classes[m];
    std::vector<std::uint32_t> key{0, m};
    for (const FlatOp* op : ops)
        key.insert(key.end(), {op->cost.value, op->scale.value});
    const auto [found, added] = loads_.try_emplace(std::move(key));
    if (!added)
        return found->second;
    for (std::size_t g = 0; g < group_class.groups.size(); ++g) {
        std::uint32_t scale = 0;
        for (std::uint32_t i = group_class.first[g]; i < group_class.first[g + 1]; ++i) {
            const Member& member = group_class.members[i];
            const LaneClass& lane_class =
                classes_.all[group_class.classes[member.member_class].lane_class];
            scale = std::max(scale, scale_on(binding_.lanes[lane_class.lanes[member.index]],
                                             ops[member.member_class]->scale));
        }
        const std::uint32_t variant = binding_.groups[group_class.groups[g]].variant;
        const TransferCost& cost = binding_.costs.transfers[variant][ops[0]->cost.value];
        found->second.push_back(
            {scaled_work(cost, scale), cost.ceiling, cost.latency.value(), cost.pattern});
    }
    return found->second;
}

// The loads by lane of the sender's lane class.
const std::vector<LinkLog::Load>& LinkLog::loads_of(std::uint32_t c, const FlatOp& op,
                                                    const PartPlan& part)
{
    const auto [found, added] =
        loads_.try_emplace({1, c, part.peer.value, part.cost.value, op.scale.value});
    if (!added)
        return found->second;
    for (const std::uint32_t l : classes_.all[c].lanes) {
        const Lane& lane = binding_.lanes[l];
        const std::uint32_t variant = lane.peers[part.peer.value].variant;
        const TransferCost& cost = binding_.costs.transfers[variant][part.cost.value];
        found->second.push_back({scaled_work(cost, scale_on(lane, op.scale)), cost.ceiling,
                                 cost.latency.value(), cost.pattern});
    }
    return found->second;
}

void LinkLog::note(Interpreter& interpreter, const Instr& instr)
{
    if (instr.write_count == 0)
        return;
    const auto written = [&](std::uint32_t w) { return instr.write_first + w; };
    const bool eager = instr.opcode == Instr::Opcode::eager_send;
    const Value first_end = written(eager ? 0 : std::min(1U, instr.write_count - 1));
    if (transfer_of_[first_end] == none)
        return;
    const Transfer& transfer = transfers_[transfer_of_[first_end]];
    if (transfer.group_class == none) {
        const Time* begin = interpreter.column(eager ? code_.reads[instr.read_first] : written(0));
        const Time* end = interpreter.column(first_end);
        for (std::uint32_t i = 0; i < transfer.loads->size(); ++i)
            add(transfer.route_first + i, (*transfer.loads)[i], begin[i], end[i]);
        return;
    }
    const GroupClass& group_class = classes_.group_classes[transfer.group_class];
    for (std::uint32_t g = 0; g < group_class.groups.size(); ++g) {
        const Member& member = group_class.members[group_class.first[g]];
        const Load& load = (*transfer.loads)[g];
        const auto pattern = static_cast<std::uint32_t>(load.pattern);
        add(transfer.route_first + pattern_count * g + pattern, load,
            interpreter.column(written(2 * member.member_class))[member.index],
            interpreter.column(written(2 * member.member_class + 1))[member.index]);
    }
}

void LinkLog::add(std::uint32_t route, const Load& load, Time begin, Time end)
{
    if (load.work.value == 0 || routes_[route].links.empty())
        return;
    routes_[route].moves.push_back({begin + load.latency, end, &load});
}

std::map<LinkLog::Users, std::vector<LinkId>> LinkLog::links_by_users() const
{
    std::vector<Users> users(binding_.links.size());
    for (std::uint32_t r = 0; r < routes_.size(); ++r)
        if (!routes_[r].moves.empty())
            for (const LinkUse& use : routes_[r].links)
                users[use.link.value].emplace_back(r, use.coefficient);
    std::map<Users, std::vector<LinkId>> links;
    for (std::size_t l = 0; l < users.size(); ++l)
        links[std::move(users[l])].push_back(make_id<LinkId>(l));
    return links;
}

LinkLog::Profile LinkLog::profile(const Users& users, Time opened) const
{
    Profile result;
    std::vector<Change> more;
    std::vector<Change> less;
    for (const auto& [route, coefficient] : users)
        for (const Move& move : routes_[route].moves) {
            const u128 load = static_cast<u128>(move.load->rate.value()) * coefficient;
            more.push_back({move.from, load});
            less.push_back({move.to, load});
            if (move.to > opened)
                result.moved +=
                    coefficient * remaining_after(move.load->work, move.load->rate,
                                                  SimTime(std::max<Time>(opened - move.from, 0)))
                                      .value;
        }
    sort_by_time(more);
    sort_by_time(less);
    // What ends at an instant has left the link before others come.
    u128 load = 0;
    for (std::size_t m = 0, l = 0; l < less.size();) {
        const Time now = m < more.size() ? std::min(more[m].at, less[l].at) : less[l].at;
        if (now > opened) // it has been so until now
            result.busiest = std::max(result.busiest, load);
        for (; l < less.size() && less[l].at == now; ++l)
            load -= less[l].load;
        for (; m < more.size() && more[m].at == now; ++m)
            load += more[m].load;
        result.peak = std::max(result.peak, load);
    }
    return result;
}

std::optional<std::vector<LinkTotals>> LinkLog::totals(Time opened) const
{
    std::vector<LinkTotals> totals(binding_.links.size());
    for (const auto& [users, links] : links_by_users()) {
        const Profile of_all = profile(users, opened);
        for (const LinkId link : links) {
            const ByteRate capacity = binding_.links[link.value];
            if (of_all.peak > static_cast<u128>(capacity.value()) << 16)
                return std::nullopt;
            totals[link.value] = {.link = link,
                                  .bytes = static_cast<double>(of_all.moved) / 65536.0 * 1e-12,
                                  .busiest_share = load_share(of_all.busiest, capacity)};
        }
    }
    return totals;
}

} // namespace trainyard::engine::replay

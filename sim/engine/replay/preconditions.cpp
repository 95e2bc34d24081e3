#include "sim/engine/replay/preconditions.h"

#include "sim/engine/slowdown.h"
#include "sim/engine/totals.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

constexpr double longest_slowed = double(std::uint64_t{1} << 42); // ps: x 2^20 fits

double greatest(const TimeTable* table)
{
    return table == nullptr ? 0.0 : static_cast<double>(table->greatest);
}

double greatest_kernel(const Instr& instr)
{
    return instr.host_ends ? greatest(instr.table->kernel) : 0.0;
}

// Whether a transfer of a stream may still move two steps later, when `compute` starts. It may not
// where an op of its stream is over in the step between, or one that needs all transfers of the
// step before it.
bool may_still_move(const LaneKind& kind, const Precedence& precedence,
                    const std::vector<std::uint8_t>& slows, std::size_t transfers,
                    std::uint32_t compute)
{
    const std::uint32_t first = kind.streams[transfers].op_first;
    std::uint32_t count = kind.streams[transfers].op_count; // up to the last that slows
    while (count > 0 && slows[first + count - 1] == 0)
        --count;
    const auto between = precedence.before_at_start(compute);
    if (count == 0 || between[transfers] > 0)
        return false;
    for (std::size_t s = 0; s < kind.streams.size(); ++s)
        if (between[s] > 0 && precedence.before_at_start(kind.streams[s].op_first + between[s] -
                                                         1)[transfers] >= count)
            return false;
    return true;
}

} // namespace

std::optional<JoinsStages> find_stages(const Binding& binding, const LaneClasses& lane_classes)
{
    const auto joins = [&](std::uint32_t group) {
        return joins_stages(binding.groups[group], binding.lanes);
    };
    std::vector<std::uint8_t> of_group_class;
    for (const GroupClass& group_class : lane_classes.group_classes) {
        of_group_class.push_back(joins(group_class.groups[0]) ? 1 : 0);
        for (const std::uint32_t group : group_class.groups)
            if (joins(group) != (of_group_class.back() != 0))
                return std::nullopt;
    }
    JoinsStages stages;
    for (const LaneClass& lane_class : lane_classes.all) {
        auto& of_class = stages.emplace_back();
        for (const std::uint32_t m : lane_class.group_classes)
            of_class.push_back(m == none ? 0 : of_group_class[m]);
    }
    return stages;
}

std::optional<IsEager> find_eager(const LaneClasses& lane_classes, Tables& tables)
{
    IsEager eager;
    for (std::uint32_t c = 0; c < lane_classes.all.size(); ++c) {
        const LaneKind& kind = *lane_classes.all[c].kind;
        auto& of_class = eager.emplace_back();
        of_class.reserve(kind.parts.size());
        std::map<std::pair<PeerSlot, CostId>, bool> known;
        auto last = known.end();
        for (const PartPlan& part : kind.parts) {
            if (last != known.end() && last->first == std::pair{part.peer, part.cost}) {
                of_class.push_back(last->second ? 1 : 0);
                continue;
            }
            const auto [found, added] = known.try_emplace({part.peer, part.cost}, false);
            if (added) {
                const Variants& variants = tables.variants(c, part.peer);
                found->second = tables.cost(variants.of(0), part.cost).eager;
                for (const std::uint32_t variant : variants.each)
                    if (tables.cost(variant, part.cost).eager != found->second)
                        return std::nullopt;
            }
            last = found;
            of_class.push_back(found->second ? 1 : 0);
        }
    }
    return eager;
}

SlowsCompute find_slowing(const Binding& binding, const LaneClasses& lane_classes, Tables& tables)
{
    SlowsCompute slowing(lane_classes.all.size());
    if (!interferes(binding.costs))
        return slowing;
    const auto slows = [](const TransferLoad& load) {
        return !load.resident.zero() || !load.traffic.zero();
    };
    for (std::uint32_t c = 0; c < lane_classes.all.size(); ++c) {
        const LaneKind& kind = *lane_classes.all[c].kind;
        for (const FlatOp& op : kind.ops) {
            bool some = op.kind == OpKind::collective && slows(tables.load(c, op));
            for (std::uint32_t p = op.part_first; p < op.part_first + op.part_count; ++p)
                some |= slows(tables.load(c, kind.parts[p]));
            slowing[c].push_back(some ? 1 : 0);
        }
    }
    return slowing;
}

bool could_overflow(const LaneClasses& lane_classes, const StepCode& code, int steps,
                    double latest_start)
{
    double sum = 0;
    // A chain of ops goes through a segment of a host at most once, from its begin to one op.
    std::vector<Time> segments(code.values.size());
    for (const Instr& instr : code.instrs) {
        if (instr.base != none)
            segments[instr.base] =
                std::max({segments[instr.base], instr.constant, instr.end_constant});
        const bool slowed = instr.opcode == Instr::Opcode::compute;
        if (slowed && greatest(instr.table) >= longest_slowed)
            return true;
        const double slower = slowed ? full_share / least_share + 1 : 1;
        sum += slower * (greatest(instr.table) + greatest_kernel(instr));
    }
    for (const Time segment : segments)
        sum += static_cast<double>(segment);
    for (const LaneClass& lane_class : lane_classes.all)
        sum += static_cast<double>(lane_class.kind->host.after_last.value());
    sum *= steps;
    return sum + latest_start >= static_cast<double>(longest_sim_time.value() / 2);
}

bool steps_interfere(const LaneKind& kind, const Precedence& precedence,
                     const std::vector<std::uint8_t>& slows)
{
    for (std::size_t s = 0; s < kind.streams.size(); ++s) {
        const StreamPlan& stream = kind.streams[s];
        if (stream.kind != StreamKind::communication)
            continue;
        // Those behind the first of a stream know at least as much.
        const auto first = std::find(slows.begin() + stream.op_first,
                                     slows.begin() + stream.op_first + stream.op_count, 1);
        if (first == slows.begin() + stream.op_first + stream.op_count)
            continue;
        const auto over =
            precedence.before_at_start(static_cast<std::uint32_t>(first - slows.begin()));
        for (std::uint32_t o = 0; o < kind.ops.size(); ++o)
            if (kind.ops[o].kind == OpKind::compute && !precedence.over(over, o))
                return true;
    }
    return false;
}

bool outlasts_a_step(const LaneKind& kind, const Precedence& precedence,
                     const std::vector<std::uint8_t>& slows)
{
    for (std::size_t c = 0; c < kind.streams.size(); ++c) {
        const auto first = kind.ops.begin() + kind.streams[c].op_first;
        const auto last = first + kind.streams[c].op_count;
        // Those behind the first of a stream know at least as much.
        const auto compute =
            std::find_if(first, last, [](const FlatOp& op) { return op.kind == OpKind::compute; });
        if (compute == last)
            continue;
        const auto op = static_cast<std::uint32_t>(compute - kind.ops.begin());
        for (std::size_t s = 0; s < kind.streams.size(); ++s)
            if (s != c && kind.streams[s].kind == StreamKind::communication &&
                may_still_move(kind, precedence, slows, s, op))
                return true;
    }
    return false;
}

} // namespace trainyard::engine::replay

#include "sim/engine/replay/tables.h"

#include "sim/engine/slowdown.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

constexpr std::size_t slots = 256;            // of a kind: their ids are bytes
constexpr Time shortest_wide = Time{1} << 31; // ps: times any scale, 63 bits do for what is below

Time time_of(const TransferCost& cost, std::uint32_t scale)
{
    const Work work = scaled_work(cost, scale);
    return (work.value > 0 ? cost.latency + time_to_finish(work, cost.ceiling) : cost.latency)
        .value();
}

// One number for all lanes where all are equal.
PerLane per_lane_of(Column column)
{
    if (std::adjacent_find(column.begin(), column.end(), std::not_equal_to<>()) != column.end())
        return {0, std::move(column)};
    return {column.front(), {}};
}

} // namespace

Tables::Tables(const Program& program, const Binding& binding, const LaneClasses& lane_classes)
    : program_(program), binding_(binding), classes_(lane_classes)
{
    for (std::uint32_t c = 0; c < lane_classes.all.size(); ++c)
        find_jitters(c);
}

const std::vector<std::uint32_t>& Tables::scales(std::uint32_t lane_class, ScaleSlot slot)
{
    static const std::vector<std::uint32_t> unscaled;
    if (!slot.valid())
        return unscaled;
    scales_.resize(classes_.all.size() * slots);
    auto& known = scales_[lane_class * slots + slot.value];
    if (!known) {
        known.emplace();
        for (const std::uint32_t l : classes_.all[lane_class].lanes)
            known->push_back(binding_.lanes[l].scales[slot.value]);
    }
    return *known;
}

Variants Tables::find_variants(std::uint32_t lane_class, GroupSlot slot) const
{
    const std::uint32_t number = classes_.all[lane_class].group_classes[slot.value];
    const GroupClass& group_class = classes_.group_classes[number];
    const auto variant = [&](std::size_t g) {
        return binding_.groups[group_class.groups[g]].variant;
    };
    Variants found{.one = variant(0), .each = {}};
    bool alike = true;
    for (std::size_t g = 1; g < group_class.groups.size(); ++g)
        alike &= variant(g) == found.one;
    if (alike)
        return found;
    const MemberClass member_class{lane_class, classes_.all[lane_class].first_slots[slot.value]};
    found.each.resize(classes_.all[lane_class].lanes.size());
    for (std::size_t g = 0; g < group_class.groups.size(); ++g)
        for (std::uint32_t m = group_class.first[g]; m < group_class.first[g + 1]; ++m)
            if (group_class.classes[group_class.members[m].member_class] == member_class)
                found.each[group_class.members[m].index] = variant(g);
    return found;
}

Variants Tables::find_variants(std::uint32_t lane_class, PeerSlot slot) const
{
    const std::vector<std::uint32_t>& lanes = classes_.all[lane_class].lanes;
    const auto variant = [&](std::size_t i) {
        return binding_.lanes[lanes[i]].peers[slot.value].variant;
    };
    Variants found{.one = variant(0), .each = {}};
    for (std::size_t i = 1; i < lanes.size(); ++i) {
        if (variant(i) != found.one && found.each.empty())
            found.each.assign(lanes.size(), found.one);
        if (!found.each.empty())
            found.each[i] = variant(i);
    }
    return found;
}

const Variants& Tables::variants(std::uint32_t lane_class, GroupSlot slot)
{
    group_variants_.resize(classes_.all.size() * slots);
    std::optional<Variants>& known = group_variants_[lane_class * slots + slot.value];
    return known ? *known : known.emplace(find_variants(lane_class, slot));
}

const Variants& Tables::variants(std::uint32_t lane_class, PeerSlot slot)
{
    peer_variants_.resize(classes_.all.size() * slots);
    std::optional<Variants>& known = peer_variants_[lane_class * slots + slot.value];
    return known ? *known : known.emplace(find_variants(lane_class, slot));
}

TimeTable* Tables::keep(Column times)
{
    const Time greatest =
        times.empty() ? 0 : fastest_kernels().greatest(times.data(), times.size());
    return &tables_.emplace_back(TimeTable{std::move(times), greatest, nullptr});
}

Column Tables::durations(std::uint32_t lane_class, const FlatOp& op)
{
    const Time alone = op.duration.value();
    const std::vector<std::uint32_t>& scale = scales(lane_class, op.scale);
    if (scale.empty())
        return Column(classes_.all[lane_class].lanes.size(), alone);
    Column column(scale.size());
    if (alone < shortest_wide)
        for (std::size_t i = 0; i < column.size(); ++i)
            column[i] = alone * scale[i] >> 20;
    else
        for (std::size_t i = 0; i < column.size(); ++i)
            column[i] = span_of(static_cast<u128>(alone) * scale[i] >> 20).value();
    return column;
}

bool Tables::varies(std::uint32_t lane_class, const FlatOp& op) const
{
    return op.first_input && latest_input(lane_class) > 0;
}

Time Tables::latest_input(std::uint32_t lane_class) const
{
    Time latest = 0;
    for (const std::uint32_t l : classes_.all[lane_class].lanes)
        for (const SimTime late : binding_.lanes[l].late_input)
            latest = std::max(latest, late.value());
    return latest;
}

void Tables::begin_step(std::uint32_t step)
{
    step_ = step;
    for (const LateInput& input : late_inputs_)
        for (std::size_t i = 0; i < input.in_time.size(); ++i) {
            const Lane& lane = binding_.lanes[classes_.all[input.lane_class].lanes[i]];
            const Time late = step < lane.late_input.size() ? lane.late_input[step].value() : 0;
            input.table->times[i] = input.in_time[i] + late;
        }
}

const TimeTable* Tables::times(std::uint32_t lane_class, const FlatOp& op)
{
    if (varies(lane_class, op)) {
        // Only workers have such ops, and the host issues none of their kernels.
        TimeTable* table = keep(durations(lane_class, op));
        table->greatest += latest_input(lane_class);
        late_inputs_.push_back({lane_class, table->times, table});
        return table;
    }
    const OpKey key{op.scale, op.kernels};
    if (const auto* known = times_.find(lane_class, op.cost, key))
        return *known;
    TimeTable* table = keep(durations(lane_class, op));
    if (op.kernels > 0) {
        Column kernel = table->times;
        for (Time& time : kernel)
            time /= op.kernels;
        table->kernel = keep(std::move(kernel));
    }
    return times_.add(lane_class, op.cost, key, table);
}

const TimeTable* Tables::collective(std::uint32_t number, std::span<const FlatOp* const> ops)
{
    const auto key_of = [&](const FlatOp& op) {
        return MemberKey{op.cost, op.scale, program_.labels[op.label.value].collective};
    };
    if (ops.size() == 1) {
        const MemberKey key = key_of(*ops[0]);
        if (const auto* known = alone_.find(number, key.cost, key))
            return *known;
        return alone_.add(number, key.cost, key, tabulate(classes_.group_classes[number], ops));
    }
    member_keys_.clear();
    for (const FlatOp* op : ops) {
        member_keys_.push_back(key_of(*op));
        if (member_keys_.back().collective != member_keys_.front().collective)
            return nullptr;
    }
    if (const auto* known = collectives_.find(number, ops[0]->cost, member_keys_))
        return *known;
    return collectives_.add(number, ops[0]->cost, member_keys_,
                            tabulate(classes_.group_classes[number], ops));
}

const TimeTable* Tables::tabulate(const GroupClass& group_class, std::span<const FlatOp* const> ops)
{
    std::vector<const std::vector<std::uint32_t>*> scale_of; // by member class
    for (std::size_t s = 0; s < ops.size(); ++s)
        scale_of.push_back(&scales(group_class.classes[s].lane_class, ops[s]->scale));
    Column column;
    column.reserve(group_class.groups.size());
    for (std::size_t g = 0; g < group_class.groups.size(); ++g) {
        const std::uint32_t variant = binding_.groups[group_class.groups[g]].variant;
        const TransferCost& first = cost(variant, ops.front()->cost);
        std::uint32_t scale = 0;
        for (std::uint32_t m = group_class.first[g]; m < group_class.first[g + 1]; ++m) {
            const Member& member = group_class.members[m];
            const CostId own = ops[member.member_class]->cost;
            if (own != ops.front()->cost && cost(variant, own) != first)
                return nullptr;
            const auto& of_member = *scale_of[member.member_class];
            scale = std::max(scale, of_member.empty() ? full_share : of_member[member.index]);
        }
        column.push_back(time_of(first, scale));
    }
    return keep(std::move(column));
}

const TimeTable* Tables::message(std::uint32_t sender, const FlatOp& send_op, const PartPlan& sent,
                                 const FlatOp& receive_op, const PartPlan& received)
{
    if (program_.labels[send_op.label.value].collective !=
        program_.labels[receive_op.label.value].collective)
        return nullptr;
    const MessageKey key{sent.pipe, sent.peer, received.peer, received.cost, send_op.scale};
    if (const auto* known = messages_.find(sender, sent.cost, key))
        return *known;
    const PipeLink& link = classes_.all[sender].pipes[sent.pipe];
    const Variants& here = variants(sender, sent.peer);
    const Variants& there = variants(link.lane_class, received.peer);
    const std::vector<std::uint32_t>& scale = scales(sender, send_op.scale);
    Column column(classes_.all[sender].lanes.size());
    const TransferCost* before = nullptr;
    for (std::uint32_t i = 0; i < column.size(); ++i) {
        const TransferCost& own = cost(here.of(i), sent.cost);
        const std::uint32_t partner = link.partners.empty() ? i : link.partners[i];
        const TransferCost& theirs = cost(there.of(partner), received.cost);
        if (&own != &theirs && own != theirs)
            return nullptr;
        if (own.eager != cost(here.of(0), sent.cost).eager)
            return nullptr;
        column[i] = &own == before && scale.empty()
                        ? column[i - 1]
                        : time_of(own, scale.empty() ? full_share : scale[i]);
        before = &own;
    }
    return messages_.add(sender, sent.cost, key, keep(std::move(column)));
}

const TransferLoad& Tables::load(std::uint32_t lane_class, CostId id, const LoadKey& key,
                                 const Variants& variants)
{
    if (const TransferLoad* known = loads_.find(lane_class, id, key))
        return *known;
    Column resident;
    Column latency;
    Column traffic;
    const std::size_t lanes = variants.each.empty() ? 1 : variants.each.size();
    for (std::size_t i = 0; i < lanes; ++i) {
        const TransferCost& of_lane = cost(variants.of(i), id);
        resident.push_back(of_lane.sm_share);
        latency.push_back(of_lane.latency.value());
        traffic.push_back(traffic_of(of_lane, of_lane.ceiling));
    }
    return loads_.add(lane_class, id, key,
                      {per_lane_of(std::move(resident)), per_lane_of(std::move(latency)),
                       per_lane_of(std::move(traffic))});
}

const TransferLoad& Tables::load(std::uint32_t lane_class, const FlatOp& op)
{
    return load(lane_class, op.cost, {op.kind, op.group.value}, variants(lane_class, op.group));
}

const TransferLoad& Tables::load(std::uint32_t lane_class, const PartPlan& part)
{
    return load(lane_class, part.cost, {OpKind::exchange, part.peer.value},
                variants(lane_class, part.peer));
}

} // namespace trainyard::engine::replay

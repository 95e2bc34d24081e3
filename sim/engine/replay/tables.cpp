#include "sim/engine/replay/tables.h"

#include "sim/engine/interference.h"
#include "sim/engine/scale.h"

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

// One number where all are equal.
Amount amount_of(Column column)
{
    if (std::adjacent_find(column.begin(), column.end(), std::not_equal_to<>()) != column.end())
        return {0, std::move(column)};
    return {column.front(), {}};
}

} // namespace

Tables::Tables(const Program& program, const Binding& binding, const Cohorts& cohorts)
    : program_(program), binding_(binding), cohorts_(cohorts)
{
    for (std::uint32_t c = 0; c < cohorts.all.size(); ++c)
        find_jitters(c);
}

const std::vector<std::uint32_t>& Tables::scales(std::uint32_t cohort, ScaleSlot slot)
{
    static const std::vector<std::uint32_t> unscaled;
    if (!slot.valid())
        return unscaled;
    scales_.resize(cohorts_.all.size() * slots);
    auto& known = scales_[cohort * slots + slot.value];
    if (!known) {
        known.emplace();
        for (const std::uint32_t l : cohorts_.all[cohort].lanes)
            known->push_back(binding_.lanes[l].scales[slot.value]);
    }
    return *known;
}

Variants Tables::find_variants(std::uint32_t cohort, GroupSlot slot) const
{
    const std::uint32_t number = cohorts_.all[cohort].meetings[slot.value];
    const Meeting& meeting = cohorts_.meetings[number];
    const auto variant = [&](std::size_t g) { return binding_.groups[meeting.groups[g]].variant; };
    Variants found{.one = variant(0), .each = {}};
    bool alike = true;
    for (std::size_t g = 1; g < meeting.groups.size(); ++g)
        alike &= variant(g) == found.one;
    if (alike)
        return found;
    const Seat seat{cohort, cohorts_.all[cohort].first_slots[slot.value]};
    found.each.resize(cohorts_.all[cohort].lanes.size());
    for (std::size_t g = 0; g < meeting.groups.size(); ++g)
        for (std::uint32_t m = meeting.first[g]; m < meeting.first[g + 1]; ++m)
            if (meeting.seats[meeting.members[m].seat] == seat)
                found.each[meeting.members[m].index] = variant(g);
    return found;
}

Variants Tables::find_variants(std::uint32_t cohort, PeerSlot slot) const
{
    const std::vector<std::uint32_t>& lanes = cohorts_.all[cohort].lanes;
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

const Variants& Tables::variants(std::uint32_t cohort, GroupSlot slot)
{
    group_variants_.resize(cohorts_.all.size() * slots);
    std::optional<Variants>& known = group_variants_[cohort * slots + slot.value];
    return known ? *known : known.emplace(find_variants(cohort, slot));
}

const Variants& Tables::variants(std::uint32_t cohort, PeerSlot slot)
{
    peer_variants_.resize(cohorts_.all.size() * slots);
    std::optional<Variants>& known = peer_variants_[cohort * slots + slot.value];
    return known ? *known : known.emplace(find_variants(cohort, slot));
}

TimeTable* Tables::keep(Column times)
{
    const Time greatest =
        times.empty() ? 0 : fastest_kernels().greatest(times.data(), times.size());
    return &tables_.emplace_back(TimeTable{std::move(times), greatest, nullptr});
}

Column Tables::durations(std::uint32_t cohort, const FlatOp& op)
{
    const Time alone = op.duration.value();
    const std::vector<std::uint32_t>& scale = scales(cohort, op.scale);
    if (scale.empty())
        return Column(cohorts_.all[cohort].lanes.size(), alone);
    Column column(scale.size());
    if (alone < shortest_wide)
        for (std::size_t i = 0; i < column.size(); ++i)
            column[i] = alone * scale[i] >> 20;
    else
        for (std::size_t i = 0; i < column.size(); ++i)
            column[i] = span_of(static_cast<u128>(alone) * scale[i] >> 20).value();
    return column;
}

bool Tables::varies(std::uint32_t cohort, const FlatOp& op) const
{
    return op.first_input && latest_input(cohort) > 0;
}

Time Tables::latest_input(std::uint32_t cohort) const
{
    Time latest = 0;
    for (const std::uint32_t l : cohorts_.all[cohort].lanes)
        for (const SimTime late : binding_.lanes[l].late_input)
            latest = std::max(latest, late.value());
    return latest;
}

void Tables::begin_step(std::uint32_t step)
{
    step_ = step;
    for (const LateInput& input : late_inputs_)
        for (std::size_t i = 0; i < input.in_time.size(); ++i) {
            const Lane& lane = binding_.lanes[cohorts_.all[input.cohort].lanes[i]];
            const Time late = step < lane.late_input.size() ? lane.late_input[step].value() : 0;
            input.table->times[i] = input.in_time[i] + late;
        }
}

const TimeTable* Tables::times(std::uint32_t cohort, const FlatOp& op)
{
    if (varies(cohort, op)) {
        // A worker's: the host issues none of its kernels.
        TimeTable* table = keep(durations(cohort, op));
        table->greatest += latest_input(cohort);
        late_inputs_.push_back({cohort, table->times, table});
        return table;
    }
    const OpKey key{op.scale, op.kernels};
    if (const auto* known = times_.find(cohort, op.cost, key))
        return *known;
    TimeTable* table = keep(durations(cohort, op));
    if (op.kernels > 0) {
        Column kernel = table->times;
        for (Time& time : kernel)
            time /= op.kernels;
        table->kernel = keep(std::move(kernel));
    }
    return times_.add(cohort, op.cost, key, table);
}

const TimeTable* Tables::collective(std::uint32_t number, std::span<const FlatOp* const> ops)
{
    const auto key_of = [&](const FlatOp& op) {
        return SeatKey{op.cost, op.scale, program_.labels[op.label.value].collective};
    };
    if (ops.size() == 1) {
        const SeatKey key = key_of(*ops[0]);
        if (const auto* known = alone_.find(number, key.cost, key))
            return *known;
        return alone_.add(number, key.cost, key, tabulate(cohorts_.meetings[number], ops));
    }
    seats_.clear();
    for (const FlatOp* op : ops) {
        seats_.push_back(key_of(*op));
        if (seats_.back().collective != seats_.front().collective)
            return nullptr;
    }
    if (const auto* known = collectives_.find(number, ops[0]->cost, seats_))
        return *known;
    return collectives_.add(number, ops[0]->cost, seats_, tabulate(cohorts_.meetings[number], ops));
}

const TimeTable* Tables::tabulate(const Meeting& meeting, std::span<const FlatOp* const> ops)
{
    std::vector<const std::vector<std::uint32_t>*> scale_of; // by seat
    for (std::size_t s = 0; s < ops.size(); ++s)
        scale_of.push_back(&scales(meeting.seats[s].cohort, ops[s]->scale));
    Column column;
    column.reserve(meeting.groups.size());
    for (std::size_t g = 0; g < meeting.groups.size(); ++g) {
        const std::uint32_t variant = binding_.groups[meeting.groups[g]].variant;
        const TransferCost& first = cost(variant, ops.front()->cost);
        std::uint32_t scale = 0;
        for (std::uint32_t m = meeting.first[g]; m < meeting.first[g + 1]; ++m) {
            const Member& member = meeting.members[m];
            const CostId own = ops[member.seat]->cost;
            if (own != ops.front()->cost && cost(variant, own) != first)
                return nullptr;
            const auto& of_seat = *scale_of[member.seat];
            scale = std::max(scale, of_seat.empty() ? full_share : of_seat[member.index]);
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
    const PipeLink& link = cohorts_.all[sender].pipes[sent.pipe];
    const Variants& here = variants(sender, sent.peer);
    const Variants& there = variants(link.cohort, received.peer);
    const std::vector<std::uint32_t>& scale = scales(sender, send_op.scale);
    Column column(cohorts_.all[sender].lanes.size());
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

const TransferLoad& Tables::load(std::uint32_t cohort, CostId id, const LoadKey& key,
                                 const Variants& variants)
{
    if (const TransferLoad* known = loads_.find(cohort, id, key))
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
    return loads_.add(cohort, id, key,
                      {amount_of(std::move(resident)), amount_of(std::move(latency)),
                       amount_of(std::move(traffic))});
}

const TransferLoad& Tables::load(std::uint32_t cohort, const FlatOp& op)
{
    return load(cohort, op.cost, {op.kind, op.group.value}, variants(cohort, op.group));
}

const TransferLoad& Tables::load(std::uint32_t cohort, const PartPlan& part)
{
    return load(cohort, part.cost, {OpKind::exchange, part.peer.value},
                variants(cohort, part.peer));
}

} // namespace trainyard::engine::replay

#include "sim/engine/replay/stretch_builder.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// The range of a list; null if there is none.
template <class Ranges>
auto* range_of(Ranges& ranges, std::uint32_t list)
{
    const auto found = std::ranges::find(ranges, list, &OverlapRange::list);
    return found == ranges.end() ? nullptr : &*found;
}

} // namespace

OverlapsByEnd::OverlapsByEnd(const StepCode& code)
{
    if (code.ranges.empty())
        return;
    by_end_.assign(code.values.size(), none);
    for_each_last_use(code, [&](std::uint32_t list, std::uint32_t overlap, std::uint32_t) {
        by_end_[code.overlaps[list][overlap].end] = static_cast<std::uint32_t>(positions_.size());
        positions_.push_back({list, overlap});
    });
}

StretchBuilder::StretchBuilder(const StepCode& code, Stretches& stretches)
    : code_(code), stretches_(stretches), overlaps_by_end_(code), numbers_(code.values.size())
{}

// Calls `visit` with each value read but the base, and whether a time is computed from it.
template <class Visit>
void StretchBuilder::for_each_read(const Instr& instr, const Visit& visit) const
{
    const bool from_all = instr.opcode == Instr::Opcode::latest ||
                          instr.opcode == Instr::Opcode::run ||
                          instr.opcode == Instr::Opcode::compute;
    for (std::uint32_t r = 0; r < instr.read_count; ++r)
        visit(code_.reads[instr.read_first + r], from_all || r == 0);
    for (const Charge& charge : charges_of(code_, instr)) {
        visit(charge.value, false);
        if (charge.then != none)
            visit(charge.then, false);
    }
    for (const Load& load : loads_of(code_, instr)) {
        visit(load.from, false);
        if (load.to != none)
            visit(load.to, false);
    }
}

void StretchBuilder::begin(const Instr& collective)
{
    stretch_ = {};
    stretch_.lane_class = collective.lane_class;
    stretch_.root = collective.write_first + 1;
    stretch_.outside_first = static_cast<std::uint32_t>(stretches_.values.size());
    group_class_ = collective.group_or_pipe;
    overlaps_.clear();
    own_overlaps_.clear();
    written_.clear();
    numbers_.restart();
    numbers_.add(stretch_.root, ValueNumbers::root);
    signature_.clear();
}

StretchBuilder::Verdict StretchBuilder::classify(const Instr& instr) const
{
    bool some = instr.base != none && numbers_.derived(instr.base); // reads what the stretch writes
    bool first = false; // reckons from the root or what the stretch writes
    for_each_read(instr, [&](Value value, bool reckons) {
        if (!numbers_.inside(value))
            return;
        some |= numbers_.of(value) != ValueNumbers::root;
        first |= reckons;
    });
    if (instr.lane_class != stretch_.lane_class)
        return some ? Verdict::behind : Verdict::before;
    for (const OverlapRange& range : ranges_of(code_, instr)) {
        const OverlapRange* own = range_of(own_overlaps_, range.list);
        some |= own != nullptr && own->first < range.end;
    }
    if (fits(instr, first, some))
        return Verdict::inside;
    return some ? Verdict::behind : Verdict::before;
}

void StretchBuilder::append(const Instr& instr)
{
    for_each_read(instr, [&](Value value, bool) {
        if (numbers_.known(value))
            return;
        numbers_.add(value, ValueNumbers::first_outside + stretch_.outside_count++);
        stretches_.values.push_back(value);
    });
    if (instr.base != none && stretch_.base == none) {
        stretch_.base = instr.base;
        stretch_.base_constant = instr.constant;
    }
    sign(instr);
    for (const OverlapRange& range : ranges_of(code_, instr))
        add_overlaps(range);
    for (Value value = instr.write_first; value < instr.write_first + instr.write_count; ++value) {
        written_.push_back(value);
        numbers_.add(value, static_cast<std::uint32_t>(written_.size()));
    }
    for (Value value = instr.write_first; value < instr.write_first + instr.write_count; ++value)
        if (const OverlapsByEnd::Position* overlap = overlaps_by_end_.ending(value))
            add_own(*overlap);
}

Stretch StretchBuilder::finish(std::uint32_t last)
{
    stretch_.result_first = static_cast<std::uint32_t>(stretches_.values.size());
    for (std::uint32_t w = 0; w < written_.size(); ++w)
        if (code_.values[written_[w]].last_use > last) {
            stretches_.values.push_back(written_[w]);
            add(w);
        }
    stretch_.result_count =
        static_cast<std::uint32_t>(stretches_.values.size()) - stretch_.result_first;
    add(stretch_.lane_class);
    const auto list = [&](const std::vector<OverlapRange>& ranges, std::uint32_t& first,
                          std::uint32_t& count) {
        first = static_cast<std::uint32_t>(stretches_.ranges.size());
        count = static_cast<std::uint32_t>(ranges.size());
        stretches_.ranges.insert(stretches_.ranges.end(), ranges.begin(), ranges.end());
    };
    list(overlaps_, stretch_.overlap_first, stretch_.overlap_count);
    list(own_overlaps_, stretch_.own_overlap_first, stretch_.own_overlap_count);
    return stretch_;
}

void StretchBuilder::discard()
{
    stretches_.values.resize(stretch_.outside_first);
}

void StretchBuilder::add_own(const OverlapsByEnd::Position& position)
{
    if (OverlapRange* own = range_of(own_overlaps_, position.list))
        own->end = position.overlap + 1;
    else
        own_overlaps_.push_back({position.list, position.overlap, position.overlap + 1});
    const std::span<const Load> loads =
        loads_of(code_, code_.overlaps[position.list][position.overlap]);
    add(loads.size());
    for (const Load& load : loads)
        sign(load);
}

void StretchBuilder::add_overlaps(const OverlapRange& range)
{
    const OverlapRange* own = range_of(own_overlaps_, range.list);
    const std::uint32_t end = own == nullptr ? range.end : std::min(own->first, range.end);
    if (own != nullptr && own->first < range.end) {
        add(range.list, std::max(range.first, own->first) - own->first);
        add(range.end - own->first);
    }
    if (range.first >= end)
        return;
    OverlapRange* const known = range_of(overlaps_, range.list);
    if (known == nullptr)
        return overlaps_.push_back({range.list, range.first, end});
    known->first = std::min(known->first, range.first);
    known->end = std::max(known->end, end);
}

// Whether the instruction fits into the stretch. `first`: it computes from values of the stretch;
// `some`: it reads what the stretch writes.
bool StretchBuilder::fits(const Instr& instr, bool first, bool some) const
{
    if (instr.varies)
        return false;
    if (instr.base != none &&
        (numbers_.derived(instr.base) || (stretch_.base != none && instr.base != stretch_.base)))
        return false;
    const auto known = [&](std::uint32_t r) {
        return numbers_.inside(code_.reads[instr.read_first + r]);
    };
    switch (instr.opcode) {
    case Instr::Opcode::latest:
    case Instr::Opcode::run:
        return first;
    case Instr::Opcode::collective:
        return instr.group_or_pipe == group_class_ && first;
    case Instr::Opcode::compute: {
        // The work left, a fourth value, is no time: it does not move with the stretch.
        const std::span<const Load> loads = loads_of(code_, instr);
        return first && instr.write_count <= 3 &&
               std::all_of(loads.begin(), loads.end(),
                           [&](const Load& load) { return inside(load); });
    }
    case Instr::Opcode::charge: {
        const std::span<const Charge> charges = charges_of(code_, instr);
        return first && some &&
               std::none_of(charges.begin(), charges.end(),
                            [](const Charge& charge) { return charge.group > 0; });
    }
    case Instr::Opcode::count:
        return known(0) && known(1) && known(2);
    default:
        return false;
    }
}

bool StretchBuilder::inside(const Load& load) const
{
    return numbers_.derived(load.from) && (load.to == none || numbers_.derived(load.to));
}

void StretchBuilder::sign(const Load& load)
{
    add(number_of(load.from), number_of(load.to));
    add(reinterpret_cast<std::uintptr_t>(load.delay));
    add(reinterpret_cast<std::uintptr_t>(load.share));
}

// The first word says how many follow.
void StretchBuilder::sign(const Instr& instr)
{
    const std::span<const Load> loads = loads_of(code_, instr);
    add(std::uint64_t{instr.read_count} << 40 | std::uint64_t{instr.extra_count} << 16 |
        static_cast<std::uint64_t>(instr.opcode) << 8 | (instr.holds_up ? 16U : 0U) |
        (instr.base != none ? 8U : 0U) | (instr.host_ends ? 4U : 0U) | (instr.counted ? 2U : 0U) |
        (instr.measured ? 1U : 0U));
    if (instr.opcode == Instr::Opcode::collective || instr.opcode == Instr::Opcode::count)
        add(instr.group_or_pipe, instr.extra);
    if (instr.table != nullptr)
        add(reinterpret_cast<std::uintptr_t>(instr.table));
    if (instr.base != none)
        add(static_cast<std::uint64_t>(instr.constant - stretch_.base_constant));
    if (instr.host_ends)
        add(static_cast<std::uint64_t>(instr.end_constant - stretch_.base_constant));
    for (std::uint32_t r = 0; r < instr.read_count; ++r)
        add(numbers_.of(code_.reads[instr.read_first + r]));
    for (const Charge& charge : charges_of(code_, instr))
        add(numbers_.of(charge.value), charge.into);
    add(loads.size());
    for (const Load& load : loads)
        sign(load);
}

} // namespace trainyard::engine::replay

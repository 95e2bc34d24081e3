#include "sim/engine/replay/growing.h"

#include <algorithm>

namespace trainyard::engine::replay {

NamedRivals::NamedRivals(const Tape& tape)
{
    if (tape.ranges.empty())
        return;
    by_end_.assign(tape.values.size(), none);
    for_each_last_use(tape, [&](std::uint32_t list, std::uint32_t rival, std::uint32_t) {
        by_end_[tape.rivals[list][rival].end] = static_cast<std::uint32_t>(places_.size());
        places_.push_back({list, rival});
    });
}

Growing::Growing(const Tape& tape, Regions& regions)
    : tape_(tape), regions_(regions), rivals_(tape), numbers_(tape.values.size())
{}

// Calls with each value read but the base, and whether a time is reckoned from it.
template <class Visit>
void Growing::for_each_read(const Instr& instr, const Visit& visit) const
{
    const bool from_all = instr.code == Instr::Code::latest || instr.code == Instr::Code::run ||
                          instr.code == Instr::Code::compute;
    for (std::uint32_t r = 0; r < instr.read_count; ++r)
        visit(tape_.reads[instr.read_first + r], from_all || r == 0);
    for (const Charge& charge : charges_of(tape_, instr)) {
        visit(charge.value, false);
        if (charge.then != none)
            visit(charge.then, false);
    }
    for (const Load& load : loads_of(tape_, instr)) {
        visit(load.from, false);
        if (load.to != none)
            visit(load.to, false);
    }
}

void Growing::begin(const Instr& gather)
{
    stretch_ = {};
    stretch_.cohort = gather.cohort;
    stretch_.root = gather.write_first + 1;
    stretch_.outside_first = static_cast<std::uint32_t>(regions_.values.size());
    meeting_ = gather.meeting;
    beside_.clear();
    own_.clear();
    written_.clear();
    numbers_.restart();
    numbers_.add(stretch_.root, Numbers::root);
    signature_.clear();
}

Growing::Verdict Growing::judge(const Instr& instr) const
{
    bool some = instr.base != none && numbers_.derived(instr.base); // reads what the stretch writes
    bool first = false; // reckons from the root or what the stretch writes
    for_each_read(instr, [&](Value value, bool reckons) {
        if (!numbers_.inside(value))
            return;
        some |= numbers_.of(value) != Numbers::root;
        first |= reckons;
    });
    if (instr.cohort != stretch_.cohort)
        return some ? Verdict::behind : Verdict::before;
    for (const RivalRange& range : ranges_of(tape_, instr)) {
        const RivalRange* own = own_of(range.list);
        some |= own != nullptr && own->first < range.end;
    }
    if (fits(instr, first, some))
        return Verdict::inside;
    return some ? Verdict::behind : Verdict::before;
}

void Growing::take(const Instr& instr)
{
    for_each_read(instr, [&](Value value, bool) {
        if (numbers_.known(value))
            return;
        numbers_.add(value, Numbers::first_outside + stretch_.outside_count++);
        regions_.values.push_back(value);
    });
    if (instr.base != none && stretch_.base == none) {
        stretch_.base = instr.base;
        stretch_.base_constant = instr.constant;
    }
    sign(instr);
    for (const RivalRange& range : ranges_of(tape_, instr))
        stand_beside(range);
    for (Value value = instr.write_first; value < instr.write_first + instr.write_count; ++value) {
        written_.push_back(value);
        numbers_.add(value, static_cast<std::uint32_t>(written_.size()));
    }
    for (Value value = instr.write_first; value < instr.write_first + instr.write_count; ++value)
        if (const NamedRivals::Place* rival = rivals_.ending(value))
            own(*rival);
}

Stretch Growing::finish(std::uint32_t last)
{
    stretch_.result_first = static_cast<std::uint32_t>(regions_.values.size());
    for (std::uint32_t w = 0; w < written_.size(); ++w)
        if (tape_.values[written_[w]].last_use > last) {
            regions_.values.push_back(written_[w]);
            add(w);
        }
    stretch_.result_count =
        static_cast<std::uint32_t>(regions_.values.size()) - stretch_.result_first;
    add(stretch_.cohort);
    const auto list = [&](const std::vector<RivalRange>& ranges, std::uint32_t& first,
                          std::uint32_t& count) {
        first = static_cast<std::uint32_t>(regions_.ranges.size());
        count = static_cast<std::uint32_t>(ranges.size());
        regions_.ranges.insert(regions_.ranges.end(), ranges.begin(), ranges.end());
    };
    list(beside_, stretch_.beside_first, stretch_.beside_count);
    list(own_, stretch_.own_first, stretch_.own_count);
    return stretch_;
}

void Growing::drop()
{
    regions_.values.resize(stretch_.outside_first);
}

// The rivals of a list that are over in the stretch; null if none is.
const RivalRange* Growing::own_of(std::uint32_t list) const
{
    const auto found = std::find_if(own_.begin(), own_.end(),
                                    [&](const RivalRange& own) { return own.list == list; });
    return found == own_.end() ? nullptr : &*found;
}

void Growing::own(const NamedRivals::Place& place)
{
    const auto found = std::find_if(own_.begin(), own_.end(),
                                    [&](const RivalRange& own) { return own.list == place.list; });
    if (found == own_.end())
        own_.push_back({place.list, place.rival, place.rival + 1});
    else
        found->end = place.rival + 1;
    const std::span<const Load> loads = loads_of(tape_, tape_.rivals[place.list][place.rival]);
    add(loads.size());
    for (const Load& load : loads)
        sign(load);
}

void Growing::stand_beside(const RivalRange& range)
{
    const RivalRange* own = own_of(range.list);
    const std::uint32_t end = own == nullptr ? range.end : std::min(own->first, range.end);
    if (own != nullptr && own->first < range.end) {
        add(range.list, std::max(range.first, own->first) - own->first);
        add(range.end - own->first);
    }
    if (range.first >= end)
        return;
    const auto found = std::find_if(beside_.begin(), beside_.end(), [&](const RivalRange& beside) {
        return beside.list == range.list;
    });
    if (found == beside_.end())
        return beside_.push_back({range.list, range.first, end});
    found->first = std::min(found->first, range.first);
    found->end = std::max(found->end, end);
}

// `first`: what it reckons from is known up to T; `some`: it needs the stretch.
bool Growing::fits(const Instr& instr, bool first, bool some) const
{
    if (instr.varies)
        return false;
    if (instr.base != none &&
        (numbers_.derived(instr.base) || (stretch_.base != none && instr.base != stretch_.base)))
        return false;
    const auto known = [&](std::uint32_t r) {
        return numbers_.inside(tape_.reads[instr.read_first + r]);
    };
    switch (instr.code) {
    case Instr::Code::latest:
    case Instr::Code::run:
        return first;
    case Instr::Code::gather:
        return instr.meeting == meeting_ && first;
    case Instr::Code::compute: {
        const std::span<const Load> loads = loads_of(tape_, instr);
        return first && std::all_of(loads.begin(), loads.end(),
                                    [&](const Load& load) { return inside(load); });
    }
    case Instr::Code::charge: {
        const std::span<const Charge> charges = charges_of(tape_, instr);
        return first && some &&
               std::none_of(charges.begin(), charges.end(),
                            [](const Charge& charge) { return charge.group > 0; });
    }
    case Instr::Code::count:
        return known(0) && known(1) && known(2);
    default:
        return false;
    }
}

bool Growing::inside(const Load& load) const
{
    return numbers_.derived(load.from) && (load.to == none || numbers_.derived(load.to));
}

void Growing::sign(const Load& load)
{
    add(number_of(load.from), number_of(load.to));
    add(reinterpret_cast<std::uintptr_t>(load.delay));
    add(reinterpret_cast<std::uintptr_t>(load.share));
}

// The first word says how many follow.
void Growing::sign(const Instr& instr)
{
    const std::span<const Load> loads = loads_of(tape_, instr);
    add(std::uint64_t{instr.read_count} << 40 | std::uint64_t{instr.extra_count} << 16 |
        static_cast<std::uint64_t>(instr.code) << 8 | (instr.holds_up ? 16U : 0U) |
        (instr.base != none ? 8U : 0U) | (instr.host_ends ? 4U : 0U) | (instr.counted ? 2U : 0U) |
        (instr.measured ? 1U : 0U));
    if (instr.code == Instr::Code::gather || instr.code == Instr::Code::count)
        add(instr.meeting, instr.extra);
    if (instr.table != nullptr)
        add(reinterpret_cast<std::uintptr_t>(instr.table));
    if (instr.base != none)
        add(static_cast<std::uint64_t>(instr.constant - stretch_.base_constant));
    if (instr.host_ends)
        add(static_cast<std::uint64_t>(instr.end_constant - stretch_.base_constant));
    for (std::uint32_t r = 0; r < instr.read_count; ++r)
        add(numbers_.of(tape_.reads[instr.read_first + r]));
    for (const Charge& charge : charges_of(tape_, instr))
        add(numbers_.of(charge.value), charge.into);
    add(loads.size());
    for (const Load& load : loads)
        sign(load);
}

} // namespace trainyard::engine::replay

#include "sim/engine/replay/growing.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

constexpr std::uint32_t root_number = 0;
constexpr std::uint32_t outside_numbers = 1U << 31;

// Where an instruction reads a value that no time is reckoned from.
constexpr std::size_t place_of_base = 100;
constexpr std::size_t place_behind = 101;

} // namespace

// Calls with each value read and its place: 0 for the one that a time is reckoned from.
template <class Visit>
void Growing::for_each_read(const Instr& instr, const Visit& visit) const
{
    const bool from_all = instr.code == Instr::Code::latest || instr.code == Instr::Code::run ||
                          instr.code == Instr::Code::compute;
    for (std::uint32_t r = 0; r < instr.read_count; ++r)
        visit(tape_.reads[instr.read_first + r], from_all ? 0 : std::size_t{r});
    if (instr.base != none)
        visit(instr.base, place_of_base);
    for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
        const Charge& charge = tape_.charges[instr.charge_first + k];
        visit(charge.value, place_behind);
        if (charge.then != none)
            visit(charge.then, place_behind);
    }
    for (std::uint32_t l = 0; l < instr.load_count; ++l) {
        const Load& load = tape_.loads[instr.load_first + l];
        visit(load.from, place_behind);
        if (load.to != none)
            visit(load.to, place_behind);
    }
}

Growing::Growing(const Tape& tape, const NamedRivals& rivals, Numbers& numbers,
                 Signature& signature, std::uint32_t gather)
    : tape_(tape), rivals_(rivals), numbers_(numbers), signature_(signature)
{
    const Instr& from = tape.instrs[gather];
    stretch_.cohort = from.cohort;
    stretch_.root = tape.writes[from.write_first + 1];
    meeting_ = from.meeting;
    numbers_.restart();
    numbers_.add(stretch_.root, root_number);
    signature_.clear();
}

Growing::Verdict Growing::judge(const Instr& instr) const
{
    bool some = false;  // reads what the stretch writes
    bool first = false; // reads the root or what the stretch writes first
    for_each_read(instr, [&](Value value, std::size_t place) {
        if (!numbers_.known(value) || numbers_.of(value) >= outside_numbers)
            return;
        some |= numbers_.of(value) != root_number;
        first |= place == 0;
    });
    if (instr.cohort == stretch_.cohort)
        for_each_range(tape_, instr, [&](const RivalRange& range) {
            const RivalRange* own = own_of(range.list);
            some |= own != nullptr && own->first < range.end;
        });
    if (instr.cohort == stretch_.cohort && fits(instr, first, some))
        return Verdict::inside;
    return some ? Verdict::behind : Verdict::before;
}

void Growing::take(const Instr& instr)
{
    for_each_read(instr, [&](Value value, std::size_t place) {
        if (place == place_of_base)
            return;
        if (!numbers_.known(value)) {
            numbers_.add(value,
                         outside_numbers + static_cast<std::uint32_t>(stretch_.outside.size()));
            stretch_.outside.push_back(value);
        }
        numbers_.read(value);
    });
    if (instr.base != none && stretch_.base == none) {
        stretch_.base = instr.base;
        stretch_.base_constant = instr.constant;
    }
    sign(instr);
    for_each_range(tape_, instr, [&](const RivalRange& range) { stand_beside(range); });
    for (std::uint32_t w = 0; w < instr.write_count; ++w) {
        written_.push_back(tape_.writes[instr.write_first + w]);
        numbers_.add(written_.back(), static_cast<std::uint32_t>(written_.size()));
    }
    for (std::uint32_t w = 0; w < instr.write_count; ++w)
        if (const NamedRivals::Place* rival = rivals_.ending(tape_.writes[instr.write_first + w]))
            own(*rival);
}

Stretch Growing::finish(const std::vector<std::uint32_t>& reads, std::uint32_t last)
{
    for (const NamedRivals::Place& place : own_rivals_)
        if (place.last_use > last)
            for_each_value(tape_, tape_.rivals[place.list][place.rival], [&](Value value) {
                if (derived(value))
                    numbers_.keep(value);
            });
    for (std::uint32_t w = 0; w < written_.size(); ++w) {
        if (reads[written_[w]] == numbers_.reads(written_[w]) && !numbers_.kept(written_[w]))
            continue;
        stretch_.results.push_back(written_[w]);
        signature_.push_back(w);
    }
    signature_.push_back(stretch_.cohort);
    return std::move(stretch_);
}

// The rivals of a list that are over in the stretch; null if none is.
RivalRange* Growing::own_of(std::uint32_t list)
{
    const auto found = std::find_if(stretch_.own.begin(), stretch_.own.end(),
                                    [&](const RivalRange& own) { return own.list == list; });
    return found == stretch_.own.end() ? nullptr : &*found;
}
void Growing::own(const NamedRivals::Place& place)
{
    own_rivals_.push_back(place);
    RivalRange* own = own_of(place.list);
    if (own == nullptr)
        own = &stretch_.own.emplace_back(RivalRange{place.list, place.rival, place.rival});
    own->end = place.rival + 1;
    const Rival& rival = tape_.rivals[place.list][place.rival];
    add(rival.load_count);
    for (std::uint32_t l = 0; l < rival.load_count; ++l)
        sign(tape_.loads[rival.load_first + l]);
}

void Growing::stand_beside(const RivalRange& range)
{
    const RivalRange* own = own_of(range.list);
    const std::uint32_t end = own == nullptr ? range.end : std::min(own->first, range.end);
    if (own != nullptr && own->first < range.end) {
        add(std::uint64_t{range.list} << 32 | (std::max(range.first, own->first) - own->first));
        add(range.end - own->first);
    }
    if (range.first >= end)
        return;
    const auto found =
        std::find_if(stretch_.beside.begin(), stretch_.beside.end(),
                     [&](const RivalRange& beside) { return beside.list == range.list; });
    if (found == stretch_.beside.end())
        return stretch_.beside.push_back({range.list, range.first, end});
    found->first = std::min(found->first, range.first);
    found->end = std::max(found->end, end);
}

// Written by the stretch.
bool Growing::derived(Value value) const
{
    return numbers_.known(value) && numbers_.of(value) != root_number &&
           numbers_.of(value) < outside_numbers;
}

// `first`: what it reckons from is known up to T; `some`: it needs the stretch.
bool Growing::fits(const Instr& instr, bool first, bool some) const
{
    if (instr.varies)
        return false;
    if (instr.base != none &&
        (derived(instr.base) || (stretch_.base != none && instr.base != stretch_.base)))
        return false;
    const auto known = [&](std::uint32_t r) {
        const Value value = tape_.reads[instr.read_first + r];
        return derived(value) || value == stretch_.root;
    };
    switch (instr.code) {
    case Instr::Code::latest:
    case Instr::Code::run:
        return first;
    case Instr::Code::gather:
        return instr.meeting == meeting_ && first;
    case Instr::Code::compute:
        for (std::uint32_t l = 0; l < instr.load_count; ++l)
            if (!inside(tape_.loads[instr.load_first + l]))
                return false;
        return first;
    case Instr::Code::charge:
        for (std::uint32_t k = 0; k < instr.charge_count; ++k)
            if (tape_.charges[instr.charge_first + k].group > 0)
                return false;
        return first && some;
    case Instr::Code::count:
        return known(0) && known(1) && known(2);
    default:
        return false;
    }
}

bool Growing::inside(const Load& load) const
{
    return derived(load.from) && (load.to == none || derived(load.to));
}

void Growing::sign(const Load& load)
{
    add(std::uint64_t{number_of(load.from)} << 32 | number_of(load.to));
    add(reinterpret_cast<std::uintptr_t>(load.delay));
    add(reinterpret_cast<std::uintptr_t>(load.share));
}

void Growing::sign(const Instr& instr)
{
    add(std::uint64_t{instr.read_count} << 32 | static_cast<std::uint64_t>(instr.code) << 8 |
        (instr.base != none ? 8U : 0U) | (instr.host_ends ? 4U : 0U) | (instr.counted ? 2U : 0U) |
        (instr.measured ? 1U : 0U));
    add(std::uint64_t{instr.meeting} << 32 | instr.total);
    add(reinterpret_cast<std::uintptr_t>(instr.table));
    add(reinterpret_cast<std::uintptr_t>(instr.table2));
    add(static_cast<std::uint64_t>(instr.constant -
                                   (instr.base != none ? stretch_.base_constant : 0)));
    add(static_cast<std::uint64_t>(instr.host_ends ? instr.end_constant - stretch_.base_constant
                                                   : 0));
    for (std::uint32_t r = 0; r < instr.read_count; ++r)
        add(numbers_.of(tape_.reads[instr.read_first + r]));
    add(std::uint64_t{instr.charge_count} << 32 | instr.load_count);
    for (std::uint32_t k = 0; k < instr.charge_count; ++k) {
        const Charge& charge = tape_.charges[instr.charge_first + k];
        add(std::uint64_t{numbers_.of(charge.value)} << 32 | charge.into);
    }
    for (std::uint32_t l = 0; l < instr.load_count; ++l)
        sign(tape_.loads[instr.load_first + l]);
}

} // namespace trainyard::engine::replay

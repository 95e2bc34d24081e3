#include "sim/engine/replay/slices.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// Shorter runs are played at once.
constexpr std::uint32_t short_run = 16;

bool stays_in_slice(const Cohorts& cohorts, const Instr& instr)
{
    switch (instr.code) {
    case Instr::Code::gather: {
        const Meeting& meeting = cohorts.meetings[instr.meeting];
        return meeting.stride == 1 && slice_lanes % meeting.size == 0;
    }
    case Instr::Code::pass_over:
        return false;
    case Instr::Code::take:
        return cohorts.all[instr.cohort].pipes[instr.meeting].partners.empty();
    default:
        return true;
    }
}

} // namespace

Slices without_slices(const Tape& tape)
{
    return {{{0, static_cast<std::uint32_t>(tape.instrs.size()), false}}, {}};
}

Slices find_slices(const Cohorts& cohorts, const Tape& tape, const Regions& regions)
{
    const auto instrs = static_cast<std::uint32_t>(tape.instrs.size());
    const std::size_t lanes = cohorts.all.empty() ? 0 : cohorts.all.front().lanes.size();
    const bool even = std::all_of(cohorts.all.begin(), cohorts.all.end(),
                                  [&](const Cohort& of) { return of.lanes.size() == lanes; });
    if (!even || lanes <= slice_lanes)
        return without_slices(tape);
    std::vector<std::uint8_t> stays(instrs);
    for (std::uint32_t i = 0; i < instrs; ++i)
        stays[i] = stays_in_slice(cohorts, tape.instrs[i]) ? 1 : 0;
    for (const Stretch& stretch : regions.stretches) {
        const auto first = stays.begin() + stretch.instr_first;
        if (std::count(first, first + stretch.instr_count, 0) > 0)
            std::fill_n(first, stretch.instr_count, std::uint8_t{0});
    }
    Slices found;
    for (std::size_t first = 0; first < lanes; first += slice_lanes)
        found.slices.push_back({first, std::min(slice_lanes, lanes - first),
                                static_cast<std::uint32_t>(found.slices.size())});
    const auto add = [&](std::uint32_t first, std::uint32_t end, bool sliced) {
        if (!found.runs.empty() && found.runs.back().sliced == sliced)
            found.runs.back().end = end;
        else if (first < end)
            found.runs.push_back({first, end, sliced});
    };
    for (std::uint32_t i = 0; i < instrs;) {
        std::uint32_t end = i;
        while (end < instrs && stays[end] == stays[i])
            ++end;
        add(i, end, stays[i] != 0 && end - i >= short_run);
        i = end;
    }
    return found;
}

} // namespace trainyard::engine::replay

#include "sim/engine/replay/slices.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// As many lanes as make the price of an instruction small beside that of its loop.
constexpr std::size_t slice_lanes = 256;
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

Slices find_slices(const Cohorts& cohorts, const Tape& tape)
{
    Slices found;
    const auto instrs = static_cast<std::uint32_t>(tape.instrs.size());
    const std::size_t lanes = cohorts.all.empty() ? 0 : cohorts.all.front().lanes.size();
    const bool even = std::all_of(cohorts.all.begin(), cohorts.all.end(),
                                  [&](const Cohort& of) { return of.lanes.size() == lanes; });
    if (!even || lanes <= slice_lanes) {
        found.runs.push_back({0, instrs, false});
        return found;
    }
    for (std::size_t first = 0; first < lanes; first += slice_lanes)
        found.slices.push_back({first, std::min(slice_lanes, lanes - first)});
    const auto add = [&](std::uint32_t first, std::uint32_t end, bool sliced) {
        if (!found.runs.empty() && found.runs.back().sliced == sliced)
            found.runs.back().end = end;
        else if (first < end)
            found.runs.push_back({first, end, sliced});
    };
    for (std::uint32_t i = 0; i < instrs;) {
        std::uint32_t end = i;
        while (end < instrs && stays_in_slice(cohorts, tape.instrs[end]))
            ++end;
        add(i, end, end - i >= short_run);
        if (end < instrs)
            add(end, end + 1, false);
        i = end + 1;
    }
    return found;
}

} // namespace trainyard::engine::replay

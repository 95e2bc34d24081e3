#include "sim/engine/replay/slices.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// Ranges that are shorter are executed on all lanes at once.
constexpr std::uint32_t short_range = 16;

bool stays_in_slice(const LaneClasses& lane_classes, const Instr& instr)
{
    switch (instr.opcode) {
    case Instr::Opcode::collective: {
        const GroupClass& group_class = lane_classes.group_classes[instr.group_or_pipe];
        return group_class.stride == 1 && slice_lanes % group_class.size == 0;
    }
    case Instr::Opcode::permuted_message:
        return false;
    case Instr::Opcode::eager_receive:
        return lane_classes.all[instr.lane_class].pipes[instr.group_or_pipe].partners.empty();
    default:
        return true;
    }
}

} // namespace

Slices without_slices(const StepCode& code)
{
    return {{{0, static_cast<std::uint32_t>(code.instrs.size()), false}}, {}};
}

Slices find_slices(const LaneClasses& lane_classes, const StepCode& code,
                   const Stretches& stretches)
{
    const auto instrs = static_cast<std::uint32_t>(code.instrs.size());
    const std::size_t lanes = lane_classes.all.empty() ? 0 : lane_classes.all.front().lanes.size();
    const bool even = std::all_of(lane_classes.all.begin(), lane_classes.all.end(),
                                  [&](const LaneClass& of) { return of.lanes.size() == lanes; });
    if (!even || lanes <= slice_lanes)
        return without_slices(code);
    std::vector<std::uint8_t> stays(instrs);
    for (std::uint32_t i = 0; i < instrs; ++i)
        stays[i] = stays_in_slice(lane_classes, code.instrs[i]) ? 1 : 0;
    for (const Stretch& stretch : stretches.all) {
        const auto first = stays.begin() + stretch.instr_first;
        if (std::count(first, first + stretch.instr_count, 0) > 0)
            std::fill_n(first, stretch.instr_count, std::uint8_t{0});
    }
    Slices found;
    for (std::size_t first = 0; first < lanes; first += slice_lanes)
        found.slices.push_back({first, std::min(slice_lanes, lanes - first),
                                static_cast<std::uint32_t>(found.slices.size())});
    const auto add = [&](std::uint32_t first, std::uint32_t end, bool sliced) {
        if (!found.ranges.empty() && found.ranges.back().sliced == sliced)
            found.ranges.back().end = end;
        else if (first < end)
            found.ranges.push_back({first, end, sliced});
    };
    for (std::uint32_t i = 0; i < instrs;) {
        std::uint32_t end = i;
        while (end < instrs && stays[end] == stays[i])
            ++end;
        add(i, end, stays[i] != 0 && end - i >= short_range);
        i = end;
    }
    return found;
}

} // namespace trainyard::engine::replay

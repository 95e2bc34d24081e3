#pragma once

// Finding slices: by part of a name, the next of the same name, and what a stretch of time holds.

#include "gui/timeline/timeline_data.h"

namespace trainyard::gui {

// Slices of the streams' rows whose name contains a text, whatever its case; by row, in time.
struct SearchMatches {
    std::vector<std::uint32_t> slices; // row after row
    std::vector<std::uint32_t> first;  // by row: its first in `slices`; one more at the end

    std::span<const std::uint32_t> of(std::size_t row) const
    {
        return std::span(slices).subspan(first[row], first[row + 1] - first[row]);
    }
};

// None for an empty text. Linear in the slices.
SearchMatches find_slices(const TimelineData& data, std::string_view text);

enum class Toward : std::uint8_t { previous, next };

// The match after (before) `from` in time, of all rows; the first (last) one when `from` is nothing
// or no other follows. Nothing without matches.
std::uint32_t step_to_match(const TimelineData& data, const SearchMatches& matches,
                            std::uint32_t from, Toward toward);

// Which of the matches the slice is, in time, counted from 1; 0: none.
std::size_t number_of(const TimelineData& data, const SearchMatches& matches, std::uint32_t slice);

// The slice of the same name before or after this one on its row, or nothing.
std::uint32_t same_name(const TimelineData& data, std::uint32_t slice, Toward toward);
// The slice before or after it on its row, or nothing.
std::uint32_t neighbour(const TimelineData& data, std::uint32_t slice, Toward toward);

// Slices of one name, kind and run in a stretch of time.
struct RangeEntry {
    std::uint32_t name = 0;
    TimeKind kind = TimeKind::other_compute;
    std::uint8_t run = 0; // of two that are compared
    std::uint64_t count = 0;
    SimTime total;                   // of what lies in the stretch
    SimTime longest;                 // likewise
    std::uint32_t example = nothing; // the longest

    bool operator==(const RangeEntry&) const = default;
};

// Over the rows asked for; the largest total first.
std::vector<RangeEntry> entries_in(const TimelineData& data, TimeRange range,
                                   std::span<const std::uint32_t> rows);

} // namespace trainyard::gui

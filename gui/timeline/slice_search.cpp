#include "gui/timeline/slice_search.h"

#include "sim/base/words.h"

#include <algorithm>
#include <cctype>

namespace trainyard::gui {

namespace {

// In time, then as they lie.
std::pair<SimTime, std::uint32_t> place_of(const TimelineData& data, std::uint32_t slice)
{
    return {data.slices.start[slice], slice};
}

} // namespace

SearchMatches find_slices(const TimelineData& data, std::string_view text)
{
    SearchMatches matches;
    matches.first.assign(data.rows.size() + 1, 0);
    if (text.empty())
        return matches;
    const std::string wanted = lower_case(text);
    std::vector<char> hit(data.names.size());
    for (std::size_t i = 0; i < hit.size(); ++i)
        hit[i] = lower_case(data.names[i]).find(wanted) != std::string::npos;
    for (std::size_t r = 0; r < data.rows.size(); ++r) {
        const SliceRow& row = data.rows[r];
        matches.first[r] = static_cast<std::uint32_t>(matches.slices.size());
        if (data.tracks[row.track].kind != TrackKind::stream)
            continue;
        for (std::uint32_t i = row.first; i < row.end(); ++i)
            if (hit[data.slices.name[i]] != 0)
                matches.slices.push_back(i);
    }
    matches.first.back() = static_cast<std::uint32_t>(matches.slices.size());
    return matches;
}

std::uint32_t step_to_match(const TimelineData& data, const SearchMatches& matches,
                            std::uint32_t from, Toward toward)
{
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
        return toward == Toward::next ? place_of(data, a) < place_of(data, b)
                                      : place_of(data, b) < place_of(data, a);
    };
    std::uint32_t best = nothing;  // behind `from`
    std::uint32_t first = nothing; // of all
    for (const std::uint32_t slice : matches.slices) {
        if (first == nothing || earlier(slice, first))
            first = slice;
        if (from != nothing && earlier(from, slice) && (best == nothing || earlier(slice, best)))
            best = slice;
    }
    return best == nothing ? first : best;
}

std::size_t number_of(const TimelineData& data, const SearchMatches& matches, std::uint32_t slice)
{
    if (slice == nothing || matches.slices.empty())
        return 0;
    const auto row = matches.of(data.row_of_slice(slice));
    if (!std::ranges::binary_search(row, slice))
        return 0;
    return static_cast<std::size_t>(std::ranges::count_if(matches.slices, [&](std::uint32_t other) {
        return place_of(data, other) <= place_of(data, slice);
    }));
}

std::uint32_t same_name(const TimelineData& data, std::uint32_t slice, Toward toward)
{
    // A record that waits has two slices: the next of a name is another record's.
    for (std::uint32_t at = neighbour(data, slice, toward); at != nothing;
         at = neighbour(data, at, toward))
        if (data.slices.name[at] == data.slices.name[slice] &&
            data.slices.record[at] != data.slices.record[slice])
            return at;
    return nothing;
}

std::uint32_t neighbour(const TimelineData& data, std::uint32_t slice, Toward toward)
{
    const SliceRow& row = data.rows[data.row_of_slice(slice)];
    if (toward == Toward::next)
        return slice + 1 < row.end() ? slice + 1 : nothing;
    return slice > row.first ? slice - 1 : nothing;
}

std::vector<RangeEntry> entries_in(const TimelineData& data, TimeRange range,
                                   std::span<const std::uint32_t> rows)
{
    // By run, name and kind, dense: many slices, few names.
    const std::size_t of_run = data.names.size() * time_kind_count;
    std::vector<RangeEntry> all(data.shift.size() * of_run);
    for (const std::uint32_t r : rows) {
        const SliceRow& row = data.rows[r];
        const std::size_t first = data.tracks[row.track].run * of_run;
        for (std::uint32_t i = data.first_ending_after(row, range.from);
             i < row.end() && data.slices.start[i] < range.to; ++i)
        {
            RangeEntry& entry = all[first + data.slices.name[i] * time_kind_count +
                                    static_cast<std::size_t>(data.slices.kind[i])];
            const SimTime inside =
                std::min(range.to, data.slices.end[i]) - std::max(range.from, data.slices.start[i]);
            ++entry.count;
            entry.total += inside;
            if (entry.example == nothing || inside > entry.longest) {
                entry.longest = inside;
                entry.example = i;
            }
        }
    }
    std::vector<RangeEntry> entries;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].count > 0) {
            all[i].run = static_cast<std::uint8_t>(i / of_run);
            all[i].name = static_cast<std::uint32_t>(i % of_run / time_kind_count);
            all[i].kind = static_cast<TimeKind>(i % time_kind_count);
            entries.push_back(all[i]);
        }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const RangeEntry& a, const RangeEntry& b) { return a.total > b.total; });
    return entries;
}

} // namespace trainyard::gui

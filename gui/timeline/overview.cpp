#include "gui/timeline/overview.h"

#include "sim/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr std::size_t cells_per_column = 4; // of which each counts as the kind that fills most
constexpr double grip_reach = 5;            // pixels from an end of the window

std::vector<std::uint32_t> rank_rows(const TimelineData& data)
{
    std::vector<std::uint32_t> rows;
    for (const Track& track : data.tracks)
        if (track.kind == TrackKind::rank && track.run == 0 && track.row != nothing)
            rows.push_back(track.row);
    return rows;
}

} // namespace

std::vector<OverviewShares> make_overview(const TimelineData& data,
                                          const std::vector<RowPyramid>& pyramids,
                                          std::size_t columns, const WorkControl& work)
{
    using Weights = std::vector<std::array<std::uint32_t, time_kind_count>>;
    const std::vector<std::uint32_t> rows = rank_rows(data);
    const std::size_t parts =
        std::min(rows.size(), static_cast<std::size_t>(usable_threads())); // a sum each
    std::vector<Weights> sums(parts, Weights(columns));
    for_each_index(parts, usable_threads(), [&](std::size_t part) {
        std::vector<Bucket> cells(columns * cells_per_column);
        for (std::size_t i = part; i < rows.size(); i += parts) {
            work.check();
            fill_cells(data, data.rows[rows[i]], pyramids[rows[i]], data.whole, cells);
            for (std::size_t c = 0; c < cells.size(); ++c)
                sums[part][c / cells_per_column][static_cast<std::size_t>(cells[c].kind)] +=
                    cells[c].busy;
        }
    });
    std::vector<OverviewShares> shares(rows.empty() ? 0 : columns);
    for (std::size_t c = 0; c < shares.size(); ++c)
        for (std::size_t k = 0; k < time_kind_count; ++k) {
            std::uint64_t sum = 0;
            for (const Weights& part : sums)
                sum += part[c][k];
            shares[c][k] = static_cast<std::uint16_t>(sum / (rows.size() * cells_per_column));
        }
    return shares;
}

OverviewWindow window_of(const TimeScale& band, TimeRange in_sight)
{
    const double left = band.x_of(in_sight.from);
    const double right = band.x_of(in_sight.to);
    if (right - left >= least_overview_window)
        return {left, right};
    const double from =
        std::clamp((left + right - least_overview_window) / 2, band.left,
                   std::max(band.left, band.left + band.width - least_overview_window));
    return {from, from + least_overview_window};
}

OverviewGrip grip_at(const OverviewWindow& window, double x)
{
    const double inside = std::min(grip_reach, (window.right - window.left) / 4);
    if (x >= window.left - grip_reach && x <= window.left + inside)
        return OverviewGrip::left;
    if (x >= window.right - inside && x <= window.right + grip_reach)
        return OverviewGrip::right;
    return x > window.left && x < window.right ? OverviewGrip::middle : OverviewGrip::outside;
}

TimeRange dragged(const TimeScale& band, TimeRange before, OverviewGrip grip, double by)
{
    const SimTime moved = band.time_of(by);
    const SimTime pixel = std::max(SimTime(1000), band.time_of(1));
    if (grip == OverviewGrip::left)
        return {std::clamp(before.from + moved, band.range.from,
                           std::max(band.range.from, before.to - pixel)),
                before.to};
    if (grip == OverviewGrip::right)
        return {before.from,
                std::clamp(before.to + moved, std::min(band.range.to, before.from + pixel),
                           band.range.to)};
    const SimTime from = std::clamp(before.from + moved, band.range.from,
                                    std::max(band.range.from, band.range.to - before.length()));
    return {from, from + before.length()};
}

TimeRange centred(const TimeScale& band, TimeRange before, double x)
{
    const SimTime half = before.length() / 2;
    const SimTime at = band.time_at(x) - half;
    return dragged(band, {at, at + before.length()}, OverviewGrip::middle, 0);
}

} // namespace trainyard::gui

#include "gui/timeline/overview.h"

#include "sim/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double grip_reach = 5; // pixels from an end of the window

std::vector<std::uint32_t> rank_rows(const TimelineData& data)
{
    std::vector<std::uint32_t> rows;
    for (const Track& track : data.tracks)
        if (track.kind == TrackKind::rank && track.run == 0 && track.row != nothing)
            rows.push_back(track.row);
    return rows;
}

} // namespace

std::vector<Bucket> make_overview(const TimelineData& data, const std::vector<RowPyramid>& pyramids,
                                  std::size_t columns, const WorkControl& work)
{
    using Weights = std::vector<std::array<std::uint32_t, time_kind_count>>;
    const std::vector<std::uint32_t> rows = rank_rows(data);
    const std::size_t parts =
        std::min(rows.size(), static_cast<std::size_t>(usable_threads())); // a sum each
    std::vector<Weights> sums(parts, Weights(columns));
    for_each_index(parts, usable_threads(), [&](std::size_t part) {
        std::vector<Bucket> cells(columns);
        for (std::size_t i = part; i < rows.size(); i += parts) {
            work.check();
            fill_cells(data, data.rows[rows[i]], pyramids[rows[i]], data.whole, cells);
            for (std::size_t c = 0; c < columns; ++c)
                for (std::size_t k = 0; k < time_kind_count; ++k)
                    sums[part][c][k] += cells[c].shares[k];
        }
    });
    std::vector<Bucket> shares(rows.empty() ? 0 : columns);
    for (std::size_t c = 0; c < shares.size(); ++c) {
        for (std::size_t part = 1; part < parts; ++part)
            for (std::size_t k = 0; k < time_kind_count; ++k)
                sums[0][c][k] += sums[part][c][k];
        shares[c] = bucket_of(sums[0][c], static_cast<double>(rows.size() * full_bucket));
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

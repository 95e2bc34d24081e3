#include "gui/timeline/row_cells.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

using Weights = std::array<std::uint32_t, time_kind_count>;

Bucket most_of(const Weights& weights, std::uint32_t ranks)
{
    const auto most = std::max_element(weights.begin(), weights.end());
    std::uint32_t busy = 0;
    for (const std::uint32_t weight : weights)
        busy += weight;
    return {static_cast<std::uint16_t>(busy / ranks), static_cast<TimeKind>(most - weights.begin()),
            false};
}

void cells_of_node(const TimelineModel& model, const Track& node, TimeRange range,
                   std::span<Bucket> cells)
{
    std::vector<Weights> weights(cells.size());
    std::uint32_t ranks = 0;
    const auto first = static_cast<std::uint32_t>(&node - model.data.tracks.data());
    for (std::uint32_t t = first + 1; t < node.end; t = model.data.tracks[t].end) {
        if (model.data.tracks[t].row == nothing)
            continue;
        ++ranks;
        cells_of(model, t, range, cells);
        for (std::size_t i = 0; i < cells.size(); ++i)
            weights[i][static_cast<std::size_t>(cells[i].kind)] += cells[i].busy;
    }
    std::fill(cells.begin(), cells.end(), Bucket{});
    for (std::size_t i = 0; ranks > 0 && i < cells.size(); ++i)
        cells[i] = most_of(weights[i], ranks);
}

} // namespace

void cells_of(const TimelineModel& model, std::uint32_t track, TimeRange range,
              std::span<Bucket> cells)
{
    const Track& at = model.data.tracks[track];
    if (at.row != nothing)
        fill_cells(model.data, model.data.rows[at.row], model.pyramids[at.row], range, cells);
    else if (at.kind == TrackKind::node)
        cells_of_node(model, at, range, cells);
    else
        std::fill(cells.begin(), cells.end(), Bucket{});
}

void find_wide_slices(const TimelineData& data, const SliceRow& row, const TimeScale& scale,
                      std::span<const Bucket> cells, double least,
                      std::vector<std::uint32_t>& found)
{
    const double cell = scale.width / static_cast<double>(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!cells[i].covered)
            continue;
        const double middle = scale.left + (static_cast<double>(i) + 0.5) * cell;
        const std::uint32_t slice = data.slice_at(row, scale.time_at(middle));
        if (slice == nothing ||
            scale.pixels(data.slices.end[slice] - data.slices.start[slice]) < least)
            continue;
        if (found.empty() || found.back() != slice)
            found.push_back(slice);
        // On to the cell in which it ends.
        const double end = (scale.x_of(data.slices.end[slice]) - scale.left) / cell;
        i = std::max(i, static_cast<std::size_t>(
                            std::clamp(end - 1, 0.0, static_cast<double>(cells.size()))));
    }
}

} // namespace trainyard::gui

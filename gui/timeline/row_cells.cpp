#include "gui/timeline/row_cells.h"

#include "sim/base/parallel.h"

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

// Two pixels to a cell: there are as many ranks to go through as a screen has lines.
void cells_of_group(const TimelineModel& model, std::uint32_t group, TimeRange range,
                    std::span<Bucket> cells)
{
    const std::span<Bucket> coarse = cells.first((cells.size() + 1) / 2);
    std::vector<Weights> weights(coarse.size());
    std::uint32_t ranks = 0;
    const auto& tracks = model.data.tracks;
    for (std::uint32_t t = group + 1; t < tracks[group].end; t = tracks[t].end) {
        if (tracks[t].row == nothing)
            continue;
        ++ranks;
        cells_of(model, t, range, coarse);
        for (std::size_t i = 0; i < coarse.size(); ++i)
            weights[i][static_cast<std::size_t>(coarse[i].kind)] += coarse[i].busy;
    }
    for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i] =
            ranks == 0 ? Bucket{} : most_of(weights[i * coarse.size() / cells.size()], ranks);
}

} // namespace

void cells_of(const TimelineModel& model, std::uint32_t track, TimeRange range,
              std::span<Bucket> cells)
{
    const Track& at = model.data.tracks[track];
    if (at.row != nothing)
        fill_cells(model.data, model.data.rows[at.row], model.pyramids[at.row], range, cells);
    else if (at.kind == TrackKind::group)
        cells_of_group(model, track, range, cells);
    else
        std::fill(cells.begin(), cells.end(), Bucket{});
}

void RowCells::look_at(const TimelineModel& model, TimeRange range, std::size_t width)
{
    constexpr std::size_t most_rows = 2048; // kept of lines out of sight
    if (model_ == &model && range_ == range && width_ == width && rows_.size() <= most_rows)
        return;
    model_ = &model;
    range_ = range;
    width_ = width;
    for (auto& [track, cells] : rows_)
        spare_.push_back(std::move(cells));
    rows_.clear();
}

void RowCells::fill(std::span<const Line> lines)
{
    constexpr std::size_t cells_per_thread = 16'384; // fewer are done before a thread has begun
    std::vector<std::pair<std::uint32_t, std::vector<Bucket>*>> missing;
    for (const Line& line : lines) {
        const auto [at, fresh] = rows_.try_emplace(line.track);
        if (!fresh)
            continue;
        if (!spare_.empty()) {
            at->second = std::move(spare_.back());
            spare_.pop_back();
        }
        at->second.resize(width_);
        missing.emplace_back(line.track, &at->second);
    }
    filled_ += missing.size();
    const std::size_t threads = missing.size() * width_ / cells_per_thread;
    for_each_index(
        missing.size(),
        static_cast<int>(
            std::min<std::size_t>(threads, static_cast<std::size_t>(usable_threads()))),
        [&](std::size_t i) { cells_of(*model_, missing[i].first, range_, *missing[i].second); });
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

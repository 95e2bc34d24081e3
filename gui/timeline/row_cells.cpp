#include "gui/timeline/row_cells.h"

#include "sim/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

using Weights = std::array<std::uint32_t, time_kind_count>;

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
            for (std::size_t k = 0; k < time_kind_count; ++k)
                weights[i][k] += coarse[i].shares[k];
    }
    for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i] = ranks == 0 ? Bucket{}
                              : bucket_of(weights[i * coarse.size() / cells.size()],
                                          ranks * double{full_bucket});
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

std::optional<std::ptrdiff_t> RowCells::cells_later(TimeRange range) const
{
    constexpr double least_cell = 64;      // ps: below, a cell's own length is rounded too much
    constexpr double nearly_none = 0.0625; // of a cell
    const double cell = as_double(range.length()) / static_cast<double>(width_);
    if (range.length() != range_.length() || cell < least_cell)
        return std::nullopt;
    const double moved = as_double(range.from - range_.from) / cell;
    const double whole = std::round(moved);
    if (std::abs(moved - whole) > nearly_none ||
        std::abs(whole - static_cast<double>(moved_)) >= static_cast<double>(width_))
        return std::nullopt;
    return static_cast<std::ptrdiff_t>(whole) - moved_;
}

TimeRange RowCells::range_of(std::size_t first, std::size_t end) const
{
    const double cell = as_double(range_.length()) / static_cast<double>(width_);
    const auto edge = [&](std::size_t at) {
        return range_.from + SimTime(std::llround(
                                 cell * (static_cast<double>(moved_) + static_cast<double>(at))));
    };
    return {edge(first), edge(end)};
}

void RowCells::let_go_but(std::span<const Line> kept)
{
    std::unordered_map<std::uint32_t, Row> rows;
    for (const Line& line : kept)
        if (const auto at = rows_.find(line.track); at != rows_.end())
            rows.insert(rows_.extract(at));
    for (auto& [track, cells] : rows_)
        spare_.push_back(std::move(cells));
    rows_ = std::move(rows);
}

// What stays in sight moves over; what came into sight is missing.
void RowCells::move(std::ptrdiff_t later, std::span<const Line> lines,
                    std::vector<Missing>& missing)
{
    let_go_but(lines);
    moved_ += later;
    const auto by = static_cast<std::size_t>(std::abs(later));
    for (auto& [track, cells] : rows_) {
        if (model_->data.tracks[track].kind == TrackKind::group) { // two pixels to a cell
            missing.push_back({track, range_of(0, width_), cells});
            continue;
        }
        const std::size_t first = later > 0 ? width_ - by : 0;
        if (later > 0)
            std::copy(cells.begin() + later, cells.end(), cells.begin());
        else
            std::copy_backward(cells.begin(), cells.end() + later, cells.end());
        missing.push_back(
            {track, range_of(first, first + by), std::span(cells).subspan(first, by)});
    }
}

void RowCells::fill(const TimelineModel& model, TimeRange range, std::size_t width,
                    std::span<const Line> lines)
{
    constexpr std::size_t most_rows = 2048;          // kept of lines out of sight
    constexpr std::size_t cells_per_thread = 32'768; // fewer are done before a thread has begun
    std::vector<Missing> missing;
    const bool same = model_ == &model && width_ == width && width > 0;
    if (const auto later = same ? cells_later(range) : std::nullopt; !later) {
        let_go_but({});
        model_ = &model;
        range_ = range;
        moved_ = 0;
        width_ = width;
    } else if (*later != 0)
        move(*later, lines, missing);
    if (rows_.size() > most_rows)
        let_go_but(lines);
    for (const Line& line : lines) {
        const auto [at, fresh] = rows_.try_emplace(line.track);
        if (!fresh)
            continue;
        if (!spare_.empty()) {
            at->second = std::move(spare_.back());
            spare_.pop_back();
        }
        at->second.resize(width_);
        missing.push_back({line.track, range_of(0, width_), at->second});
        ++filled_;
    }
    std::size_t cells = 0;
    for (const Missing& one : missing)
        cells += one.cells.size();
    made_ += cells;
    state_ += missing.empty() ? 0 : 1;
    for_each_index(missing.size(),
                   static_cast<int>(std::min<std::size_t>(
                       cells / cells_per_thread, static_cast<std::size_t>(usable_threads()))),
                   [&](std::size_t i) {
                       cells_of(*model_, missing[i].track, missing[i].range, missing[i].cells);
                   });
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

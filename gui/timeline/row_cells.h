#pragma once

// What a track shows per pixel, and which of its slices are wide enough to be drawn one by one.

#include "gui/timeline/geometry.h"
#include "gui/timeline/timeline_model.h"

namespace trainyard::gui {

// Of `cells.size()` equal stretches of `range`. A group shows the mean of its ranks.
void cells_of(const TimelineModel& model, std::uint32_t track, TimeRange range,
              std::span<Bucket> cells);

// The cells of lines, kept while time and width stay: scrolling, hovering and the cursor ask for no
// new ones. What is moved in time by whole cells keeps those that stay in sight.
class RowCells {
public:
    // Cells of these lines, `width` over the range: those that are not there yet are made, on
    // several threads where they are many. What was kept of another model, time or width is let go.
    void fill(const TimelineModel& model, TimeRange range, std::size_t width,
              std::span<const Line> lines);
    std::span<const Bucket> of(std::uint32_t track) const { return rows_.at(track); }
    // The model's address may be used again.
    void forget() { model_ = nullptr; }
    std::size_t filled() const { return filled_; } // rows, ever
    std::size_t made() const { return made_; }     // cells, ever
    // Another number whenever any cells are others than before.
    std::uint64_t state() const { return state_; }

private:
    using Row = std::vector<Bucket>;
    struct Missing {
        std::uint32_t track = 0;
        TimeRange range;
        std::span<Bucket> cells;
    };

    // By how many cells the new range lies later than the old, where it is a whole number.
    std::optional<std::ptrdiff_t> cells_later(TimeRange range) const;
    void move(std::ptrdiff_t later, std::span<const Line> lines, std::vector<Missing>& missing);
    void let_go_but(std::span<const Line> kept);
    TimeRange range_of(std::size_t first, std::size_t end) const;

    const TimelineModel* model_ = nullptr;
    TimeRange range_{SimTime(0), SimTime(0)}; // of the cells, but for the moves since
    std::ptrdiff_t moved_ = 0;                // cells
    std::size_t width_ = 0;
    std::size_t filled_ = 0;
    std::size_t made_ = 0;
    std::uint64_t state_ = 0;
    std::unordered_map<std::uint32_t, Row> rows_; // by track
    std::vector<Row> spare_;                      // of rows let go
};

// Slices of the row at least `least` pixels long, in time. `cells` are the row's over the scale;
// `least` must be two of them or more.
void find_wide_slices(const TimelineData& data, const SliceRow& row, const TimeScale& scale,
                      std::span<const Bucket> cells, double least,
                      std::vector<std::uint32_t>& found);

} // namespace trainyard::gui

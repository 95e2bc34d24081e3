#pragma once

// What a track shows per pixel, and which of its slices are wide enough to be drawn one by one.

#include "gui/timeline/geometry.h"
#include "gui/timeline/timeline_model.h"

namespace trainyard::gui {

// Of `cells.size()` equal stretches of `range`. A group shows what most of its ranks do.
void cells_of(const TimelineModel& model, std::uint32_t track, TimeRange range,
              std::span<Bucket> cells);

// The cells of lines in sight, kept while time and width stay: scrolling, hovering and the cursor
// ask for no new ones.
class RowCells {
public:
    // What was kept of another model, time or width is let go.
    void look_at(const TimelineModel& model, TimeRange range, std::size_t width);
    // Those that are not there yet, on several threads where they are many.
    void fill(std::span<const Line> lines);
    std::span<const Bucket> of(std::uint32_t track) const { return rows_.at(track); }
    // The model's address may be used again.
    void forget() { model_ = nullptr; }
    std::size_t filled() const { return filled_; } // rows, ever

private:
    const TimelineModel* model_ = nullptr;
    TimeRange range_{SimTime(0), SimTime(0)};
    std::size_t width_ = 0;
    std::size_t filled_ = 0;
    std::unordered_map<std::uint32_t, std::vector<Bucket>> rows_; // by track
    std::vector<std::vector<Bucket>> spare_;                      // of rows let go
};

// Slices of the row at least `least` pixels long, in time. `cells` are the row's over the scale;
// `least` must be two of them or more.
void find_wide_slices(const TimelineData& data, const SliceRow& row, const TimeScale& scale,
                      std::span<const Bucket> cells, double least,
                      std::vector<std::uint32_t>& found);

} // namespace trainyard::gui

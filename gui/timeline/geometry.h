#pragma once

// Where time and tracks lie on the screen. Pixels are logical ones.

#include "gui/timeline/timeline_data.h"

#include <optional>
#include <set>

namespace trainyard::gui {

// Time along x.
struct TimeScale {
    TimeRange range;
    double left = 0; // of range.from
    double width = 1;

    double x_of(SimTime time) const;
    SimTime time_at(double x) const; // beyond the ends, too
    double pixels(SimTime length) const;
    SimTime time_of(double pixels) const;
    // `factor` > 1: closer; `about` stays where it is. At least a nanosecond long.
    TimeRange zoomed(double factor, SimTime about) const;
    TimeRange panned(double pixels) const;
};

// Times for the marks of an axis.
struct AxisTicks {
    SimTime first; // multiples of `step` from the origin
    SimTime step;
};
// About `apart` pixels from one to the next, in steps of 1, 2 or 5 times a power of ten.
AxisTicks ticks_of(const TimeScale& scale, SimTime origin, double apart);

// Tracks down y.
struct Line {
    std::uint32_t track = 0;
    int y = 0;
    int height = 0;

    int bottom() const { return y + height; }
    bool operator==(const Line&) const = default;
};

inline constexpr int least_line_height = 3;
inline constexpr int usual_line_height = 18;
inline constexpr int most_line_height = 60;

// Lanes that are pinned, in their order, and hidden, by name: "stage 1", "rank 3/compute".
struct LaneMarks {
    std::vector<std::string> pinned;
    std::vector<std::string> hidden;

    bool operator==(const LaneMarks&) const = default;
};

// Lines of the tracks whose ancestors are open, from y 0 down; pinned ones first, hidden ones not.
class TrackLayout {
public:
    TrackLayout() = default;
    // `data` outlives this. Opens what can be read at a glance: the streams of one rank, the ranks
    // of few groups.
    explicit TrackLayout(const TimelineData& data);
    // What is open, pinned and hidden in `before`, of the same ranks in another order.
    void adopt(const TrackLayout& before);

    // Goes over to other data with the same tracks.
    void rebase(const TimelineData& data) { data_ = &data; }

    const std::vector<Line>& lines() const { return lines_; }
    int height() const { return lines_.empty() ? 0 : lines_.back().bottom(); }
    // Of the pinned lines that stay where they are while the others scroll below them: whole ones,
    // at most half of the room.
    int held_height(int room) const;
    int line_height() const { return line_height_; }
    void set_line_height(int height); // clamped

    bool open(std::uint32_t track) const { return open_[track]; }
    bool can_open(std::uint32_t track) const;
    void set_open(std::uint32_t track, bool open);
    void toggle(std::uint32_t track) { set_open(track, !open(track)); }
    void set_all_open(TrackKind kind, bool open);
    // Opens its ancestors, and shows what is hidden of them.
    void reveal(std::uint32_t track);

    bool pinned(std::uint32_t track) const;
    // To the top, below those pinned before; or back to where it belongs.
    void set_pinned(std::uint32_t track, bool pinned);
    // With all that hangs in it. The last line in sight stays.
    void hide(std::uint32_t track);
    void show_hidden();
    std::size_t hidden_count() const { return hidden_.size(); }
    LaneMarks marks() const;
    // Pins and hides what there is of these.
    void mark(const LaneMarks& marks);
    void clear_marks();

    // Index into lines() of what lies at `y`.
    std::optional<std::size_t> line_at(int y) const;
    std::optional<std::size_t> line_of(std::uint32_t track) const;
    // The first line below `y` or at it.
    std::size_t first_line(int y) const;

private:
    void lay_out();
    void add_lines(std::uint32_t first, std::uint32_t end);

    const TimelineData* data_ = nullptr;
    std::vector<bool> open_;             // by track
    std::vector<std::uint32_t> pinned_;  // tracks, in the order in which they were pinned
    std::set<std::uint32_t> hidden_;     // tracks
    std::vector<std::uint32_t> line_of_; // by track: into lines_, or nothing
    std::vector<Line> lines_;
    int pinned_height_ = 0;
    int line_height_ = usual_line_height;
};

// The slice of a row at x: the one there, else the nearest one that is at most `reach` pixels away.
std::uint32_t hit_slice(const TimelineData& data, const SliceRow& row, const TimeScale& scale,
                        double x, double reach);

} // namespace trainyard::gui

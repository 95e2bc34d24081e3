#pragma once

// Parallel coordinates of points: an upright axis for each of some metrics, a line for each point
// that can be, and what is brushed on the axes. Places are from 0 at the bottom to 1 at the top.

#include "gui/explore/metrics.h"

#include <map>

namespace trainyard::gui {

struct ParallelAxis {
    Metric metric;
    bool flipped = false; // small values above
    double low = 0;       // of its values; of a field half a place beyond them
    double high = 0;
    bool known = false;   // ends, of any value
    bool lacking = false; // of points that can be: these are at its foot

    bool logarithmic() const; // where values span much
    double place(double value) const;
    double value(double place) const;
};

// Values from `low` to `high`, both included; of a field numbers of its values.
struct Brush {
    double low = 0;
    double high = 0;

    bool holds(double value) const { return value >= low && value <= high; }
    bool operator==(const Brush&) const = default;
};

// Which axes there are; kept between sweeps and in sessions.
struct ParallelChoice {
    std::vector<QString> axes; // keys, from left to right; empty: the usual ones
    std::vector<QString> flipped;

    bool operator==(const ParallelChoice&) const = default;
};

class ParallelModel {
public:
    // The store outlives it.
    explicit ParallelModel(const PointStore& store) : store_(store) {}

    // Another sweep, other figures of the same points, or other axes. Brushes of axes that stay are
    // kept while the swept fields are the same.
    void restart(std::vector<Metric> metrics);
    void set_choice(ParallelChoice choice);
    const ParallelChoice& choice() const { return choice_; }
    const std::vector<Metric>& metrics() const { return metrics_; }
    // The fields that are swept, then the rate or time, memory and MFU.
    std::vector<QString> usual_axes() const;
    std::vector<QString> keys() const; // of the axes there are, then of those without a value yet

    void show_axis(const QString& key, bool shown);
    void move_axis(std::size_t axis, int by);
    void flip_axis(std::size_t axis);

    // The store has grown. True where an axis reaches further now, or there are other axes: all
    // places are others.
    bool follow();
    const std::vector<ParallelAxis>& axes() const { return axes_; }
    // Followed so far; the places of those that cannot be are NaN.
    std::uint32_t size() const { return followed_; }
    float place(std::size_t axis, std::uint32_t point) const;

    const Brush* brush(std::size_t axis) const;
    bool brushed() const { return !brushes_.empty(); }
    void set_brush(std::size_t axis, std::optional<Brush> brush);
    void clear_brushes() { brushes_.clear(); }
    // The points that can be and are within all brushes.
    std::vector<std::uint32_t> within_brushes() const;
    // The value of a field alone; of a figure all that is as good as the point's or better.
    std::optional<Brush> brush_at(std::size_t axis, std::uint32_t point) const;

    // The next on that axis, upwards or downwards, of a number that is no point the first of them;
    // nothing: it is the last.
    std::optional<std::uint32_t> neighbour(std::size_t axis, std::uint32_t point, int by) const;

private:
    void make_axes();
    void fill_places(std::uint32_t from);
    bool has_values(const Metric& metric, std::uint32_t from) const;

    const PointStore& store_;
    std::vector<Metric> metrics_;
    ParallelChoice choice_;
    std::vector<ParallelAxis> axes_;
    std::vector<QString> hidden_;            // axes that no point has a value of
    std::vector<std::vector<float>> places_; // by axis, by point
    std::map<QString, Brush> brushes_;
    std::uint32_t followed_ = 0;
};

} // namespace trainyard::gui

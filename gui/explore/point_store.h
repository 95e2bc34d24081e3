#pragma once

// The points that a sweep has found: a few figures of each, in columns.

#include "sim/report/sweep/sweep_row.h"

#include <limits>
#include <map>

namespace trainyard::gui {

// What is kept of each point.
const std::vector<const Figure*>& kept_figures();
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// What the sweep hands over of a point.
struct FoundPoint {
    std::size_t index = 0;       // in the grid
    std::vector<double> figures; // those kept; unknown: NaN
    std::string reason;          // why it cannot be; empty: it can
    std::string hint;
    Hindrance hindrance; // of what cannot be
};
FoundPoint found_point(const PointRow& row);

// Points that cannot be for the lack of memory, or for one field.
struct ReasonKind {
    std::string example;
    std::string hint;
    std::size_t count = 0;
    bool memory = false; // too little of it
    std::string pointer; // of the field at fault
};

// A scenario beside the grid, drawn and listed among its points: the one that is open.
struct Guest {
    std::vector<double> figures;    // those kept; unknown: NaN
    std::vector<double> places;     // by axis: among the values (2.5: between two); unknown: NaN
    std::vector<std::string> names; // by axis: its values
    std::string reason;             // why it cannot be; empty: it can, or is not known yet

    bool operator==(const Guest&) const = default;
};

// Points have numbers in the order in which they were found.
class PointStore {
public:
    // Forgets all.
    void reset(SweepGrid grid);
    void add(std::vector<FoundPoint> found);

    const SweepGrid& grid() const { return grid_; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(index_.size()); }
    std::size_t feasible_count() const { return feasible_count_; }

    // The number by which the guest is asked for, where there is one: its figures, places and
    // names, whether and why not it can be. It is none of the `size()` points.
    static constexpr std::uint32_t guest = std::numeric_limits<std::uint32_t>::max() - 1;
    void set_guest(std::optional<Guest> of);
    const std::optional<Guest>& guest_scenario() const { return guest_; }
    bool has(std::uint32_t point) const { return point < size() || (point == guest && guest_); }

    // Of a column of kept_figures(), or of the one with that key.
    double figure(std::uint32_t point, std::size_t column) const
    {
        return point == guest ? guest_->figures[column] : figures_[column][point];
    }
    double figure(std::uint32_t point, std::string_view key) const;
    std::size_t index(std::uint32_t point) const { return index_[point]; } // in the grid
    // Which of the axis' values.
    std::size_t value(std::uint32_t point, std::size_t axis) const
    {
        return index_[point] / strides_[axis] % grid_.axes[axis].values.size();
    }
    // Where it stands among them.
    double place(std::uint32_t point, std::size_t axis) const
    {
        return point == guest ? guest_->places[axis] : static_cast<double>(value(point, axis));
    }
    const std::string& value_name(std::uint32_t point, std::size_t axis) const
    {
        return point == guest ? guest_->names[axis] : grid_.axes[axis].values[value(point, axis)];
    }
    bool feasible(std::uint32_t point) const
    {
        return point == guest ? guest_->reason.empty() : kind_[point] == 0;
    }
    // Empty where it can be.
    const std::string& reason(std::uint32_t point) const
    {
        return point == guest ? guest_->reason : reason_[point];
    }
    // Into `kinds`; 0: it can be.
    std::uint32_t kind(std::uint32_t point) const { return kind_[point]; }
    const std::vector<ReasonKind>& kinds() const { return kinds_; }
    // The point that does not fit by the least; nothing where none failed for memory.
    std::optional<std::uint32_t> nearest() const { return nearest_; }
    // The number of the grid's point; nothing: not found yet.
    std::optional<std::uint32_t> find(std::size_t index) const;

private:
    std::uint32_t kind_of(const FoundPoint& point);

    SweepGrid grid_;
    std::vector<std::size_t> strides_;
    std::vector<std::size_t> index_;
    std::vector<std::vector<double>> figures_ =
        std::vector<std::vector<double>>(kept_figures().size()); // by column
    std::vector<std::string> reason_;
    std::vector<std::uint32_t> kind_;
    std::vector<ReasonKind> kinds_{ReasonKind{}};
    std::map<Hindrance, std::uint32_t> kind_by_hindrance_;
    std::size_t feasible_count_ = 0;
    std::optional<std::uint32_t> nearest_;
    std::optional<Guest> guest_;
};

// How much memory a point lacks, in bytes. Requires both figures.
double missing_memory(const PointStore& store, std::uint32_t point);

} // namespace trainyard::gui

#pragma once

// Points on two axes with the front, the marked, the current and the pinned; below them a strip of
// those that cannot be.

#include "gui/explore/marks.h"
#include "gui/explore/pareto.h"
#include "gui/explore/point_colours.h"
#include "gui/widgets/chart.h"

#include <set>

namespace trainyard::gui {

// What is drawn against what. Without a colour all points look the same.
struct ScatterAxes {
    Metric x;
    Metric y;
    std::optional<Metric> colour;
    bool log_x = false;
    bool log_y = false;
};

class ScatterChart : public Chart {
    Q_OBJECT

public:
    // Both outlive it.
    ScatterChart(const PointStore& store, Marks& marks, QWidget* parent = nullptr);

    // All is drawn anew.
    void set_axes(const ScatterAxes& axes);
    // The store has grown.
    void follow();
    void fit();
    // Numbered from one on.
    void set_pinned(const std::vector<std::uint32_t>& points);
    // The open scenario: a point, or the store's guest; nothing: it is not told.
    void set_here(std::optional<std::uint32_t> point);

    const ParetoFront& front() const { return front_; }
    // Where a point is seen, in pixels of the widget.
    QPointF place_of(std::uint32_t point) const;
    // The nearest that can be in that direction (arrow keys).
    std::optional<std::uint32_t> neighbour(std::uint32_t point, Qt::Key arrow) const;
    std::size_t plotted() const { return points_.size(); }

signals:
    void opened(std::uint32_t point); // double-clicked
    void frontChanged();
    void hovered(std::uint32_t point, const QPoint& global);
    void menuWanted(std::uint32_t point, const QPoint& global);

private:
    void make_layout();
    void make_styles();
    void label_axis(QCPAxis& axis, const Metric& metric, bool logarithmic);
    void add_point(std::uint32_t point);
    std::pair<double, bool> place_across(std::uint32_t point) const;
    void place_others(std::uint32_t from);
    void place_name();
    void fit_ranges();
    void draw_capacity();
    void draw_front();
    void draw_marks();
    void draw_here();
    std::optional<QPointF> coordinates_of(std::uint32_t point) const;
    std::optional<std::uint32_t> point_at(const QPointF& pixel) const;
    void brush(const QRect& pixels, Qt::KeyboardModifiers modifiers);

    static constexpr int name_gap = 9; // pixels from the open scenario's mark to its name

    const PointStore& store_;
    Marks& marks_;
    ScatterAxes axes_;
    PointColours colours_;
    CloudPoints points_; // that can be
    CloudPoints others_; // in the strip
    CloudPoints marked_;
    CloudPoints marked_others_;
    ParetoFront front_;
    QCPRange range_x_; // of the points
    QCPRange range_y_;
    std::set<double> capacities_; // of the points' devices, where the x axis is memory
    QPoint pressed_;
    bool zoomed_ = false; // by hand: it stays
    bool fitting_ = false;
    QCPAxisRect* strip_ = nullptr;
    PointCloud* cloud_ = nullptr;
    PointCloud* strip_cloud_ = nullptr;
    PointCloud* mark_cloud_ = nullptr;
    PointCloud* mark_strip_cloud_ = nullptr;
    QCPGraph* front_line_ = nullptr;
    QCPGraph* current_ = nullptr;
    QCPGraph* here_mark_ = nullptr;
    QCPGraph* here_strip_mark_ = nullptr;
    QCPItemStraightLine* capacity_line_ = nullptr;
    QCPItemText* capacity_name_ = nullptr;
    QCPItemText* here_name_ = nullptr;
    QCPItemText* beyond_ = nullptr; // how many of the strip's points are further off
    std::size_t beyond_count_ = 0;
    std::optional<std::uint32_t> here_;
    class ScaleKey;
    ScaleKey* key_ = nullptr;
    std::vector<QCPGraph*> samples_; // of the legend
    std::vector<QCPItemText*> pins_;
    std::vector<std::uint32_t> pinned_;
};

} // namespace trainyard::gui

#pragma once

// Parallel coordinates as a picture: the same on screen, as PNG and as SVG.

#include "gui/explore/line_cloud.h"
#include "gui/explore/marks.h"
#include "gui/explore/parallel_model.h"
#include "gui/explore/point_colours.h"

#include <QRect>

namespace trainyard::gui {

// Where things are in a picture of some size, in points.
struct ParallelFrame {
    QRect lines;          // what the lines are drawn in
    std::vector<int> x;   // of the axes
    QRect colours;        // the legend
    int label_height = 0; // of the names above

    ParallelFrame(const QSize& size, const ParallelModel& model, const QSize& legend,
                  const QFontMetrics& letters);
    // The axis within reach of that column; nothing: none.
    std::optional<std::size_t> axis_at(int column, int reach) const;
    double place_at(int row) const; // 1 at the top of the lines
    double row_of(double place) const;
};

// All that the picture depends on.
struct ParallelScene {
    const PointStore& store;
    const ParallelModel& model;
    const Marks& marks;
    const PointColours& colours;
    std::vector<std::uint32_t> pinned;
    std::optional<std::uint32_t> here;    // the open scenario
    std::optional<std::uint32_t> hovered; // on screen
    std::optional<std::size_t> focused;   // axis, on screen
    QString note;                         // below
};

// The lines of all points that can be, and of the marked ones. The scene outlives them.
LineCloud::Lines all_lines(const ParallelScene& scene);
LineCloud::Lines marked_lines(const ParallelScene& scene);
std::vector<QColor> line_colours(const PointColours& colours, const QPalette& palette);

// Under the lines, and over them.
void paint_axes(QPainter& painter, const ParallelScene& scene, const ParallelFrame& frame,
                const QPalette& palette);
void paint_picked(QPainter& painter, const ParallelScene& scene, const ParallelFrame& frame,
                  const QPalette& palette);

// Of any size, whole.
void paint_parallel(QPainter& painter, const ParallelScene& scene, const QSize& size,
                    const QPalette& palette, const QFont& font);

// The nearest line within that many points; nothing: none.
std::optional<std::uint32_t> line_at(const ParallelModel& model, const ParallelFrame& frame,
                                     const QPointF& at, double within);

} // namespace trainyard::gui

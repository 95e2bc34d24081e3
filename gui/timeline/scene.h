#pragma once

// What the timeline's picture is made of, and where its parts lie. A value: the same scene paints
// the same picture on a screen, in a file and in a test.

#include "gui/timeline/colours.h"
#include "gui/timeline/counters.h"
#include "gui/timeline/geometry.h"
#include "gui/timeline/row_cells.h"
#include "gui/timeline/slice_search.h"
#include "gui/timeline/stacks.h"
#include "gui/timeline/timeline_model.h"

#include <QFont>
#include <QImage>
#include <QPainter>
#include <QRect>
#include <QStaticText>

namespace trainyard::gui {

struct Scene {
    const TimelineModel* model = nullptr; // not null
    const TrackLayout* layout = nullptr;  // likewise
    TimeRange range{SimTime(0), SimTime(1)};
    int scroll = 0; // pixels of the layout above the picture
    TimelineColours colours{QPalette()};
    QFont font;

    std::uint32_t hovered = nothing; // slices
    std::uint32_t pinned = nothing;
    Relations relations;                    // of the pinned one, else of the hovered one
    const SearchMatches* matches = nullptr; // what does not match is faded
    std::optional<TimeRange> selected;
    std::optional<TimeRange> measured;
    std::optional<SimTime> cursor;
    bool path = false;
    bool arrows = true; // of all messages, where they can be told apart

    const std::vector<CounterSeries>* counters = nullptr; // rows below the lanes; null: none
    std::optional<SimTime> pointed;                       // whose values they say
};

struct SceneFrame {
    QRect corner; // above the names
    QRect axis;
    QRect names;
    QRect body;
    QRect counters;  // below names and body
    int counter = 0; // height of each
    QRect legend;

    TimeScale scale(TimeRange range) const
    {
        return {range, static_cast<double>(body.left()), static_cast<double>(body.width())};
    }
};

SceneFrame frame_of(const Scene& scene, const QSize& size);

// Columns of pixels of the body, a cell each.
std::size_t cells_of(const SceneFrame& frame, double pixel_ratio);

// Where the kinds that occur, and what else needs words, stand in a legend of that width, from its
// top left corner.
struct LegendEntry {
    enum class Sign : std::uint8_t { kind, blank, path };

    QString title;
    Sign sign = Sign::kind;
    TimeKind kind{};
    QRect place{};
};
std::vector<LegendEntry> legend_of(const Scene& scene, int width);

// Lines in sight, from the top down: the pinned ones that stay, then those scrolled to.
struct LinesInSight {
    std::span<const Line> held;
    std::span<const Line> scrolled;

    std::vector<Line> all() const;
};
LinesInSight lines_in_sight(const Scene& scene, const SceneFrame& frame);

// Where those end that stay, and where a line begins; in the picture.
int held_bottom(const Scene& scene, const SceneFrame& frame);
int top_of(const Scene& scene, const SceneFrame& frame, const Line& line);
// Whether any of it is neither scrolled out of sight nor below the lines that stay.
bool in_sight(const Scene& scene, const SceneFrame& frame, const Line& line);
// Index of the line at `y` of the picture.
std::optional<std::size_t> line_at(const Scene& scene, const SceneFrame& frame, int y);

// The line on which a track shows: its own, or that of its nearest ancestor in sight.
const Line* line_showing(const Scene& scene, std::uint32_t track);

// Where a slice lies in the picture, at least `least` pixels wide and not far beyond the body's
// sides; empty: nowhere.
QRectF rect_of(const Scene& scene, const SceneFrame& frame, std::uint32_t slice, double least);

// What a picture of rows hangs on: as long as it stays, so does the picture.
struct PaintedRows {
    const TimelineModel* model = nullptr;
    std::uint64_t cells = 0; // state of RowCells
    TimeRange range{SimTime(0), SimTime(0)};
    std::vector<Line> lines;
    int scroll = 0;
    int held = 0;
    CellColours colours{};
    QRgb text = 0;
    QFont font;

    bool operator==(const PaintedRows&) const = default;
};

// What is kept from one repaint to the next: the same for any number of pictures, one after the
// other.
struct PaintCache {
    QImage image;
    PaintedRows painted; // what the image shows
    RowCells rows;
    std::vector<std::uint32_t> wide;
    std::vector<QStaticText> names; // by name, for ...
    const TimelineModel* model = nullptr;
    QFont font;
};

void paint_scene(QPainter& painter, const Scene& scene, const QSize& size, PaintCache& cache);

// Its parts, back to front.
void paint_rows(QPainter& painter, const Scene& scene, const SceneFrame& frame, PaintCache& cache);
void paint_overlays(QPainter& painter, const Scene& scene, const SceneFrame& frame);
void paint_counters(QPainter& painter, const Scene& scene, const SceneFrame& frame);
void paint_frame(QPainter& painter, const Scene& scene, const SceneFrame& frame);

} // namespace trainyard::gui

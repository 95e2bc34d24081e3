#include "gui/timeline/scene.h"

#include "gui/model/qt_text.h"
#include "sim/study/breakdown.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int swatch = 22;
constexpr int lane_gap = 14;

} // namespace

SceneFrame frame_of(const Scene& scene, const QSize& size)
{
    const int line = QFontMetrics(scene.font).height();
    const int names = std::clamp(size.width() / 5, 90, 14 * line);
    const int axis = line + 8;
    const auto entries = legend_of(scene, size.width());
    const int legend = entries.empty() ? 0 : entries.back().place.bottom() + 5;
    // Lanes come first: where there is little room, counters have a line each, then the last go.
    const int rows = scene.counters == nullptr ? 0 : static_cast<int>(scene.counters->size());
    const int room = (size.height() - axis - legend) / 2;
    const int counter = rows * (2 * line + 6) <= room ? 2 * line + 6 : line + 4;
    const int counters = std::min(rows, room / counter) * counter;
    const int body = std::max(1, size.height() - axis - legend - counters);
    const int width = std::max(1, size.width() - names);
    return {.corner = {0, 0, names, axis},
            .axis = {names, 0, width, axis},
            .names = {0, axis, names, body},
            .body = {names, axis, width, body},
            .counters = {0, axis + body, size.width(), counters},
            .counter = counter,
            .legend = {0, axis + body + counters, size.width(), legend}};
}

std::size_t cells_of(const SceneFrame& frame, double pixel_ratio)
{
    return static_cast<std::size_t>(std::lround(frame.body.width() * pixel_ratio));
}

std::vector<LegendEntry> legend_of(const Scene& scene, int width)
{
    const QFontMetrics metrics(scene.font);
    std::vector<LegendEntry> entries;
    int x = 8;
    int y = 4;
    const auto add = [&](LegendEntry entry) {
        const int own = swatch + 6 + metrics.horizontalAdvance(entry.title);
        if (x > 8 && x + own > width - 8) {
            x = 8;
            y += metrics.height() + 3;
        }
        entry.place = {x, y, own, metrics.height()};
        entries.push_back(std::move(entry));
        x += own + lane_gap;
    };
    for (const TimeKind kind : time_kinds())
        if (scene.model->occurs[static_cast<std::size_t>(kind)])
            add({text_of(slice_title_of(kind)), LegendEntry::Sign::kind, kind});
    if (scene.model->blank)
        add({QCoreApplication::translate("timeline", "blank: between kernels"),
             LegendEntry::Sign::blank});
    if (scene.path && !scene.model->path.empty())
        add({QCoreApplication::translate("timeline", "critical path"), LegendEntry::Sign::path});
    return entries;
}

std::vector<Line> LinesInSight::all() const
{
    std::vector<Line> lines(held.begin(), held.end());
    lines.insert(lines.end(), scrolled.begin(), scrolled.end());
    return lines;
}

LinesInSight lines_in_sight(const Scene& scene, const SceneFrame& frame)
{
    const std::span<const Line> lines = scene.layout->lines();
    const int held = scene.layout->held_height(frame.body.height());
    const std::size_t first = scene.layout->first_line(scene.scroll + held);
    const std::size_t end = scene.layout->first_line(scene.scroll + frame.body.height() - 1);
    return {lines.first(scene.layout->first_line(held)),
            lines.subspan(first, std::min(end + 1, lines.size()) - std::min(first, lines.size()))};
}

int held_bottom(const Scene& scene, const SceneFrame& frame)
{
    return frame.body.top() + scene.layout->held_height(frame.body.height());
}

int top_of(const Scene& scene, const SceneFrame& frame, const Line& line)
{
    const bool held = line.y < scene.layout->held_height(frame.body.height());
    return frame.body.top() + line.y - (held ? 0 : scene.scroll);
}

bool in_sight(const Scene& scene, const SceneFrame& frame, const Line& line)
{
    const int top = top_of(scene, frame, line);
    const bool held = line.y < scene.layout->held_height(frame.body.height());
    return held || (top + line.height > held_bottom(scene, frame) && top <= frame.body.bottom());
}

std::optional<std::size_t> line_at(const Scene& scene, const SceneFrame& frame, int y)
{
    const int below = y - frame.body.top();
    if (y < frame.body.top() || y > frame.body.bottom())
        return std::nullopt;
    return scene.layout->line_at(y < held_bottom(scene, frame) ? below : below + scene.scroll);
}

const Line* line_showing(const Scene& scene, std::uint32_t track)
{
    for (; track != nothing; track = scene.model->data.tracks[track].parent)
        if (const auto line = scene.layout->line_of(track))
            return &scene.layout->lines()[*line];
    return nullptr;
}

QRectF rect_of(const Scene& scene, const SceneFrame& frame, std::uint32_t slice, double least)
{
    const TimelineData& data = scene.model->data;
    const Line* line = line_showing(scene, scene.model->row_at(slice).track);
    if (line == nullptr || !in_sight(scene, frame, *line))
        return {};
    const TimeScale scale = frame.scale(scene.range);
    const double left = std::max(scale.x_of(data.slices.start[slice]), frame.body.left() - 20.0);
    const double right = std::min(scale.x_of(data.slices.end[slice]), frame.body.right() + 20.0);
    if (right < left)
        return {};
    const double width = std::max(right - left, least);
    return {left - (width - (right - left)) / 2, static_cast<double>(top_of(scene, frame, *line)),
            width, static_cast<double>(line->height)};
}

void paint_scene(QPainter& painter, const Scene& scene, const QSize& size, PaintCache& cache)
{
    const SceneFrame frame = frame_of(scene, size);
    painter.setFont(scene.font);
    paint_rows(painter, scene, frame, cache);
    paint_overlays(painter, scene, frame);
    paint_counters(painter, scene, frame);
    paint_frame(painter, scene, frame);
}

} // namespace trainyard::gui

#include "gui/model/qt_text.h"
#include "gui/timeline/scene.h"
#include "gui/timeline/time_text.h"
#include "gui/widgets/labels.h"

#include <QFontMetrics>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int indent = 14;

// Of a group or a rank: what other lines hang in.
bool is_head(const Track& track)
{
    return track.kind == TrackKind::group || track.kind == TrackKind::rank;
}

class FramePainter {
public:
    FramePainter(QPainter& painter, const Scene& scene, const SceneFrame& frame)
        : painter_(painter), scene_(scene), frame_(frame), scale_(frame.scale(scene.range))
    {}

    void paint()
    {
        painter_.save();
        painter_.setFont(scene_.font);
        draw_names();
        draw_axis();
        draw_legend();
        painter_.restore();
    }

private:
    void draw_names()
    {
        painter_.fillRect(frame_.names, scene_.colours.band);
        painter_.save();
        font_ = scene_.font;
        font_.setPixelSize(std::max(
            1, std::min(scene_.layout->line_height() - 2, QFontMetrics(scene_.font).ascent())));
        bold_ = bold(font_);
        const LinesInSight lines = lines_in_sight(scene_, frame_);
        const QRect held(frame_.names.topLeft(),
                         QPoint(frame_.names.right(), held_bottom(scene_, frame_) - 1));
        painter_.setClipRect(held);
        for (const Line& line : lines.held)
            draw_name(line);
        painter_.setClipRect(frame_.names.adjusted(0, held.height(), 0, 0));
        for (const Line& line : lines.scrolled)
            draw_name(line);
        painter_.setClipRect(frame_.names);
        if (held.height() > 0) {
            painter_.setPen(scene_.colours.quiet_text);
            painter_.drawLine(held.bottomLeft(), held.bottomRight());
        }
        painter_.setPen(scene_.colours.grid);
        painter_.drawLine(frame_.names.topRight(), frame_.names.bottomRight());
        painter_.restore();
    }

    void draw_name(const Line& line)
    {
        const Track& track = scene_.model->data.tracks[line.track];
        const int top = top_of(scene_, frame_, line);
        if (is_head(track) && line.height >= 8) {
            painter_.setPen(scene_.colours.grid);
            painter_.drawLine(0, top, frame_.names.right(), top);
        }
        if (font_.pixelSize() < 7)
            return; // a line as low as this is told by its tooltip
        const int left = 6 + track.depth * indent;
        if (scene_.layout->can_open(line.track))
            draw_triangle(left, top + line.height / 2, scene_.layout->open(line.track));
        painter_.setFont(is_head(track) ? bold_ : font_);
        QRect place(left + indent, top, frame_.names.right() - left - indent - 4, line.height);
        put(place, text_of(track.name), scene_.colours.text);
        if (scene_.model->runs.size() > 1 && track.kind == TrackKind::rank)
            put(place, track.run == 0 ? " A" : " B", scene_.colours.path);
        painter_.setFont(font_);
        if (!track.detail.empty())
            put(place, "  " + text_of(track.detail), scene_.colours.quiet_text);
    }

    // Cut to the place, which loses what is used.
    void put(QRect& place, const QString& text, const QColor& colour)
    {
        const QFontMetrics metrics(painter_.font());
        painter_.setPen(colour);
        painter_.drawText(place, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                          metrics.elidedText(text, Qt::ElideRight, place.width()));
        place.setLeft(std::min(place.left() + metrics.horizontalAdvance(text), place.right()));
    }

    void draw_triangle(int left, int middle, bool open)
    {
        painter_.setPen(Qt::NoPen);
        painter_.setBrush(scene_.colours.quiet_text);
        painter_.setRenderHint(QPainter::Antialiasing);
        const std::array down{QPointF(left, middle - 2), QPointF(left + 8, middle - 2),
                              QPointF(left + 4, middle + 3)};
        const std::array right{QPointF(left + 2, middle - 4), QPointF(left + 2, middle + 4),
                               QPointF(left + 7, middle)};
        painter_.drawPolygon((open ? down : right).data(), 3);
        painter_.setRenderHint(QPainter::Antialiasing, false);
    }

    void draw_axis()
    {
        painter_.fillRect(frame_.axis.united(frame_.corner), scene_.colours.band);
        const QFontMetrics metrics(scene_.font);
        const AxisTicks ticks = ticks_of(scale_, scene_.model->data.origin, 90);
        // Where whole times would be too long, the corner says from when on they count.
        const SimTime end = scene_.range.to - scene_.model->data.origin;
        const std::string longest =
            axis_text(ticks.first - scene_.model->data.origin, ticks.step, end);
        const bool since = metrics.horizontalAdvance(text_of(longest)) > 76;
        const SimTime base = since ? ticks.first : scene_.model->data.origin;
        painter_.setFont(scene_.font);
        painter_.setPen(scene_.colours.quiet_text);
        painter_.drawText(
            frame_.corner.adjusted(6, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft,
            metrics.elidedText(since ? "+ " + text_of(longest) : QStringLiteral("time in the step"),
                               Qt::ElideRight, frame_.corner.width() - 10));
        painter_.setClipRect(frame_.axis);
        for (SimTime at = ticks.first; at <= scene_.range.to; at += ticks.step)
            draw_tick(at, text_of(axis_text(at - base, ticks.step, scene_.range.to - base)),
                      metrics);
        painter_.setClipping(false);
        painter_.setPen(scene_.colours.grid);
        painter_.drawLine(frame_.corner.bottomLeft(), frame_.axis.bottomRight());
    }

    void draw_tick(SimTime at, const QString& text, const QFontMetrics& metrics)
    {
        const int x = static_cast<int>(std::lround(scale_.x_of(at)));
        painter_.setPen(scene_.colours.quiet_text);
        painter_.drawLine(x, frame_.axis.bottom() - 4, x, frame_.axis.bottom());
        const int width = metrics.horizontalAdvance(text);
        // The outermost ones stay inside.
        const int left = std::clamp(x - width / 2, frame_.axis.left() + 2,
                                    std::max(frame_.axis.left() + 2, frame_.axis.right() - width));
        if (std::abs(left - (x - width / 2)) > width / 2)
            return;
        painter_.setPen(scene_.colours.text);
        painter_.drawText(QRect(left, frame_.axis.top(), width + 1, frame_.axis.height() - 4),
                          Qt::AlignVCenter, text);
    }

    void draw_sign(const LegendEntry& entry, const QRect& box)
    {
        switch (entry.sign) {
        case LegendEntry::Sign::kind:
            painter_.fillRect(box, scene_.colours.of(entry.kind).fill);
            painter_.fillRect(box, scene_.colours.of(entry.kind).hatch);
            return;
        case LegendEntry::Sign::blank:
            painter_.fillRect(box, scene_.colours.background);
            painter_.setPen(scene_.colours.grid);
            painter_.drawRect(box.adjusted(0, 0, -1, -1));
            return;
        case LegendEntry::Sign::path:
            painter_.fillRect(box.adjusted(0, 4, 0, -4), scene_.colours.path);
        }
    }

    void draw_legend()
    {
        painter_.fillRect(frame_.legend, scene_.colours.band);
        painter_.setPen(scene_.colours.grid);
        painter_.drawLine(frame_.legend.topLeft(), frame_.legend.topRight());
        for (const LegendEntry& entry : legend_of(scene_, frame_.legend.width())) {
            const QRect place = entry.place.translated(frame_.legend.topLeft());
            const QRect box(place.left(), place.center().y() - 5, 22, 11);
            draw_sign(entry, box);
            painter_.setPen(scene_.colours.text);
            painter_.drawText(place.adjusted(28, 0, 1, 0), Qt::AlignVCenter, entry.title);
        }
    }

    QPainter& painter_;
    const Scene& scene_;
    const SceneFrame& frame_;
    TimeScale scale_;
    QFont font_; // of names
    QFont bold_;
};

} // namespace

void paint_frame(QPainter& painter, const Scene& scene, const SceneFrame& frame)
{
    FramePainter(painter, scene, frame).paint();
}

} // namespace trainyard::gui

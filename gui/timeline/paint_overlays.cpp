#include "gui/timeline/scene.h"
#include "gui/timeline/time_text.h"

#include <QFontMetrics>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr std::uint32_t most_messages = 300; // beyond, arrows would hide what they join
constexpr int joint_gap = 16; // pixels: joints that are closer hide what lies between the lines
constexpr std::uint32_t most_smooth = 60; // Qt antialiases tall curves on several threads: dear

QColor with_alpha(QColor colour, float alpha)
{
    colour.setAlphaF(alpha);
    return colour;
}

class OverlayPainter {
public:
    OverlayPainter(QPainter& painter, const Scene& scene, const SceneFrame& frame)
        : painter_(painter),
          scene_(scene),
          data_(scene.model->data),
          frame_(frame),
          scale_(frame.scale(scene.range))
    {}

    void paint()
    {
        painter_.save();
        painter_.setClipRect(frame_.body);
        painter_.setRenderHint(QPainter::Antialiasing);
        if (scene_.path)
            draw_path();
        if (scene_.arrows)
            draw_messages();
        draw_relations();
        if (scene_.hovered != nothing)
            outline(scene_.hovered, QPen(scene_.colours.text, 1));
        if (scene_.pinned != nothing) {
            outline(scene_.pinned, QPen(scene_.colours.background, 4));
            outline(scene_.pinned, QPen(scene_.colours.accent, 2));
        }
        if (scene_.selected)
            draw_selected(*scene_.selected);
        if (scene_.cursor)
            draw_cursor(*scene_.cursor);
        if (scene_.measured)
            draw_measure(*scene_.measured);
        painter_.restore();
    }

private:
    QRectF rect(std::uint32_t slice, double least = 3) const
    {
        return rect_of(scene_, frame_, slice, least);
    }

    void outline(std::uint32_t slice, const QPen& pen)
    {
        const QRectF at = rect(slice);
        if (at.isEmpty())
            return;
        painter_.setPen(pen);
        painter_.setBrush(Qt::NoBrush);
        painter_.drawRect(at.adjusted(0.5, 0.5, -0.5, -0.5));
    }

    // A bar along the foot of each op of the path, and lines from one to the next as far as they
    // can be told apart. What is shorter than a pixel counts as a part of what follows it.
    void draw_path()
    {
        const auto& path = scene_.model->path;
        const SimTime pixel = std::max(SimTime(1), scale_.time_of(1));
        auto at = std::partition_point(path.begin(), path.end(), [&](const PathPiece& piece) {
            return piece.to <= scene_.range.from;
        });
        // Whole pixels and opaque, for there are thousands: Qt smoothes and blends what is tall on
        // several threads, which costs ten times as much.
        const QColor joint = mixed(scene_.colours.path, scene_.colours.background, 0.25);
        const Line* last = nullptr;
        int joined = frame_.body.left() - joint_gap;
        while (at != path.end() && at->from < scene_.range.to) {
            const Line* const line = path_line(at->record);
            const int left = static_cast<int>(std::lround(clamped(at->from)));
            const int right = static_cast<int>(std::lround(clamped(at->to)));
            if (last != nullptr && line != nullptr && line != last && left - joined >= joint_gap) {
                const auto [top, bottom] = std::minmax({foot_of(*line), foot_of(*last)});
                painter_.fillRect(left, top, 1, bottom - top, joint);
                joined = left;
            }
            if (line != nullptr) {
                const int height = std::clamp(line->height / 5, 1, 3);
                painter_.fillRect(left, foot_of(*line) - height, std::max(right - left, 1), height,
                                  scene_.colours.path);
            }
            last = line;
            const SimTime from = std::max(at->to, at->from + pixel);
            at = std::partition_point(at + 1, path.end(),
                                      [&](const PathPiece& piece) { return piece.to < from; });
        }
    }

    double clamped(SimTime time) const
    {
        return std::clamp(scale_.x_of(time), frame_.body.left() - 5.0, frame_.body.right() + 5.0);
    }

    // That shows the record, where it is in sight.
    const Line* path_line(RecordIndex index) const
    {
        const OpRecord& record = scene_.model->runs.front()->graph.records()[index];
        const std::uint32_t row = data_.row_of(0, record.lane, record.stream);
        const Line* line = row == nothing ? nullptr : line_showing(scene_, data_.rows[row].track);
        return line != nullptr && in_sight(scene_, frame_, *line) ? line : nullptr;
    }

    int foot_of(const Line& line) const { return top_of(scene_, frame_, line) + line.height; }

    void arrow(std::uint32_t from, std::uint32_t to, const QPen& pen)
    {
        const Line* start = line_showing(scene_, scene_.model->row_at(from).track);
        const Line* end = line_showing(scene_, scene_.model->row_at(to).track);
        if (start == nullptr || end == nullptr)
            return;
        draw_arrow({clamped(data_.slices.start[from]), middle_of(*start)},
                   {clamped(data_.slices.end[to]), middle_of(*end)}, pen);
    }

    double middle_of(const Line& line) const
    {
        // What lies below the pinned lines is pointed to at their edge.
        const int edge =
            in_sight(scene_, frame_, line) ? frame_.body.top() : held_bottom(scene_, frame_);
        const double middle = top_of(scene_, frame_, line) + line.height / 2.0;
        return edge > frame_.body.top() ? std::max<double>(middle, edge) : middle;
    }

    void draw_arrow(QPointF from, QPointF to, const QPen& pen)
    {
        const double bend = std::clamp((to.x() - from.x()) / 2, 6.0, 60.0);
        QPainterPath curve(from);
        curve.cubicTo(from + QPointF(bend, 0), to - QPointF(bend, 0), to);
        painter_.setPen(pen);
        painter_.setBrush(Qt::NoBrush);
        painter_.drawPath(curve);
        painter_.setPen(Qt::NoPen);
        painter_.setBrush(pen.color());
        const std::array head{to, to + QPointF(-7, -3.5), to + QPointF(-7, 3.5)};
        painter_.drawPolygon(head.data(), static_cast<int>(head.size()));
    }

    // Of the rows in sight, where they are few enough.
    void draw_messages()
    {
        std::vector<std::array<std::uint32_t, 3>> spans; // row, first, end
        std::uint32_t count = 0;
        for (const Line& line : lines_in_sight(scene_, frame_).all()) {
            const std::uint32_t r = data_.tracks[line.track].row;
            if (r == nothing || !data_.rows[r].messages)
                continue;
            const SliceRow& row = data_.rows[r];
            const std::uint32_t first = data_.first_ending_after(row, scene_.range.from);
            const auto begin = data_.slices.start.begin();
            const auto end = std::lower_bound(begin + first, begin + row.end(), scene_.range.to);
            spans.push_back({r, first, static_cast<std::uint32_t>(end - begin)});
            count += spans.back()[2] - first;
            if (count > most_messages)
                return;
        }
        const QPen pen(with_alpha(scene_.colours.arrow, 0.55F), 1);
        painter_.setRenderHint(QPainter::Antialiasing, count <= most_smooth);
        std::vector<Arrow> drawn;
        for (const auto& [row, first, end] : spans)
            for (const Arrow& message : arrows_of(*scene_.model, data_.rows[row], first, end))
                if (std::find(drawn.begin(), drawn.end(), message) == drawn.end()) {
                    drawn.push_back(message);
                    arrow(message.from, message.to, pen);
                }
        painter_.setRenderHint(QPainter::Antialiasing);
    }

    void draw_relations()
    {
        const std::uint32_t slice = scene_.pinned != nothing ? scene_.pinned : scene_.hovered;
        for (const std::uint32_t peer : scene_.relations.peers)
            glow(peer);
        if (!scene_.relations.peers.empty() && slice != nothing)
            glow(slice);
        for (const Arrow& message : scene_.relations.messages)
            arrow(message.from, message.to, QPen(scene_.colours.glow, 2));
        if (scene_.pinned == nothing)
            return;
        QPen dashed(scene_.colours.accent, 1.4, Qt::DashLine);
        if (scene_.relations.caused_by != nothing)
            join(scene_.relations.caused_by, slice, dashed);
        if (scene_.relations.last_to_come != nothing)
            join(scene_.relations.last_to_come, slice, dashed);
        for (std::size_t i = 0; i < std::min<std::size_t>(scene_.relations.effects.size(), 12); ++i)
            join(slice, scene_.relations.effects[i], dashed);
    }

    // From a cause's end to its effect's start.
    void join(std::uint32_t cause, std::uint32_t effect, const QPen& pen)
    {
        const Line* start = line_showing(scene_, scene_.model->row_at(cause).track);
        const Line* end = line_showing(scene_, scene_.model->row_at(effect).track);
        if (start == nullptr || end == nullptr || start == end)
            return;
        const SimTime began = data_.slices.start[effect];
        draw_arrow({clamped(std::min(data_.slices.end[cause], began)), middle_of(*start)},
                   {clamped(began), middle_of(*end)}, pen);
    }

    void glow(std::uint32_t slice)
    {
        const QRectF at = rect(slice, 4);
        if (at.isEmpty())
            return;
        painter_.setBrush(Qt::NoBrush);
        for (const auto& [width, alpha] : {std::pair(7.0, 0.25F), std::pair(4.0, 0.5F)}) {
            painter_.setPen(QPen(with_alpha(scene_.colours.glow, alpha), width));
            painter_.drawRect(at);
        }
        painter_.setPen(QPen(scene_.colours.glow, 1.5));
        painter_.drawRect(at);
    }

    void draw_selected(TimeRange range)
    {
        const double left = clamped(range.from);
        const double right = clamped(range.to);
        painter_.fillRect(QRectF(left, frame_.body.top(), right - left, frame_.body.height()),
                          with_alpha(scene_.colours.glow, 0.14F));
        painter_.setPen(QPen(scene_.colours.glow, 1));
        for (const double x : {left, right})
            painter_.drawLine(QPointF(x, frame_.body.top()), QPointF(x, frame_.body.bottom()));
    }

    void draw_cursor(SimTime time)
    {
        const double x = std::round(scale_.x_of(time)) + 0.5;
        if (x < frame_.body.left() || x > frame_.body.right())
            return;
        painter_.setPen(QPen(scene_.colours.text, 1, Qt::DotLine));
        painter_.drawLine(QPointF(x, frame_.body.top()), QPointF(x, frame_.body.bottom()));
    }

    void draw_measure(TimeRange range)
    {
        const double left = clamped(std::min(range.from, range.to));
        const double right = clamped(std::max(range.from, range.to));
        const double y = frame_.body.top() + 14.0;
        painter_.setPen(QPen(scene_.colours.text, 1.5));
        painter_.drawLine(QPointF(left, y), QPointF(right, y));
        for (const double x : {left, right})
            painter_.drawLine(QPointF(x, frame_.body.top()), QPointF(x, frame_.body.bottom()));
        const SimTime length = std::max(range.from, range.to) - std::min(range.from, range.to);
        const QString text = QString::fromStdString(time_text(length));
        const QFontMetrics metrics(scene_.font);
        QRectF box(0, 0, metrics.horizontalAdvance(text) + 12, metrics.height() + 4);
        box.moveCenter({(left + right) / 2, y});
        box.moveLeft(
            std::clamp(box.left(), frame_.body.left() + 2.0,
                       std::max(frame_.body.left() + 2.0, frame_.body.right() - box.width())));
        painter_.setBrush(scene_.colours.background);
        painter_.drawRoundedRect(box, 3, 3);
        painter_.drawText(box, Qt::AlignCenter, text);
    }

    QPainter& painter_;
    const Scene& scene_;
    const TimelineData& data_;
    const SceneFrame& frame_;
    TimeScale scale_;
};

} // namespace

void paint_overlays(QPainter& painter, const Scene& scene, const SceneFrame& frame)
{
    OverlayPainter(painter, scene, frame).paint();
}

} // namespace trainyard::gui

#include "gui/explore/parallel_picture.h"

#include "gui/explore/ranges.h"
#include "gui/explore/words.h"
#include "gui/widgets/theme.h"

#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr int edge_gap = 8;
// Lines under marked ones.
constexpr double pale = 0.18;

struct Tick {
    double place = 0;
    QString text;
};

std::vector<Tick> ticks_of(const ParallelAxis& axis, const PointStore& store, int height, int line)
{
    std::vector<Tick> out;
    if (axis.metric.axis) {
        const auto& values = store.grid().axes[*axis.metric.axis].values;
        const std::size_t room = std::max(1, height / line);
        const std::size_t step = (values.size() + room - 1) / room;
        for (std::size_t i = 0; i < values.size(); i += step)
            out.push_back({axis.place(static_cast<double>(i)), value_text(values[i])});
        return out;
    }
    if (axis.lacking)
        out.push_back({0, words("unknown")});
    if (!axis.known)
        return out;
    QSharedPointer<QCPAxisTicker> ticker = QSharedPointer<QCPAxisTicker>::create();
    if (axis.logarithmic())
        ticker = QSharedPointer<QCPAxisTickerLog>::create();
    ticker->setTickCount(std::clamp(height / (3 * line), 2, 6));
    QVector<double> at;
    ticker->generate({axis.low, axis.high > axis.low ? axis.high : axis.low + 1e-9}, QLocale::c(),
                     'g', 4, at, nullptr, nullptr);
    for (const double value : at)
        if (value >= axis.low && value <= axis.high)
            out.push_back({axis.place(value), number_text(value)});
    if (out.size() == (axis.lacking ? 1U : 0U))
        out.push_back({axis.place(axis.low), number_text(axis.low)});
    return out;
}

// An arrow points to where it is better.
QString title_of(const ParallelAxis& axis)
{
    if (axis.metric.better == Better::neither)
        return axis.metric.label();
    const bool up = (axis.metric.better == Better::higher) != axis.flipped;
    return QStringLiteral("%1 %2").arg(axis.metric.label(), up ? words("↑") : words("↓"));
}

QPainterPath line_path(const ParallelModel& model, const ParallelFrame& frame, std::uint32_t point)
{
    QPainterPath path;
    bool begun = false;
    for (std::size_t axis = 0; axis < frame.x.size(); ++axis) {
        const float place = model.place(axis, point);
        if (std::isnan(place)) {
            begun = false;
            continue;
        }
        const QPointF at(frame.x[axis], frame.row_of(place));
        begun ? path.lineTo(at) : path.moveTo(at);
        begun = true;
    }
    return path;
}

void paint_brush(QPainter& painter, const ParallelScene& scene, const ParallelFrame& frame,
                 std::size_t axis, const QPalette& palette)
{
    const Brush* const brush = scene.model.brush(axis);
    if (brush == nullptr)
        return;
    const ParallelAxis& of = scene.model.axes()[axis];
    const double room = of.metric.axis ? 0.45 : 0; // a value with all that is spread about it
    const double low = std::max(brush->low - room, of.low);
    const double high = std::min(brush->high + room, of.high);
    const double from = frame.row_of(of.place(std::min(low, high)));
    const double to = frame.row_of(of.place(std::max(low, high)));
    QColor fill = palette.color(QPalette::Highlight);
    painter.setPen(fill);
    fill.setAlphaF(0.3F);
    painter.setBrush(fill);
    painter.drawRect(QRectF(QPointF(frame.x[axis] - 7, std::min(from, to) - 2),
                            QPointF(frame.x[axis] + 7, std::max(from, to) + 2)));
    painter.setBrush(Qt::NoBrush);
}

} // namespace

ParallelFrame::ParallelFrame(const QSize& size, const ParallelModel& model, const QSize& legend,
                             const QFontMetrics& letters)
{
    const int line = letters.height();
    label_height = 2 * line + edge_gap;
    const int side = letters.averageCharWidth() * 7;
    // Where there is little room the legend gives way.
    const int most = size.width() / 4;
    const int wide = legend.isEmpty() ? 0 : std::min(legend.width(), most);
    const int right = size.width() - side - (wide > 0 ? wide + edge_gap : 0);
    lines = QRect(QPoint(side, label_height),
                  QPoint(std::max(side + 10, right),
                         std::max(label_height + 10, size.height() - 2 * line - edge_gap)));
    if (wide > 0)
        colours = QRect(size.width() - wide - edge_gap / 2, label_height, wide, lines.height());
    const auto count = static_cast<int>(model.axes().size());
    for (int i = 0; i < count; ++i)
        x.push_back(count == 1 ? lines.center().x()
                               : lines.left() + i * (lines.width() - 1) / (count - 1));
}

std::optional<std::size_t> ParallelFrame::axis_at(int column, int reach) const
{
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (std::abs(x[i] - column) <= reach &&
            (!best || std::abs(x[i] - column) < std::abs(x[*best] - column)))
            best = i;
    return best;
}

double ParallelFrame::place_at(int row) const
{
    return 1.0 - static_cast<double>(row - lines.top()) / std::max(1, lines.height() - 1);
}

double ParallelFrame::row_of(double place) const
{
    return lines.top() + (1 - place) * (lines.height() - 1);
}

LineCloud::Lines all_lines(const ParallelScene& scene)
{
    return {scene.model.size(),
            [&scene](std::size_t axis, std::size_t line) {
                return scene.model.place(axis, static_cast<std::uint32_t>(line));
            },
            [&scene](std::size_t line) {
                return scene.colours.style_of(scene.store, static_cast<std::uint32_t>(line));
            }};
}

LineCloud::Lines marked_lines(const ParallelScene& scene)
{
    return {scene.marks.points().size(),
            [&scene](std::size_t axis, std::size_t line) {
                return scene.model.place(axis, scene.marks.points()[line]);
            },
            [&scene](std::size_t line) {
                return scene.colours.style_of(scene.store, scene.marks.points()[line]);
            }};
}

std::vector<QColor> line_colours(const PointColours& colours, const QPalette& palette)
{
    std::vector<QColor> out;
    for (const PointStyle& style : colours.styles(palette))
        out.push_back(style.colour);
    return out;
}

void paint_axes(QPainter& painter, const ParallelScene& scene, const ParallelFrame& frame,
                const QPalette& palette)
{
    const SignColours signs = sign_colours(palette);
    const QFontMetrics letters(painter.font(), painter.device());
    const int line = letters.height();
    const int between = frame.x.size() > 1 ? frame.x[1] - frame.x[0] : frame.lines.width();
    for (std::size_t i = 0; i < frame.x.size(); ++i) {
        const ParallelAxis& axis = scene.model.axes()[i];
        const bool focused = scene.focused == i;
        painter.setPen(
            QPen(focused ? palette.color(QPalette::Highlight) : signs.quiet, focused ? 2 : 1));
        painter.drawLine(frame.x[i], frame.lines.top(), frame.x[i], frame.lines.bottom());
        painter.setPen(palette.color(QPalette::Text));
        QFont font = painter.font();
        font.setBold(focused);
        painter.setFont(font);
        // Names of neighbours are on two lines in turn, so that each has twice the room.
        const int room = 2 * between - edge_gap;
        const QString title = letters.elidedText(title_of(axis), Qt::ElideRight, room);
        const int wide = QFontMetrics(font, painter.device()).horizontalAdvance(title) + 2;
        const int right =
            frame.colours.isNull() ? frame.lines.right() + edge_gap : frame.colours.right();
        const int left = std::clamp(frame.x[i] - wide / 2, 0, std::max(0, right - wide));
        painter.drawText(QRect(left, i % 2 == 0 ? 0 : line, wide, line), Qt::AlignCenter, title);
        font.setBold(false);
        painter.setFont(font);
        paint_brush(painter, scene, frame, i, palette);
    }
    painter.setPen(palette.color(QPalette::Text));
    if (!scene.note.isEmpty())
        painter.drawText(QRect(0, frame.lines.bottom() + edge_gap + line / 2,
                               frame.lines.right() + edge_gap, line + 2),
                         Qt::AlignCenter, scene.note);
    paint_colours(painter, frame.colours, scene.colours, scene.store, palette);
}

namespace {

// Numbers stand over the lines, on paper of their own.
void paint_ticks(QPainter& painter, const ParallelScene& scene, const ParallelFrame& frame,
                 const QPalette& palette)
{
    const QFontMetrics letters(painter.font(), painter.device());
    const int line = letters.height();
    QColor paper = palette.color(QPalette::Base);
    paper.setAlphaF(0.75F);
    for (std::size_t i = 0; i < frame.x.size(); ++i)
        for (const Tick& tick :
             ticks_of(scene.model.axes()[i], scene.store, frame.lines.height(), line)) {
            const int y = static_cast<int>(frame.row_of(tick.place));
            const int wide = letters.horizontalAdvance(tick.text) + 4;
            const QRect text(frame.x[i] - wide - 3, y - line / 2, wide, line);
            painter.fillRect(text, paper);
            painter.setPen(palette.color(QPalette::Text));
            painter.drawText(text, Qt::AlignCenter, tick.text);
            painter.drawLine(frame.x[i] - 3, y, frame.x[i] + 3, y);
        }
}

void paint_path(QPainter& painter, const QPainterPath& path, const QPen& pen,
                const QPalette& palette)
{
    QColor halo = palette.color(QPalette::Base);
    halo.setAlphaF(0.8F);
    painter.setPen(QPen(halo, pen.widthF() + 3));
    painter.drawPath(path);
    painter.setPen(pen);
    painter.drawPath(path);
}

} // namespace

void paint_picked(QPainter& painter, const ParallelScene& scene, const ParallelFrame& frame,
                  const QPalette& palette)
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    const QColor ink = palette.color(QPalette::Text);
    const QFontMetrics letters(painter.font(), painter.device());
    const auto drawn = [&](std::uint32_t point) {
        return scene.store.has(point) && scene.store.feasible(point);
    };
    const auto at_end = [&](std::uint32_t point, const QString& text, int row) {
        const float place = frame.x.empty() ? 0 : scene.model.place(frame.x.size() - 1, point);
        if (std::isnan(place))
            return;
        const int y = static_cast<int>(frame.row_of(place)) + row;
        painter.setPen(ink);
        painter.drawText(QPoint(frame.x.back() + 6, y + letters.ascent() / 2), text);
    };
    // Also where it has no room: its sizes are known.
    if (scene.here && scene.store.has(*scene.here)) {
        paint_path(painter, line_path(scene.model, frame, *scene.here), QPen(ink, 2, Qt::DashLine),
                   palette);
        at_end(*scene.here, words("open"), 0);
    }
    for (std::size_t i = 0; i < scene.pinned.size(); ++i)
        if (drawn(scene.pinned[i])) {
            paint_path(painter, line_path(scene.model, frame, scene.pinned[i]), QPen(ink, 1.5),
                       palette);
            at_end(scene.pinned[i], QString::number(i + 1), 0);
        }
    if (scene.hovered && drawn(*scene.hovered))
        paint_path(painter, line_path(scene.model, frame, *scene.hovered), QPen(ink, 1.2), palette);
    if (const auto current = scene.marks.current(); current && drawn(*current))
        paint_path(painter, line_path(scene.model, frame, *current), QPen(ink, 3), palette);
    painter.setRenderHint(QPainter::Antialiasing, false);
    paint_ticks(painter, scene, frame, palette);
}

void paint_parallel(QPainter& painter, const ParallelScene& scene, const QSize& size,
                    const QPalette& palette, const QFont& font)
{
    // What is no picture of pixels is enlarged.
    const int ratio = painter.paintEngine()->type() == QPaintEngine::User
                          ? 2
                          : static_cast<int>(std::ceil(painter.device()->devicePixelRatioF()));
    painter.save();
    painter.setFont(font);
    painter.fillRect(QRect(QPoint(), size), palette.base());
    const QFontMetrics letters(font);
    const ParallelFrame frame(size, scene.model,
                              size_of_colours(scene.colours, scene.store, letters), letters);
    paint_axes(painter, scene, frame, palette);
    std::vector<int> columns;
    for (const int x : frame.x)
        columns.push_back((x - frame.lines.left()) * ratio);
    const auto stamp = [&](const LineCloud::Lines& lines, double opacity) {
        LineCloud cloud;
        cloud.set_frame(frame.lines.size() * ratio, columns);
        cloud.set_colours(line_colours(scene.colours, palette));
        cloud.go_on(lines);
        painter.setOpacity(opacity);
        painter.setRenderHint(QPainter::SmoothPixmapTransform);
        painter.drawImage(frame.lines, cloud.picture());
        painter.setOpacity(1);
    };
    const bool any = !scene.marks.points().empty();
    stamp(all_lines(scene), any ? pale : 1);
    if (any)
        stamp(marked_lines(scene), 1);
    paint_picked(painter, scene, frame, palette);
    painter.restore();
}

std::optional<std::uint32_t> line_at(const ParallelModel& model, const ParallelFrame& frame,
                                     const QPointF& at, double within)
{
    for (std::size_t gap_at = 0; gap_at + 1 < frame.x.size(); ++gap_at) {
        const double left = frame.x[gap_at];
        const double right = frame.x[gap_at + 1];
        if (at.x() < left || at.x() > right || right <= left)
            continue;
        const double share = (at.x() - left) / (right - left);
        const double place = frame.place_at(static_cast<int>(at.y()));
        std::optional<std::uint32_t> best;
        double least = within / frame.lines.height();
        for (std::uint32_t point = 0; point < model.size(); ++point) {
            const double there =
                std::lerp(model.place(gap_at, point), model.place(gap_at + 1, point), share);
            if (std::abs(there - place) <= least) { // not for NaN
                least = std::abs(there - place);
                best = point;
            }
        }
        return best;
    }
    return {};
}

} // namespace trainyard::gui

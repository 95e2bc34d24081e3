// What a device holds over the step: areas, lines of what it could hold, the peak.

#include "gui/breakdown/memory_figures.h"
#include "gui/breakdown/memory_panel.h"
#include "gui/widgets/theme.h"
#include "sim/report/text/memory_text.h"

#include <algorithm>

namespace trainyard::gui {

// Kinds above each other, the fullest moment of each pixel.
void MemoryPanel::paint_areas(QCPPainter& painter) const
{
    if (curve_ == nullptr || curve_->points.empty())
        return;
    auto& plot = const_cast<MemoryPanel*>(this)->chart();
    const QRect body = plot.axisRect()->rect();
    const QCPRange range = plot.xAxis->range();
    const auto count = static_cast<std::size_t>(std::max(1, body.width()));
    const SimTime from = time_of(range.lower);
    const SimTime to = std::max(time_of(range.upper), from + SimTime(1));
    const std::vector<HeldBytes> columns = columns_of(*curve_, from, to, count);
    painter.save();
    painter.setClipRect(body);
    painter.setPen(Qt::NoPen);
    std::vector<double> floor(count, 0);
    for (const MemoryKind kind : kinds_) {
        QPolygonF area;
        for (std::size_t c = 0; c < count; ++c) {
            const double y =
                plot.yAxis->coordToPixel(floor[c] + gigabytes(columns[c].kinds[index_of(kind)]));
            area << QPointF(body.left() + static_cast<double>(c), y)
                 << QPointF(body.left() + static_cast<double>(c) + 1, y);
        }
        for (std::size_t c = count; c-- > 0;) {
            const double y = plot.yAxis->coordToPixel(floor[c]);
            area << QPointF(body.left() + static_cast<double>(c) + 1, y)
                 << QPointF(body.left() + static_cast<double>(c), y);
            floor[c] += gigabytes(columns[c].kinds[index_of(kind)]);
        }
        painter.setBrush(brush_of(fill_of(kind), palette()));
        painter.drawPolygon(area);
    }
    painter.restore();
}

QRectF MemoryPanel::paint_line(QCPPainter& painter, double gigabytes, const QString& text,
                               Qt::PenStyle style) const
{
    auto& plot = const_cast<MemoryPanel*>(this)->chart();
    const QRect body = plot.axisRect()->rect();
    const double y = plot.yAxis->coordToPixel(gigabytes);
    if (gigabytes <= 0 || y < body.top())
        return {};
    painter.setPen(QPen(palette().color(QPalette::Text), 1.4, style));
    painter.drawLine(QPointF(body.left(), y), QPointF(body.right(), y));
    if (text.isEmpty())
        return {};
    const QFontMetrics metrics = painter.fontMetrics();
    QRectF box(0, 0, metrics.horizontalAdvance(text) + 8, metrics.height());
    // Away from the peak, whose mark and words are on the other side.
    const bool late =
        plot.xAxis->coordToPixel(x_of(curve_->points[curve_->peak].time)) > body.center().x();
    if (late)
        box.moveBottomLeft(QPointF(body.left() + 2, y - 1));
    else
        box.moveBottomRight(QPointF(body.right() - 2, y - 1));
    QColor ground = palette().color(QPalette::Base);
    ground.setAlphaF(0.8F);
    painter.fillRect(box, ground);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(box, Qt::AlignCenter, text);
    return box;
}

std::vector<QRectF> MemoryPanel::paint_lines(QCPPainter& painter) const
{
    if (curve_ == nullptr || curve_->points.empty())
        return {};
    painter.setFont(font());
    auto& plot = const_cast<MemoryPanel*>(this)->chart();
    const Bytes capacity = shown_->outcome->memory.capacity;
    const Bytes most = reserved(stage()).value_or(Bytes(0));
    const QString most_text = text_of(to_display(most));
    const QString capacity_text = text_of(to_display(capacity));
    // Lines near each other have one text, at the upper one.
    const double apart = std::abs(plot.yAxis->coordToPixel(gigabytes(most)) -
                                  plot.yAxis->coordToPixel(gigabytes(capacity)));
    const bool near =
        most.value() > 0 && capacity.value() > 0 && apart <= painter.fontMetrics().height() + 1;
    const QString both = tr("reserved %1 of %2").arg(most_text, capacity_text);
    const bool beyond = most > capacity;
    const std::vector<QRectF> written{paint_line(painter, gigabytes(most),
                                                 !near    ? tr("reserved %1").arg(most_text)
                                                 : beyond ? both
                                                          : QString(),
                                                 Qt::DashLine),
                                      paint_line(painter, gigabytes(capacity),
                                                 !near    ? tr("capacity %1").arg(capacity_text)
                                                 : beyond ? QString()
                                                          : both,
                                                 Qt::SolidLine)};
    const double cursor = plot.xAxis->coordToPixel(x_of(workspace_.view().cursor()));
    const QRect body = plot.axisRect()->rect();
    if (cursor > body.left() && cursor < body.right()) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1.2));
        painter.drawLine(QPointF(cursor, body.top()), QPointF(cursor, body.bottom()));
    }
    return written;
}

QString MemoryPanel::place_text() const
{
    return text_of(to_text(stage().place));
}

void MemoryPanel::paint_peak(QCPPainter& painter, const std::vector<QRectF>& written) const
{
    if (curve_ == nullptr || curve_->points.empty())
        return;
    auto& plot = const_cast<MemoryPanel*>(this)->chart();
    const QRect body = plot.axisRect()->rect();
    const HeldBytes& peak = curve_->points[curve_->peak];
    const QPointF tip(plot.xAxis->coordToPixel(x_of(peak.time)),
                      plot.yAxis->coordToPixel(gigabytes(peak.bytes)));
    if (tip.x() < body.left() || tip.x() > body.right() + 1)
        return;
    const double line = painter.fontMetrics().height();
    const double size = line / 2;
    const QString text = painter.fontMetrics().elidedText(
        tr("peak in use %1: %2").arg(display(peak.bytes), place_text()), Qt::ElideRight,
        body.width() - 8);
    QRectF box(0, 0, painter.fontMetrics().horizontalAdvance(text) + 8, line);
    box.moveLeft(std::clamp(tip.x() - box.width() / 2, body.left() + 2.0,
                            std::max(body.left() + 2.0, body.right() - box.width() - 2.0)));
    // Below the curve's top, where no line runs; without room there above it, or above what else is
    // written.
    std::vector<double> tops{tip.y() + size + 2, tip.y() - size - line - 1};
    for (const QRectF& other : written)
        tops.push_back(other.top() - line - 1);
    const auto is_free = [&](double top) {
        box.moveTop(top);
        return top >= body.top() && box.bottom() <= body.bottom() &&
               std::ranges::none_of(written,
                                    [&](const QRectF& other) { return other.intersects(box); });
    };
    const auto best = std::ranges::find_if(tops, is_free);
    box.moveTop(best == tops.end() ? tops.front() : *best);
    const double side = box.top() < tip.y() ? -size : size;
    painter.setPen(QPen(palette().color(QPalette::Base), 1));
    painter.setBrush(palette().color(QPalette::Text));
    painter.drawPolygon(
        QPolygonF{tip, tip + QPointF(-size / 2, side), tip + QPointF(size / 2, side)});
    QColor ground = palette().color(QPalette::Base);
    ground.setAlphaF(0.85F);
    painter.fillRect(box, ground);
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(box, Qt::AlignCenter, text);
}

} // namespace trainyard::gui

#include "gui/calibration/heat_map.h"
#include "gui/widgets/theme.h"

#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double map_margin = 10;
constexpr int numbered_rows = 64; // beyond, colours only

QString cell_text(double value)
{
    return QString::number(value, 'f', value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

double legend_width(const QFontMetricsF& metrics)
{
    return metrics.height() + 10 + metrics.horizontalAdvance(QStringLiteral("00000 GB/s"));
}

QBrush hatch(const QColor& ink)
{
    return QBrush(ink, Qt::BDiagPattern);
}

} // namespace

QColor scale_colour(double share)
{
    // Cividis (Nunez, Anderton, Renslow 2018) at every fifth of it.
    static const std::array<QColor, 6> stops{QColor(0, 34, 78),     QColor(62, 74, 109),
                                             QColor(107, 110, 116), QColor(152, 148, 118),
                                             QColor(202, 188, 101), QColor(254, 232, 56)};
    const double at = std::clamp(share, 0.0, 1.0) * (stops.size() - 1);
    const auto below = std::min(stops.size() - 2, static_cast<std::size_t>(at));
    const double rest = at - static_cast<double>(below);
    const QColor& a = stops[below];
    const QColor& b = stops[below + 1];
    const auto mix = [&](int from, int to) {
        return static_cast<int>(std::lround(from + rest * (to - from)));
    };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

QRectF HeatMap::area(const QSize& size, const QFont& font) const
{
    if (rows_ == 0 || columns_ == 0)
        return {};
    const QFontMetricsF metrics(font);
    const double left = map_margin + metrics.horizontalAdvance(row_name(rows_ - 1)) + 8;
    const double top = map_margin + 2 * (metrics.height() + 4);
    const double width = size.width() - left - legend_width(metrics) - 3 * map_margin;
    const double height = size.height() - top - map_margin - metrics.height() - 6;
    if (width < 20 || height < 20)
        return {};
    const double cell = std::min({width / columns_, height / rows_, 9 * metrics.height()});
    // Cells may be wider than high, so that numbers fit.
    const double wide = std::min(width / columns_, 2.2 * cell);
    return {left, top, wide * columns_, cell * rows_};
}

void HeatMap::paint_cells(QPainter& painter, const QRectF& area, const QPalette& palette) const
{
    const QFontMetricsF metrics(painter.font());
    const SignColours signs = sign_colours(palette);
    const QRectF first = rect_of({0, 0}, area);
    double widest = 0;
    for (const double value : {least_, most_})
        widest = std::max(widest, metrics.horizontalAdvance(cell_text(value)));
    widest = std::max(widest, metrics.horizontalAdvance(QStringLiteral("0000")));
    const bool numbers = rows_ <= numbered_rows && first.width() > widest + 6 &&
                         first.height() > metrics.height() + 2;
    const double gap = first.width() > 12 && first.height() > 12 ? 1 : 0;
    for (int row = 0; row < rows_; ++row)
        for (int column = 0; column < columns_; ++column) {
            const MatrixCell cell{row, column};
            const QRectF rect = rect_of(cell, area).adjusted(0, 0, -gap, -gap);
            const auto one = value(cell);
            const QColor colour = !one || is_self(cell) ? palette.color(QPalette::AlternateBase)
                                                        : scale_colour(share(*one));
            painter.fillRect(rect, colour);
            if (!one && gap > 0)
                painter.fillRect(rect, hatch(signs.grid));
            if (one && numbers) {
                painter.setPen(is_self(cell) ? signs.quiet : ink_on(colour));
                painter.drawText(rect, Qt::AlignCenter, cell_text(*one));
            }
        }
    // Frames last: neighbours do not cover them.
    for (const auto& [pair, share] : slow_) {
        const QRectF rect = rect_of({pair.from, pair.to}, area).adjusted(0, 0, -gap, -gap);
        QColor ink =
            ink_on(scale_colour(this->share(value({pair.from, pair.to}).value_or(least_))));
        ink.setAlpha(70);
        painter.fillRect(rect, hatch(ink));
        const double width = std::clamp(rect.height() / 12, 1.5, 3.0);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette.color(QPalette::Base), width + 2));
        painter.drawRect(rect.adjusted(width / 2, width / 2, -width / 2, -width / 2));
        painter.setPen(QPen(signs.worse, width));
        painter.drawRect(rect.adjusted(width / 2, width / 2, -width / 2, -width / 2));
    }
}

void HeatMap::paint_names(QPainter& painter, const QRectF& area, const QPalette& palette) const
{
    const QFontMetricsF metrics(painter.font());
    painter.setPen(palette.color(QPalette::Text));
    const QRectF first = rect_of({0, 0}, area);
    const auto step_of = [](double room, double needed) {
        return std::max(1, static_cast<int>(std::ceil(needed / std::max(1.0, room))));
    };
    const int row_step = step_of(first.height(), metrics.height());
    for (int row = 0; row < rows_; row += row_step) {
        const QRectF rect = rect_of({row, 0}, area);
        painter.drawText(
            QRectF(0, rect.center().y() - metrics.height() / 2, area.left() - 8, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, row_name(row));
    }
    const QString widest = QStringLiteral("GPU %1").arg(columns_ - 1);
    const bool whole = metrics.horizontalAdvance(widest) + 6 < first.width();
    const int column_step =
        step_of(first.width(), metrics.horizontalAdvance(QString::number(columns_ - 1)) + 6);
    for (int column = 0; column < columns_; column += whole ? 1 : column_step) {
        const QRectF rect = rect_of({0, column}, area);
        const QString name = whole ? QStringLiteral("GPU %1").arg(column) : QString::number(column);
        const double width = metrics.horizontalAdvance(name) + 4;
        painter.drawText(QRectF(rect.center().x() - width / 2, area.top() - metrics.height() - 4,
                                width, metrics.height()),
                         Qt::AlignCenter, name);
    }
}

void HeatMap::paint_legend(QPainter& painter, const QRectF& area, const QPalette& palette) const
{
    const QFontMetricsF metrics(painter.font());
    const QRectF bar(area.right() + 2 * map_margin, area.top(), metrics.height(),
                     std::min(area.height(), 12 * metrics.height()));
    QLinearGradient gradient(bar.bottomLeft(), bar.topLeft());
    for (int i = 0; i <= 10; ++i)
        gradient.setColorAt(i / 10.0, scale_colour(i / 10.0));
    painter.fillRect(bar, gradient);
    painter.setPen(palette.color(QPalette::Text));
    for (const double share : {0.0, 0.5, 1.0}) {
        const double value = least_ + share * (most_ - least_);
        const double y = std::clamp(bar.bottom() - share * bar.height() - metrics.height() / 2,
                                    bar.top(), bar.bottom() - metrics.height());
        painter.drawText(QPointF(bar.right() + 6, y + metrics.ascent()),
                         QStringLiteral("%1 %2").arg(cell_text(value), unit()));
    }
    if (slow_.empty())
        return;
    const double side = metrics.height();
    const QRectF key(bar.left(), bar.bottom() + side, side, side);
    if (key.bottom() > area.bottom() + side + 6)
        return;
    painter.fillRect(key, hatch(sign_colours(palette).worse));
    painter.setPen(QPen(sign_colours(palette).worse, 2));
    painter.drawRect(key);
    painter.setPen(palette.color(QPalette::Text));
    painter.drawText(QPointF(key.right() + 6, key.top() + metrics.ascent()),
                     QStringLiteral("slow"));
}

void HeatMap::paint(QPainter& painter, const QSize& size, const QPalette& palette,
                    const std::optional<MatrixCell>& mark) const
{
    painter.fillRect(QRect(QPoint(), size), palette.base());
    const QRectF cells = area(size, painter.font());
    if (cells.isEmpty())
        return;
    const QFontMetricsF metrics(painter.font());
    painter.setPen(palette.color(QPalette::Text));
    const QString title = QStringLiteral("%1, from row to column [%2]")
                              .arg(QString::fromStdString(matrix_->matrix.test), unit());
    painter.drawText(QPointF(map_margin, map_margin + metrics.ascent()),
                     metrics.elidedText(title, Qt::ElideRight, size.width() - 2 * map_margin));
    paint_cells(painter, cells, palette);
    paint_names(painter, cells, palette);
    paint_legend(painter, cells, palette);
    if (mark) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(palette.color(QPalette::Highlight), 3));
        painter.drawRect(rect_of(*mark, cells).adjusted(-1, -1, 1, 1));
    }
}

} // namespace trainyard::gui

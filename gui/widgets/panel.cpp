#include "gui/widgets/panel.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/theme.h"
#include "sim/base/quoted.h"

#include <QPainter>

namespace trainyard::gui {

namespace {

QString line_of(const QStringList& cells)
{
    QStringList out;
    for (const QString& cell : cells)
        out << text_of(csv_field(cell.toStdString()));
    return out.join(',') + '\n';
}

} // namespace

void Panel::set_in_sight(bool in_sight)
{
    if (in_sight == in_sight_)
        return;
    in_sight_ = in_sight;
    emit sightChanged();
}

void paint_message(QPainter& painter, const QSize& size, const QString& message,
                   const QPalette& palette)
{
    const QRect all(QPoint(), size);
    painter.fillRect(all, palette.base());
    painter.setPen(palette.color(QPalette::Text));
    painter.drawText(all.adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap, message);
}

void paint_table(QPainter& painter, const QSize& size, const TableData& table,
                 const QPalette& palette)
{
    painter.fillRect(QRect(QPoint(), size), palette.base());
    const auto columns = static_cast<int>(table.columns.size());
    if (columns == 0)
        return;
    constexpr int margin = 12;
    const QFontMetrics metrics(painter.font());
    const int line = metrics.height() + 6;
    const int width = (size.width() - 2 * margin) / columns;
    const auto draw = [&](int row, const QStringList& cells, const QColor& colour) {
        painter.setPen(colour);
        for (int column = 0; column < columns; ++column) {
            const QRect cell(margin + column * width, margin + row * line, width - 8, line);
            painter.drawText(cell, Qt::AlignVCenter,
                             metrics.elidedText(cells.value(column), Qt::ElideRight, cell.width()));
        }
    };
    draw(0, table.columns, sign_colours(palette).quiet);
    const int fitting = std::max(0, (size.height() - 2 * margin) / line - 1);
    const auto rows = static_cast<int>(table.rows.size());
    const bool all = rows <= fitting;
    const int shown = all ? rows : std::max(0, fitting - 1);
    for (int row = 0; row < shown; ++row)
        draw(row + 1, table.rows[static_cast<std::size_t>(row)], palette.color(QPalette::Text));
    if (!all)
        draw(shown + 1, {QStringLiteral("… %1 more rows").arg(rows - shown)},
             sign_colours(palette).quiet);
}

QString to_csv(const TableData& table)
{
    QString out = line_of(table.columns);
    for (const QStringList& row : table.rows)
        out += line_of(row);
    return out;
}

} // namespace trainyard::gui

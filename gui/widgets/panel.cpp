#include "gui/widgets/panel.h"

#include "gui/model/qt_text.h"
#include "gui/widgets/theme.h"
#include "sim/base/quoted.h"

#include <QPainter>
#include <algorithm>
#include <span>

namespace trainyard::gui {

namespace {

constexpr int column_gap = 16;

QString line_of(const QStringList& cells)
{
    QStringList out;
    for (const QString& cell : cells)
        out << text_of(csv_field(cell.toStdString()));
    return out.join(',') + '\n';
}

bool is_of_numbers(const TableData& table, int column)
{
    bool any = false;
    for (const QStringList& row : table.rows) {
        const QString cell = row.value(column);
        if (cell.isEmpty() || cell == QStringLiteral("–"))
            continue;
        cell.toDouble(&any);
        if (!any)
            return false;
    }
    return any;
}

// As wide as the cells of the first `rows`; where there is no room for all the widest give way,
// alike.
std::vector<int> column_widths(const TableData& table, int rows, const QFontMetrics& metrics,
                               int room)
{
    std::vector<int> wanted;
    for (int column = 0; column < table.columns.size(); ++column) {
        int width = metrics.horizontalAdvance(table.columns[column]);
        for (const QStringList& row : std::span(table.rows).first(static_cast<std::size_t>(rows)))
            width = std::max(width, metrics.horizontalAdvance(row.value(column)));
        wanted.push_back(width + column_gap);
    }
    std::vector<int> rising = wanted;
    std::ranges::sort(rising);
    int most = rising.back();
    for (std::size_t i = 0; i < rising.size(); ++i) {
        const int share = room / static_cast<int>(rising.size() - i);
        if (rising[i] > share) {
            most = share;
            break;
        }
        room -= rising[i];
    }
    for (int& width : wanted)
        width = std::min(width, most);
    return wanted;
}

} // namespace

std::vector<Qt::Alignment> alignments_of(const TableData& table)
{
    std::vector<Qt::Alignment> out;
    for (int column = 0; column < table.columns.size(); ++column)
        out.push_back(Qt::AlignVCenter |
                      (is_of_numbers(table, column) ? Qt::AlignRight : Qt::AlignLeft));
    return out;
}

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
    const int fitting = std::max(0, (size.height() - 2 * margin) / line - 1);
    const auto rows = static_cast<int>(table.rows.size());
    const int shown = rows <= fitting ? rows : std::max(0, fitting - 1);
    const int room = size.width() - 2 * margin;
    const std::vector<int> widths = column_widths(table, shown, metrics, room);
    const std::vector<Qt::Alignment> alignments = alignments_of(table);
    const auto draw = [&](int row, const QStringList& cells, const QColor& colour) {
        painter.setPen(colour);
        int left = margin;
        for (int column = 0; column < columns; ++column) {
            const int width = widths[static_cast<std::size_t>(column)];
            const QRect cell(left, margin + row * line, width - column_gap, line);
            left += width;
            painter.drawText(cell, static_cast<int>(alignments[static_cast<std::size_t>(column)]),
                             metrics.elidedText(cells.value(column), Qt::ElideRight, cell.width()));
        }
    };
    draw(0, table.columns, sign_colours(palette).quiet);
    for (int row = 0; row < shown; ++row)
        draw(row + 1, table.rows[static_cast<std::size_t>(row)], palette.color(QPalette::Text));
    painter.setPen(sign_colours(palette).quiet);
    if (shown < rows)
        painter.drawText(QRect(margin, margin + (shown + 1) * line, room, line), Qt::AlignVCenter,
                         QStringLiteral("… %1 more rows").arg(rows - shown));
}

QString to_csv(const TableData& table)
{
    QString out = line_of(table.columns);
    for (const QStringList& row : table.rows)
        out += line_of(row);
    return out;
}

} // namespace trainyard::gui

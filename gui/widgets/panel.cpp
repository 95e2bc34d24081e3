#include "gui/widgets/panel.h"

namespace trainyard::gui {

namespace {

QString quoted(const QString& cell)
{
    static const QString special = QStringLiteral(",\"\r\n");
    for (const QChar letter : cell)
        if (special.contains(letter))
            return QLatin1Char('"') + QString(cell).replace('"', "\"\"") + QLatin1Char('"');
    return cell;
}

QString line_of(const QStringList& cells)
{
    QStringList out;
    for (const QString& cell : cells)
        out << quoted(cell);
    return out.join(',') + '\n';
}

} // namespace

QString to_csv(const TableData& table)
{
    QString out = line_of(table.columns);
    for (const QStringList& row : table.rows)
        out += line_of(row);
    return out;
}

} // namespace trainyard::gui

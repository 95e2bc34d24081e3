#pragma once

// A view of the run: what every one of them can do, so that export, tables and screenshots need
// not know them.

#include <QString>
#include <QStringList>
#include <QWidget>
#include <vector>

namespace trainyard::gui {

// A chart's numbers: the twin that "show as table" and CSV show. Cells are texts as people read
// them, with the unit in the column's name.
struct TableData {
    QStringList columns;
    std::vector<QStringList> rows;

    bool operator==(const TableData&) const = default;
};

class Panel : public QWidget {
    Q_OBJECT

public:
    using QWidget::QWidget;

    virtual QString key() const = 0; // "timeline": for --view, file names and saved layouts
    virtual QString title() const = 0;

    // The same picture at any size, for PNG and SVG: nothing that only makes sense on a screen
    // (hover, scroll bars).
    virtual void paint_to(QPainter& painter, const QSize& size) = 0;
    virtual TableData table() const = 0;
};

// The table as a picture, its first rows as far as they fit: for views that are tables.
void paint_table(QPainter& painter, const QSize& size, const TableData& table,
                 const QPalette& palette);

// RFC 4180, lines end in "\n".
QString to_csv(const TableData& table);

} // namespace trainyard::gui

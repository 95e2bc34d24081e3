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

// By column: those of numbers, cells without one left aside, end at the right.
std::vector<Qt::Alignment> alignments_of(const TableData& table);

// A key of a view, for lists of all keys.
struct KeyHelp {
    QString keys;
    QString what;
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

    // What is exported and shown as tables by itself: a view of several charts names them.
    virtual std::vector<Panel*> parts() { return {this}; }

    // Brings that part to the fore; empty: all of them.
    virtual void show_part(const QString& key) { Q_UNUSED(key) }

    // Whether a picture is still being made; pictures without a display wait for it.
    virtual bool busy() const { return false; }
    // Ends what makes it busy; the view says that it was cancelled.
    virtual void cancel() {}
    // Begins what a window would wait to be asked for: before a picture without a display.
    virtual void prepare_picture() {}
    // Whether it shows single ops of the run while it is in sight.
    virtual bool wants_ops() const { return false; }

    virtual std::vector<KeyHelp> key_help() const { return {}; }

    // Behind another view's tab, or closed: what costs time can wait.
    bool in_sight() const { return in_sight_; }
    void set_in_sight(bool in_sight);

signals:
    void sightChanged();
    void busyChanged();
    void tableWanted(); // "show as table" of this part

private:
    bool in_sight_ = true;
};

// A view that has nothing to show says what to do instead.
void paint_message(QPainter& painter, const QSize& size, const QString& message,
                   const QPalette& palette);

// The table as a picture, its first rows as far as they fit: for views that are tables.
void paint_table(QPainter& painter, const QSize& size, const TableData& table,
                 const QPalette& palette);

// RFC 4180, lines end in "\n".
QString to_csv(const TableData& table);

} // namespace trainyard::gui

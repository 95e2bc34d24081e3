#pragma once

// The title of a dock: the view's name, its table and its export, float and close. All of it is
// reached by keyboard too.

#include <QWidget>

class QDockWidget;
class QHBoxLayout;
class QToolButton;

namespace trainyard::gui {

class Panel;

class DockTitle : public QWidget {
    Q_OBJECT

public:
    // `panel`: the view in the dock; null for what is no view (no table, no export).
    DockTitle(QDockWidget& dock, Panel* panel);

    // What brings the dock to the front, for the tooltip.
    void set_key(const QString& key);

signals:
    void tableWanted(trainyard::gui::Panel* part);
    void exportWanted(trainyard::gui::Panel* part);

private:
    using Signal = void (DockTitle::*)(Panel*);

    QToolButton* add_button(const QString& name, const QString& tip);
    void add_view_button(const QString& name, const QString& tip, Signal signal);

    QDockWidget& dock_;
    Panel* panel_;
    QHBoxLayout* row_;
};

} // namespace trainyard::gui

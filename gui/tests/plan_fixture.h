#pragma once

// A planner of a small scenario, by keyboard and mouse.

#include "gui/plan/plan_panel.h"
#include "gui/tests/window_test.h"

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

namespace trainyard::gui::test {

class PlanFixture : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

protected:
    template <class Widget>
    Widget& part(const char* name)
    {
        return *panel_->findChild<Widget*>(QString::fromLatin1(name));
    }
    // Types into a field of the form.
    void type(const char* field, const char* text);
    // Until what was typed was looked at.
    void settle();
    // Presses Plan and waits for the answer.
    void plan();
    // The two cluster rows of which is cheaper.
    void ask_for_clusters();
    QString cell(int row, const char* heading);

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<PlanPanel> panel_;
};

} // namespace trainyard::gui::test

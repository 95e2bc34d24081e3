#pragma once

// An explorer of a small scenario, by keyboard and mouse.

#include "gui/explore/explore_panel.h"
#include "gui/tests/window_test.h"

#include <QTableView>

namespace trainyard::gui::test {

class ExploreFixture : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

protected:
    void sweep();
    // Only these values of these fields.
    void choose(const std::vector<std::pair<std::string, std::vector<std::string>>>& axes);
    ScatterChart& chart() { return panel_->scatter().chart(); }
    QTableView& table() { return *panel_->findChild<QTableView*>(QStringLiteral("points")); }
    // The first in the table, the open scenario's own row left out.
    std::uint32_t first_point()
    {
        return rows().point(rows().point(0) == PointStore::guest ? 1 : 0);
    }
    PointsModel& rows() { return *panel_->findChild<PointsModel*>(); }

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<ExplorePanel> panel_;
};

} // namespace trainyard::gui::test

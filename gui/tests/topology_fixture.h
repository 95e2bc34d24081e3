#pragma once

// A window-less topology of two nodes, by keyboard and mouse.

#include "gui/tests/window_test.h"
#include "gui/topology/topology_panel.h"

namespace trainyard::gui::test {

class TopologyFixture : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

protected:
    TopologyCanvas& canvas() { return panel_->canvas(); }
    const TopologyRun& run() { return *canvas().run(); }
    ViewState& view() { return workspace_->view(); }
    void key(Qt::Key key) { QTest::keyClick(&canvas(), key); }
    void click(const QPoint& at) { QTest::mouseClick(&canvas(), Qt::LeftButton, {}, at); }
    LinkId link(const char* name);
    std::uint32_t place(const char* name);
    void wait_for_another(const std::shared_ptr<const TopologyRun>& before);

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<TopologyPanel> panel_;
};

} // namespace trainyard::gui::test

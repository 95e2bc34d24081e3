#pragma once

// A window-less timeline of a small job, by keyboard and mouse.

#include "gui/tests/window_test.h"
#include "gui/timeline/timeline_panel.h"

namespace trainyard::gui::test {

class TimelineFixture : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

protected:
    TimelineCanvas& canvas() { return panel_->canvas(); }
    const TimelineModel& model() { return *canvas().model(); }
    ViewState& view() { return workspace_->view(); }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {})
    {
        QTest::keyClick(&canvas(), key, modifiers);
    }
    // Where a track's line is, at that part of the width.
    QPoint place(std::uint32_t track, double across);
    std::uint32_t track_of(const std::string& name, std::size_t nth = 0);

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<TimelinePanel> panel_;
};

} // namespace trainyard::gui::test

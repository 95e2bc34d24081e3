#pragma once

// The whole window, by keyboard and mouse, with a folder for its files.

#include "gui/app/main_window.h"
#include "gui/tests/window_test.h"
#include "gui/timeline/timeline_canvas.h"

#include <QTemporaryDir>

namespace trainyard::gui::test {

class WindowFixture : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

protected:
    // Another window in place of the one before.
    void restart();
    void open(const std::string& file);
    void drop(const std::string& file); // from a file manager
    virtual bool settled();
    TimelineCanvas& canvas();
    // Whether the focus is in that dock.
    bool focus_in(const QString& dock);
    std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }

    QTemporaryDir folder_;
    std::unique_ptr<MainWindow> window_;
};

} // namespace trainyard::gui::test

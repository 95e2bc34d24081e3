#include "gui/tests/window_fixture.h"

#include "gui/timeline/timeline_panel.h"

#include <QApplication>
#include <QDockWidget>
#include <QDropEvent>
#include <QFileInfo>
#include <QMimeData>

namespace trainyard::gui::test {

void WindowFixture::init()
{
    restart();
}

void WindowFixture::cleanup()
{
    window_.reset();
}

void WindowFixture::restart()
{
    window_ = std::make_unique<MainWindow>(Places{path("autosave"), false});
    window_->resize(1280, 800);
    window_->show();
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window_.get()));
}

void WindowFixture::open(const std::string& file)
{
    QVERIFY(window_->open(file));
    QVERIFY(settled());
}

void WindowFixture::drop(const std::string& file)
{
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(QFileInfo(QString::fromStdString(file)).absoluteFilePath())});
    QDragEnterEvent enter(QPoint(20, 20), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(window_.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent dropped(QPointF(20, 20), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(window_.get(), &dropped);
    QVERIFY(settled());
}

bool WindowFixture::settled()
{
    return QTest::qWaitFor([&] { return !window_->busy(); }, patience_ms);
}

TimelineCanvas& WindowFixture::canvas()
{
    return window_->findChild<TimelinePanel*>()->canvas();
}

bool WindowFixture::focus_in(const QString& dock)
{
    return window_->findChild<QDockWidget*>(dock)->isAncestorOf(QApplication::focusWidget());
}

} // namespace trainyard::gui::test

// Docks, themes and files of the window, as a new user meets them.

#include "gui/breakdown/memory_panel.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/scenario/stepper.h"
#include "gui/tests/window_fixture.h"
#include "gui/widgets/theme.h"
#include "sim/base/files.h"

#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QSlider>
#include <QTimer>
#include <QToolButton>

using namespace trainyard;
using namespace trainyard::gui;

class TestLayout : public test::WindowFixture {
    Q_OBJECT

private slots:
    void aClosedViewIsTheOneInSight();
    void theLayoutCanBeReset();
    void aFloatingViewLeavesTheWindowInSight();
    void nothingOpensUnderTheHand();
    void anExampleIsNeverOverwritten();
    void filesToBeSavedHaveNames();
    void theThemeCanFollowTheDesktop();
    void memoryHasAWayBackToTheWholeStep();

private:
    QDockWidget& dock(const char* key)
    {
        return *window_->findChild<QDockWidget*>(QLatin1String(key));
    }
    QAction* item(const QString& menu, const QString& name)
    {
        for (const QAction* const top : window_->menuBar()->actions())
            if (top->text().remove('&') == menu)
                for (QAction* const one : top->menu()->actions())
                    if (one->text().remove('&') == name)
                        return one;
        return nullptr;
    }
};

// The view behind its tab kept the focus.
void TestLayout::aClosedViewIsTheOneInSight()
{
    open(eight);
    QTest::keyClick(window_.get(), Qt::Key_3, Qt::ControlModifier);
    QTRY_VERIFY(window_->panel("topology")->in_sight());
    window_->show_panel(QStringLiteral("breakdown"));
    QTRY_VERIFY(window_->panel("breakdown")->in_sight());
    QVERIFY(!window_->panel("topology")->in_sight());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_W, Qt::ControlModifier);
    QVERIFY(!dock("scenario").isHidden());
    QVERIFY(!dock("topology").isHidden());
    QVERIFY(dock("breakdown").isHidden());
}

void TestLayout::theLayoutCanBeReset()
{
    open(eight);
    dock("scenario").close();
    dock("timeline").setFloating(true);
    window_->addDockWidget(Qt::BottomDockWidgetArea, &dock("topology"));
    item(QStringLiteral("View"), QStringLiteral("Reset the layout"))->trigger();
    QVERIFY(dock("scenario").isVisible());
    QVERIFY(!dock("timeline").isFloating());
    QVERIFY(window_->tabifiedDockWidgets(&dock("timeline")).contains(&dock("topology")));
    QTRY_VERIFY(window_->panel("timeline")->in_sight());
}

void TestLayout::aFloatingViewLeavesTheWindowInSight()
{
    open(eight);
    for (QToolButton* const button :
         dock("timeline").titleBarWidget()->findChildren<QToolButton*>())
        if (button->toolTip().startsWith(QStringLiteral("Take ")))
            button->click();
    QVERIFY(dock("timeline").isFloating());
    const QRect window(window_->mapToGlobal(QPoint()), window_->size());
    QVERIFY(dock("timeline").width() < window.width());
    QVERIFY(dock("timeline").height() < window.height());
    QVERIFY(dock("timeline").pos() != window.topLeft());
}

void TestLayout::nothingOpensUnderTheHand()
{
    open(eight);
    auto* const slider =
        window_->findChild<Stepper*>(QStringLiteral("strategy.pp"))->findChild<QSlider*>();
    slider->setSliderDown(true);
    slider->setSliderPosition(slider->maximum()); // more devices than there are
    QVERIFY(settled());
    slider->setSliderPosition(slider->minimum());
    window_->workspace().document().set("strategy.tp", "3");
    QVERIFY(settled());
    QVERIFY(has_errors(window_->workspace().problems()));
    QVERIFY(!dock("problems").isVisible());
    slider->setSliderDown(false);
    QVERIFY(dock("problems").isVisible());
}

void TestLayout::anExampleIsNeverOverwritten()
{
    const std::string before = read_file(eight);
    open(eight);
    window_->workspace().document().set("training.global_batch", "64");
    QString proposed;
    QTimer::singleShot(0, [&] {
        auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        proposed = dialog->directory().absolutePath();
        dialog->reject();
    });
    item(QStringLiteral("File"), QStringLiteral("Save scenario"))->trigger();
    QVERIFY(!proposed.isEmpty());
    QVERIFY(!proposed.endsWith(QStringLiteral("/scenarios")));
    QCOMPARE(read_file(eight), before);
    QVERIFY(window_->workspace().document().modified());
    // A user's own file is.
    window_->workspace().document().save(path("mine.json"));
    window_->workspace().document().set("training.global_batch", "32");
    item(QStringLiteral("File"), QStringLiteral("Save scenario"))->trigger();
    QVERIFY(!window_->workspace().document().modified());
}

void TestLayout::filesToBeSavedHaveNames()
{
    const auto proposed = [&](const char* name) {
        QString file;
        QTimer::singleShot(0, [&] {
            auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            file = dialog->selectedFiles().value(0);
            dialog->reject();
        });
        item(QStringLiteral("File"), QLatin1String(name))->trigger();
        return QFileInfo(file);
    };
    open(eight);
    QCOMPARE(proposed("Save scenario as ...").fileName(), QString("llama3-8b-h100-8.json"));
    QCOMPARE(proposed("Save session ...").fileName(), QString("llama3-8b-h100-8.trainyard.json"));
    // One that no file has is named after its model.
    Json json = window_->workspace().document().json();
    json["model"] = "llama-2-7b";
    window_->workspace().document().load(json, "");
    QVERIFY(settled());
    QCOMPARE(proposed("Save scenario as ...").fileName(), QString("llama-2-7b.json"));
    QCOMPARE(proposed("Save session ...").fileName(), QString("llama-2-7b.trainyard.json"));
    // A user's own stays where it is.
    window_->workspace().document().save(path("mine.json"));
    QCOMPARE(proposed("Save session ...").absoluteFilePath(),
             folder_.filePath("mine.trainyard.json"));
}

void TestLayout::theThemeCanFollowTheDesktop()
{
    const Theme desktop = system_theme();
    item(QStringLiteral("View"), QStringLiteral("Dark"))->trigger();
    QVERIFY(theme_of(QApplication::palette()) == Theme::dark);
    item(QStringLiteral("View"), QStringLiteral("As the desktop"))->trigger();
    QVERIFY(theme_of(QApplication::palette()) == desktop);
}

void TestLayout::memoryHasAWayBackToTheWholeStep()
{
    open(eight);
    window_->show_part(QStringLiteral("breakdown"), QStringLiteral("breakdown-memory"));
    QVERIFY(settled());
    auto* const memory = window_->findChild<MemoryPanel*>();
    QToolButton* back = nullptr;
    for (QToolButton* const button : memory->findChildren<QToolButton*>())
        if (button->text() == QStringLiteral("Whole step"))
            back = button;
    QVERIFY(back != nullptr && !back->isVisible());
    ViewState& view = window_->workspace().view();
    const TimeRange whole = view.whole();
    view.show({whole.from, whole.from + SimTime(whole.length().value() / 4)}); // in the timeline
    QVERIFY(back->isVisible());
    back->click();
    QVERIFY(view.range() == whole);
    QVERIFY(!back->isVisible());
}

TRAINYARD_WINDOW_TEST(TestLayout, QApplication)
#include "test_layout.moc"

// The window's frame: titles of docks, keys, cancel, what is in sight.

#include "gui/explore/explore_panel.h"
#include "gui/scenario/headline_bar.h"
#include "gui/tests/window_fixture.h"
#include "gui/widgets/table_dialog.h"

#include <QDockWidget>
#include <QLabel>
#include <QTableView>
#include <QToolButton>

using namespace trainyard;
using namespace trainyard::gui;

class TestFrame : public test::WindowFixture {
    Q_OBJECT

private slots:
    void everyViewOffersItsTableAndExport();
    void keysReachEveryView();
    void theListOfKeysNamesThemAll();
    void escapeCancelsAndF5GoesOn();
    void escapeCancelsASweep();
    void aHiddenTimelineWaits();
    void escapeIsTheViewsOwnWhileNothingRuns();
    void onlyModelsWithExpertsHaveTheirSlider();
    void theHeadlineComesWithAScenario();
    void theHeadlineIsReachedByKeyboard();
};

void TestFrame::everyViewOffersItsTableAndExport()
{
    open(eight);
    for (Panel* const panel : window_->panels()) {
        auto* const dock = window_->findChild<QDockWidget*>(panel->key());
        const auto buttons = dock->titleBarWidget()->findChildren<QToolButton*>();
        QCOMPARE(buttons.size(), 4); // table, export, float, close
        for (const QToolButton* const button : buttons) {
            QVERIFY(button->toolTip().contains(panel->title()));
            QVERIFY(!button->accessibleName().isEmpty());
            QVERIFY((button->focusPolicy() & Qt::TabFocus) != 0);
        }
        if (panel->parts().size() != 1)
            continue; // asks which
        window_->show_panel(panel->key());
        QTRY_VERIFY_WITH_TIMEOUT(!panel->busy(), patience_ms);
        buttons.front()->setFocus();
        QTest::keyClick(buttons.front(), Qt::Key_Space);
        auto* const table = window_->findChild<TableDialog*>();
        QVERIFY(table != nullptr && table->isVisible());
        QVERIFY(table->windowTitle().contains(panel->title()));
        QVERIFY(table->findChild<QTableView*>()->model()->rowCount() > 0);
        delete table;
    }
}

void TestFrame::keysReachEveryView()
{
    open(eight);
    int number = 0;
    for (const Panel* const panel : window_->panels()) {
        QTest::keyClick(window_.get(), static_cast<Qt::Key>(Qt::Key_1 + number++),
                        Qt::ControlModifier);
        QTRY_VERIFY(panel->in_sight());
        QVERIFY2(focus_in(panel->key()), qPrintable(panel->key()));
    }
    // F6 comes back to where it began, through all that is in sight; shift goes the other way.
    const QWidget* const start = QApplication::focusWidget();
    QList<const QWidget*> visited;
    do {
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
        visited << QApplication::focusWidget();
    } while (visited.back() != start && visited.size() < 20);
    QCOMPARE(visited.back(), start);
    QVERIFY(visited.size() >= 4); // scenario, another view, problems, headline
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6, Qt::ShiftModifier);
    QCOMPARE(QApplication::focusWidget(), visited[visited.size() - 2]);
    QTest::keyClick(window_.get(), Qt::Key_1, Qt::ControlModifier);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_W, Qt::ControlModifier);
    QVERIFY(!window_->findChild<QDockWidget*>(QStringLiteral("scenario"))->isVisible());
}

void TestFrame::theListOfKeysNamesThemAll()
{
    QTest::keyClick(window_.get(), Qt::Key_F1);
    const auto* const dialog = window_->findChild<TableDialog*>();
    QVERIFY(dialog != nullptr);
    const QAbstractItemModel& list = *dialog->findChild<QTableView*>()->model();
    QString all;
    for (int row = 0; row < list.rowCount(); ++row)
        all += list.index(row, 1).data().toString() + '|' + list.index(row, 2).data().toString() +
               '\n';
    for (const char* entry : {"F5|Simulate again", "Esc|Cancel", "Ctrl+2|Timeline", "F6|Next place",
                              "Ctrl+T|Show as table", "M|measure", "P|pin the point",
                              "H|where the time goes", "X, Space, Return|keep the point"})
        QVERIFY2(all.contains(QLatin1String(entry)), entry);
}

void TestFrame::escapeCancelsAndF5GoesOn()
{
    open(eight);
    const auto first = window_->workspace().run();
    Document& document = window_->workspace().document();
    document.edit({{"run.engine", "reference"}, {"run.fold", "false"}, {"run.steps", "400"}});
    QTest::qWait(20);
    QVERIFY(window_->workspace().live().busy());
    QTest::keyClick(&canvas(), Qt::Key_Escape); // in the timeline too
    QVERIFY(!window_->busy());
    QVERIFY(window_->workspace().cancelled());
    QVERIFY(window_->workspace().run() == first);
    bool told = false;
    for (const QLabel* const label : window_->findChild<HeadlineBar*>()->findChildren<QLabel*>())
        told = told || label->text().contains(QStringLiteral("F5"));
    QVERIFY(told);
    document.edit({{"run.steps", "2"}});
    QVERIFY(settled());
    const auto second = window_->workspace().run();
    QVERIFY(second != first);
    QTest::keyClick(window_.get(), Qt::Key_F5);
    QVERIFY(window_->workspace().live().busy());
    QVERIFY(settled());
    QVERIFY(window_->workspace().run() != second);
    QVERIFY(window_->workspace().current() && !window_->workspace().cancelled());
    QVERIFY(canvas().model() != nullptr);
}

void TestFrame::escapeCancelsASweep()
{
    open(eight);
    window_->show_panel(QStringLiteral("explore"));
    QVERIFY(settled());
    auto* const explore = window_->findChild<ExplorePanel*>();
    explore->start();
    QVERIFY(explore->job().running());
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!explore->job().running());
    QVERIFY(!window_->busy());
}

void TestFrame::aHiddenTimelineWaits()
{
    open(eight);
    const auto before = canvas().model();
    window_->show_panel(QStringLiteral("topology"));
    window_->workspace().document().set("training.global_batch", "64");
    QVERIFY(settled());
    QVERIFY(window_->workspace().recorded()->file == window_->workspace().run()->file);
    QVERIFY(canvas().model() == before);
    window_->show_panel(QStringLiteral("timeline"));
    QVERIFY(settled());
    QVERIFY(canvas().model()->runs.front()->outcome == window_->workspace().recorded()->outcome);
}

void TestFrame::escapeIsTheViewsOwnWhileNothingRuns()
{
    open(eight);
    canvas().setFocus();
    QTest::keyClick(&canvas(), Qt::Key_Down);
    QVERIFY(canvas().pinned() != nothing);
    QTest::keyClick(&canvas(), Qt::Key_Escape);
    QCOMPARE(canvas().pinned(), nothing);
}

void TestFrame::onlyModelsWithExpertsHaveTheirSlider()
{
    open(eight);
    const auto* const ep = window_->findChild<QWidget*>(QStringLiteral("strategy.ep"));
    QVERIFY(!ep->isVisible());
    open("scenarios/mixtral-8x7b-ep8-h100-64.json");
    window_->workspace().document().reset("strategy.ep");
    QVERIFY(settled());
    QVERIFY(window_->workspace().current());
    QVERIFY(ep->isVisible());
}

void TestFrame::theHeadlineComesWithAScenario()
{
    QVERIFY(!window_->findChild<HeadlineBar*>()->isVisible());
    for (int place = 0; place < 3; ++place)
        QTest::keyClick(window_.get(), Qt::Key_F6); // nor is it a place
    QVERIFY(!window_->findChild<HeadlineBar*>()->isAncestorOf(QApplication::focusWidget()));
    open(eight);
    QVERIFY(window_->findChild<HeadlineBar*>()->isVisible());
}

void TestFrame::theHeadlineIsReachedByKeyboard()
{
    open(eight);
    window_->workspace().set_price({2.0, "USD"});
    int cards = 0;
    auto* const bar = window_->findChild<HeadlineBar*>(); // its line of advice has buttons, too
    for (QWidget* const card : bar->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        if ((card->focusPolicy() & Qt::TabFocus) == 0)
            continue;
        ++cards;
        card->setFocus(Qt::TabFocusReason);
        QVERIFY(card->hasFocus());
        QVERIFY(!card->accessibleName().isEmpty());
        QVERIFY(!card->accessibleDescription().isEmpty());
    }
    QCOMPARE(cards, 5);
}

TRAINYARD_WINDOW_TEST(TestFrame, QApplication)
#include "test_frame.moc"

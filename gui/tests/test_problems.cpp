// The list of problems, its button, and what a slider says of its own.

#include "gui/scenario/scenario_panel.h"
#include "gui/scenario/stepper.h"
#include "gui/tests/window_fixture.h"
#include "gui/widgets/elided.h"
#include "gui/widgets/problems_button.h"
#include "gui/widgets/problems_view.h"

#include <QDockWidget>
#include <QSignalSpy>

using namespace trainyard;
using namespace trainyard::gui;

class TestProblems : public test::WindowFixture {
    Q_OBJECT

private slots:
    void problemsOpenWithTheFirstError();
    void warningsOnlyChangeTheButton();
    void theLayoutKeepsProblemsClosed();
    void aSliderSaysWhyItsValueCannotBe();
    void manyProblemsAreCutShort();
    void problemsQuoteWhatTheFormSaysNow();
};

void TestProblems::problemsOpenWithTheFirstError()
{
    open(eight);
    auto* const dock = window_->findChild<QDockWidget*>(QStringLiteral("problems"));
    auto* const button = window_->findChild<ProblemsButton*>();
    QVERIFY(!dock->isVisible());
    QVERIFY(button->text().endsWith(QStringLiteral("No problems")));
    Document& document = window_->workspace().document();
    document.set("strategy.tp", "3");
    QVERIFY(settled());
    QVERIFY(dock->isVisible());
    QVERIFY(button->text().contains(QStringLiteral("error")));
    QVERIFY(!button->text().contains(QStringLiteral("No problems")));
    // Closed by keyboard it stays closed while the same is wrong.
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
    QVERIFY(!dock->isVisible());
    document.set("strategy.tp", "5");
    QVERIFY(settled());
    QVERIFY(!dock->isVisible());
    QTest::keyClick(button, Qt::Key_Space);
    QVERIFY(dock->isVisible());
    QVERIFY(focus_in(QStringLiteral("problems")));
    document.undo_stack().undo();
    document.undo_stack().undo();
    QVERIFY(settled());
    QVERIFY(button->text().endsWith(QStringLiteral("No problems")));
}

void TestProblems::warningsOnlyChangeTheButton()
{
    ProblemsView view;
    QSignalSpy counted(&view, &ProblemsView::counted);
    ProblemsButton button;
    view.set_problems(
        {{"", 0, "", "a", "", Severity::warning}, {"", 0, "", "b", "", Severity::warning}});
    view.add({{"", 0, "", "c", "", Severity::error}});
    QCOMPARE(counted.count(), 2);
    QCOMPARE(view.count_of(Severity::warning), 2);
    QCOMPARE(view.count_of(Severity::error), 1);
    button.set_counts(1, 2);
    QCOMPARE(button.accessibleName(), QString("1 error, 2 warnings"));
    const QColor error = button.palette().color(QPalette::ButtonText);
    button.set_counts(0, 2);
    QCOMPARE(button.accessibleName(), QString("2 warnings"));
    QVERIFY(button.palette().color(QPalette::ButtonText) != error);
    // A session whose scenario has gone is a warning: nothing opens.
    open(eight);
    window_->workspace().document().save(path("job.json"));
    QVERIFY(window_->save_session(path("a.trainyard.json")));
    std::filesystem::remove(path("job.json"));
    restart();
    QVERIFY(window_->open(path("a.trainyard.json")));
    QVERIFY(window_->findChild<ProblemsButton*>()->text().endsWith(QStringLiteral("1 warning")));
    QVERIFY(!window_->findChild<QDockWidget*>(QStringLiteral("problems"))->isVisible());
}

// Whatever was open when a session was saved.
void TestProblems::theLayoutKeepsProblemsClosed()
{
    open(eight);
    window_->show_panel(QStringLiteral("problems"));
    QVERIFY(window_->save_session(path("b.trainyard.json")));
    restart();
    QVERIFY(window_->open(path("b.trainyard.json")));
    QVERIFY(!window_->findChild<QDockWidget*>(QStringLiteral("problems"))->isVisible());
}

void TestProblems::aSliderSaysWhyItsValueCannotBe()
{
    open(eight);
    // The reader points to dp: more devices than there are.
    auto* const dp = window_->findChild<Stepper*>(QStringLiteral("strategy.dp"));
    auto* const pp = window_->findChild<Stepper*>(QStringLiteral("strategy.pp"));
    const auto* const line = window_->findChild<ScenarioPanel*>()->findChild<ElidedLabel*>();
    const QString help = dp->toolTip();
    const QString other_help = pp->toolTip();
    QVERIFY(!window_->workspace().document().set("strategy.tp", "3"));
    QVERIFY(settled());
    QVERIFY(line->isVisible());
    const QString reason = line->text();
    QVERIFY2(reason.startsWith(QStringLiteral("dp: ")) && reason.contains('3'), qPrintable(reason));
    QVERIFY2(dp->toolTip().startsWith(reason.mid(4)), qPrintable(dp->toolTip()));
    QCOMPARE(pp->toolTip(), other_help);
    window_->workspace().document().undo_stack().undo();
    QVERIFY(settled());
    QVERIFY(line->text().isEmpty());
    QCOMPARE(dp->toolTip(), help);
}

void TestProblems::manyProblemsAreCutShort()
{
    ProblemsView view;
    view.set_problems(Problems(200'000, {"job.json", 0, "/x", "unknown", "", Severity::error}));
    QCOMPARE(view.count_of(Severity::error), 200'000); // they are counted all the same
    QVERIFY(view.count() < 100);
    QVERIFY(view.item(view.count() - 1)->text().contains(QStringLiteral("more")));
}

// Not the line of the file, which says something else.
void TestProblems::problemsQuoteWhatTheFormSaysNow()
{
    open(eight);
    QVERIFY(!window_->workspace().document().set("strategy.zero", "7"));
    QVERIFY(settled());
    const auto* const view = window_->findChild<ProblemsView*>();
    const QString text = view->item(0)->text();
    QVERIFY2(text.contains(QStringLiteral("strategy.zero = 7")), qPrintable(text));
    QVERIFY2(!text.contains(QStringLiteral("\"zero\": 3")), qPrintable(text));
    // Of another file it is the line there.
    ProblemsView other;
    other.set_problems({{eight, 6, "/strategy/zero", "wrong", "", Severity::error}});
    QVERIFY(other.item(0)->text().contains(QStringLiteral("\"zero\": 3")));
}

TRAINYARD_WINDOW_TEST(TestProblems, QApplication)
#include "test_problems.moc"

// The scenario as JSON: typed, applied, marked where it is wrong.

#include "gui/scenario/json_view.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/tests/window_fixture.h"
#include "gui/widgets/problems_view.h"

#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabBar>

using namespace trainyard;
using namespace trainyard::gui;

class TestJsonView : public test::WindowFixture {
    Q_OBJECT

private slots:
    void whatIsTypedCountsOnceApplied();
    void whatIsNoJsonIsSaidWithItsLine();
    void othersChangesLeaveWhatIsTyped();
    void anotherScenarioForgetsWhatIsTyped();
    void aProblemLeadsToItsLine();
    void linesAreThoseOfPointers();

private:
    JsonView& view() { return *window_->findChild<JsonView*>(); }
    QPlainTextEdit& editor() { return view().editor(); }
    void show()
    {
        open(eight);
        window_->findChild<ScenarioPanel*>()->findChild<QTabBar*>()->setCurrentIndex(1);
        QVERIFY(editor().isVisible());
        editor().setFocus();
    }
    void change(const QString& from, const QString& to)
    {
        QVERIFY(editor().find(from) || editor().find(from, QTextDocument::FindBackward));
        QTest::keyClicks(&editor(), to);
    }
    bool said(const QString& words)
    {
        for (const QLabel* const label : view().findChildren<QLabel*>())
            if (label->text().contains(words))
                return true;
        return false;
    }
};

void TestJsonView::whatIsTypedCountsOnceApplied()
{
    show();
    Document& document = window_->workspace().document();
    const Json before = document.json();
    change(QStringLiteral("\"global_batch\": 8"), QStringLiteral("\"global_batch\": 64"));
    QVERIFY(document.json() == before);
    QTest::keyClick(&editor(), Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(document.find("training.global_batch")->as_integer(), std::int64_t{64});
    QVERIFY(settled());
    QCOMPARE(window_->workspace().run()->file->scenario.training.global_batch, std::int64_t{64});
    document.undo_stack().undo();
    QVERIFY(document.json() == before);
    QVERIFY(editor().toPlainText().contains(QStringLiteral("\"global_batch\": 8")));
}

void TestJsonView::whatIsNoJsonIsSaidWithItsLine()
{
    show();
    const Json before = window_->workspace().document().json();
    change(QStringLiteral("\"global_batch\": 8"), QStringLiteral("\"global_batch\": 12 8"));
    const int line = editor().textCursor().blockNumber() + 1;
    view().findChildren<QPushButton*>().back()->click(); // apply
    QVERIFY2(said(QStringLiteral("Line %1").arg(line)),
             qPrintable(view().findChild<QLabel*>()->text()));
    QVERIFY(window_->workspace().document().json() == before);
    QVERIFY(editor().toPlainText().contains(QStringLiteral("12 8"))); // to be mended
    view().revert();
    QVERIFY(!editor().toPlainText().contains(QStringLiteral("12 8")));
    QVERIFY(!said(QStringLiteral("Line")));
}

void TestJsonView::othersChangesLeaveWhatIsTyped()
{
    show();
    change(QStringLiteral("\"global_batch\": 8"), QStringLiteral("\"global_batch\": 6"));
    window_->workspace().document().set("strategy.tp", "2");
    QVERIFY(editor().toPlainText().contains(QStringLiteral("\"global_batch\": 6")));
    QVERIFY(said(QStringLiteral("not applied")));
    view().revert();
    QVERIFY(editor().toPlainText().contains(QStringLiteral("\"tp\": 2")));
}

// Applied, it would replace the scenario that was opened since by that of before.
void TestJsonView::anotherScenarioForgetsWhatIsTyped()
{
    show();
    change(QStringLiteral("\"global_batch\": 8"), QStringLiteral("\"global_batch\": 6"));
    QVERIFY(view().typed());
    open("scenarios/ddp-overlap.json");
    QVERIFY(!view().typed());
    QVERIFY(editor().toPlainText().contains(QStringLiteral("gpt2-xl")));
    change(QStringLiteral("gpt2-xl"), QStringLiteral("gpt2-x"));
    window_->findChild<ScenarioPanel*>()->findChild<QTabBar*>()->setCurrentIndex(0);
    open(eight); // out of sight, too
    QVERIFY(!view().typed());
}

void TestJsonView::aProblemLeadsToItsLine()
{
    show();
    window_->workspace().document().set("training.global_batch", "-1");
    QVERIFY(settled());
    QVERIFY(!editor().extraSelections().isEmpty());
    auto* const problems = window_->findChild<ProblemsView*>();
    emit problems->itemClicked(problems->item(0));
    QVERIFY(editor().textCursor().block().text().contains(QStringLiteral("global_batch")));
    QVERIFY(editor().hasFocus());
}

void TestJsonView::linesAreThoseOfPointers()
{
    const Json json = *parse_json("{\n\"a\": 1,\n\"b/c\": [\n{\"d\": 2},\n{\n\"e\": 3}\n]\n}", "");
    QCOMPARE(line_at(json, "/a"), 2);
    QCOMPARE(line_at(json, "/b~1c/1/e"), 6);
    QCOMPARE(line_at(json, "/b~1c/7"), 3); // the nearest that is there
    QCOMPARE(line_at(json, ""), 1);
}

TRAINYARD_WINDOW_TEST(TestJsonView, QApplication)
#include "test_json_view.moc"

// The window as people use it: keyboard and mouse, without a display.

#include "gui/app/start_page.h"
#include "gui/scenario/headline_bar.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/tests/window_fixture.h"
#include "gui/widgets/problems_view.h"
#include "sim/base/files.h"
#include "sim/report/training/training_text.h"

#include <QCommandLinkButton>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSlider>
#include <QTreeView>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

QSlider* slider_of(MainWindow& window, const QString& field)
{
    return window.findChild<QWidget*>(field)->findChild<QSlider*>();
}

} // namespace

class TestWindow : public test::WindowFixture {
    Q_OBJECT

private slots:
    void anExampleRunsAtOneClick();
    void theArrowKeysOfASliderSimulate();
    void theLatestChangeWins();
    void aFieldIsFoundAndEditedByKeyboard();
    void aProblemLeadsToItsField();
    void theBaselineTellsTheChange();
    void aSessionRoundTripKeepsEverything();
    void filesThatCannotBeReadAreToldAndChangeNothing();
    void droppedPartsTakeTheirPlace();
    void cancelStopsALongRun();
    void everythingFitsASmallWindow();
};

void TestWindow::anExampleRunsAtOneClick()
{
    const auto examples = window_->findChildren<QCommandLinkButton*>();
    QCOMPARE(examples.size(), 3);
    for (QCommandLinkButton* const example : examples) {
        QElapsedTimer timer;
        timer.start();
        example->click();
        QVERIFY(settled());
        QVERIFY(window_->workspace().current());
        QVERIFY(!window_->findChild<StartPage*>()->isVisible());
        QVERIFY(window_->workspace().run()->summary.mfu > 0.2);
    }
}

void TestWindow::theArrowKeysOfASliderSimulate()
{
    QVERIFY(window_->open(eight));
    QVERIFY(settled());
    const auto before = window_->workspace().run();
    QSlider* const tp = slider_of(*window_, "strategy.tp");
    tp->setFocus();
    QTest::keyClick(tp, Qt::Key_Right);
    QVERIFY(settled());
    QVERIFY(window_->workspace().run() != before);
    QCOMPARE(window_->workspace().run()->outcome->job.strategy.tp, 2);
    QCOMPARE(window_->workspace().run()->outcome->job.dp(), 4); // was 8: what is left
    window_->workspace().document().undo_stack().undo();
    QVERIFY(settled());
    QVERIFY(window_->workspace().run()->summary.step_time == before->summary.step_time);
    QCOMPARE(tp->value(), 0);
}

void TestWindow::theLatestChangeWins()
{
    open(eight);
    Document& document = window_->workspace().document();
    for (int turn = 0; turn < 40; ++turn)
        document.set("training.micro_batch", turn % 2 == 0 ? "1" : "2");
    document.set("training.global_batch", "64");
    QVERIFY(settled());
    QCOMPARE(window_->workspace().run()->file->scenario.training.global_batch, std::int64_t{64});
    QVERIFY(window_->workspace().current());
}

void TestWindow::aFieldIsFoundAndEditedByKeyboard()
{
    open(eight);
    auto* const panel = window_->findChild<ScenarioPanel*>();
    panel->go_to("/training/global_batch");
    auto* const tree = panel->findChild<QTreeView*>();
    auto* const editor = tree->findChild<QLineEdit*>();
    QVERIFY(editor != nullptr);
    QTest::keyClick(editor, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(editor, "zero");
    QVERIFY(!editor->toolTip().isEmpty()); // wrong as it is typed
    QTest::keyClick(editor, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(editor, "256");
    QVERIFY(editor->toolTip().isEmpty());
    QTest::keyClick(editor, Qt::Key_Return);
    QTRY_VERIFY(window_->workspace().document().modified());
    QVERIFY(settled());
    QCOMPARE(window_->workspace().run()->file->scenario.training.global_batch, std::int64_t{256});
}

void TestWindow::aProblemLeadsToItsField()
{
    open(eight);
    const auto before = window_->workspace().run();
    window_->workspace().document().set("strategy.tp", "3");
    QVERIFY(settled());
    QVERIFY(has_errors(window_->workspace().problems()));
    QVERIFY(!window_->workspace().current());
    QVERIFY(window_->workspace().run() == before); // still shown, as of before
    auto* const problems = window_->findChild<ProblemsView*>();
    QSignalSpy chosen(problems, &ProblemsView::chosen);
    emit problems->itemClicked(problems->item(0));
    QCOMPARE(chosen.count(), 1);
    auto* const tree = window_->findChild<ScenarioPanel*>()->findChild<QTreeView*>();
    QVERIFY(tree->currentIndex().isValid());
}

void TestWindow::theBaselineTellsTheChange()
{
    open(eight);
    window_->workspace().pin_baseline();
    window_->workspace().document().set("training.precision", "fp8");
    QVERIFY(settled());
    const auto items = headline_of(*window_->workspace().run(),
                                   window_->workspace().baseline().get(), {2.0, "USD"});
    QVERIFY(items.front().trend == Trend::better);
    QVERIFY(items.front().change.startsWith(QStringLiteral("−")));
    const double day = 384; // 8 devices, 24 hours, 2 USD
    const double days = 1e9 / window_->workspace().run()->summary.tokens_per_s / 86'400;
    QCOMPARE(items.back().value, QString::fromStdString(money_text(day * days)));
    const auto in_euros = headline_of(*window_->workspace().run(), nullptr, {2.0, "EUR"});
    QVERIFY(in_euros.back().value.startsWith(QStringLiteral("EUR ")));
    QVERIFY(items.back().trend == Trend::better);
}

void TestWindow::aSessionRoundTripKeepsEverything()
{
    window_->open(eight);
    window_->workspace().document().set("training.global_batch", "64");
    QVERIFY(settled());
    window_->workspace().pin_baseline();
    window_->workspace().document().set("strategy.tp", "2");
    window_->workspace().set_price({3.25, "EUR"});
    QVERIFY(settled());
    const std::string file = folder_.filePath("a.trainyard.json").toStdString();
    QVERIFY(window_->save_session(file));
    const Json json = window_->workspace().document().json();
    const SimTime step = window_->workspace().baseline()->outcome->result->step_time;

    restart();
    QSignalSpy pinned(&window_->workspace(), &Workspace::baselineChanged);
    QVERIFY(window_->open(file));
    QVERIFY(settled());
    QVERIFY(
        QTest::qWaitFor([&] { return window_->workspace().baseline() != nullptr; }, patience_ms));
    QVERIFY(window_->workspace().document().json() == json);
    QVERIFY(window_->workspace().baseline()->outcome->result->step_time == step);
    QCOMPARE(window_->workspace().price().currency, QString("EUR"));
}

void TestWindow::filesThatCannotBeReadAreToldAndChangeNothing()
{
    open(eight);
    const Json before = window_->workspace().document().json();
    const auto refused = [&](const std::string& name, std::string_view text) {
        const std::string file = folder_.filePath(QString::fromStdString(name)).toStdString();
        write_file(file, text);
        QVERIFY(!window_->open(file));
        QVERIFY(!window_->refused().empty());
        QVERIFY(window_->workspace().document().json() == before);
    };
    refused("empty.json", "");
    refused("half.json", "{\"format\": \"trainyard.scenario/1\", ");
    refused("newer.json", "{\"format\": \"trainyard.session/9\", \"scenario\": {}}");
    refused("picture.png", "\x89PNG\r\n");
    refused("records.json", "{\"records\": []}");
    QVERIFY(!window_->open("/no/such/file"));
    QVERIFY(!window_->open("/"));
    QVERIFY(window_->workspace().document().json() == before);
}

void TestWindow::droppedPartsTakeTheirPlace()
{
    open(eight);
    window_->workspace().document().reset("strategy.dp"); // 8 would not fit
    QVERIFY(window_->open("topologies/h100-1x4.json"));
    QVERIFY(settled());
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 4);
    window_->workspace().document().undo_stack().undo();
    QVERIFY(settled());
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 8);
}

void TestWindow::cancelStopsALongRun()
{
    open(eight);
    Document& document = window_->workspace().document();
    document.edit({{"run.engine", "reference"}, {"run.fold", "false"}, {"run.steps", "400"}});
    QTest::qWait(50);
    QVERIFY(window_->workspace().live().busy());
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!window_->workspace().live().busy());
    document.undo_stack().undo();
    QVERIFY(settled()); // the worker is free again soon
    QVERIFY(window_->workspace().current());
}

void TestWindow::everythingFitsASmallWindow()
{
    open(eight);
    QCOMPARE(window_->size(), QSize(1280, 800));
    for (const Panel* const panel : window_->panels())
        QVERIFY2(panel->minimumSizeHint().width() <= 640, qPrintable(panel->key()));
}

TRAINYARD_WINDOW_TEST(TestWindow, QApplication)
#include "test_window.moc"

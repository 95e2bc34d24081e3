// The window as people use it: keyboard and mouse, without a display.

#include "gui/app/headless.h"
#include "gui/app/main_window.h"
#include "gui/app/start_page.h"
#include "gui/scenario/headline_bar.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/widgets/export.h"
#include "gui/widgets/problems_view.h"
#include "sim/base/files.h"
#include "sim/cli/exit_codes.h"

#include <QCommandLinkButton>
#include <QDockWidget>
#include <QLineEdit>
#include <QListWidget>
#include <QSignalSpy>
#include <QSlider>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

constexpr int patience_ms = 60'000;

const std::string eight = "scenarios/llama3-8b-h100-8.json";

bool settled(MainWindow& window)
{
    return QTest::qWaitFor([&] { return !window.busy(); }, patience_ms);
}

QSlider* slider_of(MainWindow& window, const QString& field)
{
    return window.findChild<QWidget*>(field)->findChild<QSlider*>();
}

} // namespace

class TestWindow : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

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
    void viewsAreExported();
    void aFullDiskIsTold();
    void everythingFitsASmallWindow();
    void picturesWithoutADisplay();

private:
    QTemporaryDir folder_;
    std::unique_ptr<MainWindow> window_;
};

void TestWindow::init()
{
    window_ = std::make_unique<MainWindow>(Places{folder_.path().toStdString(), false});
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
}

void TestWindow::cleanup()
{
    window_.reset();
}

void TestWindow::anExampleRunsAtOneClick()
{
    const auto examples = window_->findChildren<QCommandLinkButton*>();
    QCOMPARE(examples.size(), 3);
    for (QCommandLinkButton* const example : examples) {
        QElapsedTimer timer;
        timer.start();
        example->click();
        QVERIFY(settled(*window_));
        QVERIFY(window_->workspace().current());
        QVERIFY(!window_->findChild<StartPage*>()->isVisible());
        QVERIFY(window_->workspace().run()->summary.mfu > 0.2);
    }
}

void TestWindow::theArrowKeysOfASliderSimulate()
{
    QVERIFY(window_->open(eight));
    QVERIFY(settled(*window_));
    const auto before = window_->workspace().run();
    QSlider* const tp = slider_of(*window_, "strategy.tp");
    tp->setFocus();
    QTest::keyClick(tp, Qt::Key_Right);
    QVERIFY(settled(*window_));
    QVERIFY(window_->workspace().run() != before);
    QCOMPARE(window_->workspace().run()->outcome->job.strategy.tp, 2);
    QCOMPARE(window_->workspace().run()->outcome->job.dp(), 4); // was 8: what is left
    window_->workspace().document().undo_stack().undo();
    QVERIFY(settled(*window_));
    QVERIFY(window_->workspace().run()->summary.step_time == before->summary.step_time);
    QCOMPARE(tp->value(), 0);
}

void TestWindow::theLatestChangeWins()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
    Document& document = window_->workspace().document();
    for (int turn = 0; turn < 40; ++turn)
        document.set("training.micro_batch", turn % 2 == 0 ? "1" : "2");
    document.set("training.global_batch", "64");
    QVERIFY(settled(*window_));
    QCOMPARE(window_->workspace().run()->file->scenario.training.global_batch, std::int64_t{64});
    QVERIFY(window_->workspace().current());
}

void TestWindow::aFieldIsFoundAndEditedByKeyboard()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
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
    QVERIFY(settled(*window_));
    QCOMPARE(window_->workspace().run()->file->scenario.training.global_batch, std::int64_t{256});
}

void TestWindow::aProblemLeadsToItsField()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
    const auto before = window_->workspace().run();
    window_->workspace().document().set("strategy.tp", "3");
    QVERIFY(settled(*window_));
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
    window_->open(eight);
    QVERIFY(settled(*window_));
    window_->workspace().pin_baseline();
    window_->workspace().document().set("training.precision", "fp8");
    QVERIFY(settled(*window_));
    const auto items = headline_of(*window_->workspace().run(),
                                   window_->workspace().baseline().get(), {2.0, "USD"});
    QVERIFY(items.front().trend == Trend::better);
    QVERIFY(items.front().change.startsWith(QStringLiteral("−")));
    QCOMPARE(items.back().value, QString("384 USD")); // 8 devices, 24 hours, 2 USD
    QVERIFY(items.back().change.isEmpty());
}

void TestWindow::aSessionRoundTripKeepsEverything()
{
    window_->open(eight);
    window_->workspace().document().set("training.global_batch", "64");
    QVERIFY(settled(*window_));
    window_->workspace().pin_baseline();
    window_->workspace().document().set("strategy.tp", "2");
    window_->workspace().set_price({3.25, "EUR"});
    QVERIFY(settled(*window_));
    const std::string file = folder_.filePath("a.trainyard.json").toStdString();
    QVERIFY(window_->save_session(file));
    const Json json = window_->workspace().document().json();
    const SimTime step = window_->workspace().baseline()->outcome->result->step_time;

    init();
    QSignalSpy pinned(&window_->workspace(), &Workspace::baselineChanged);
    QVERIFY(window_->open(file));
    QVERIFY(settled(*window_));
    QVERIFY(
        QTest::qWaitFor([&] { return window_->workspace().baseline() != nullptr; }, patience_ms));
    QVERIFY(window_->workspace().document().json() == json);
    QVERIFY(window_->workspace().baseline()->outcome->result->step_time == step);
    QCOMPARE(window_->workspace().price().currency, QString("EUR"));
}

void TestWindow::filesThatCannotBeReadAreToldAndChangeNothing()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
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
    window_->open(eight);
    QVERIFY(settled(*window_));
    window_->workspace().document().reset("strategy.dp"); // 8 would not fit
    QVERIFY(window_->open("topologies/h100-1x4.json"));
    QVERIFY(settled(*window_));
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 4);
    window_->workspace().document().undo_stack().undo();
    QVERIFY(settled(*window_));
    QCOMPARE(window_->workspace().run()->outcome->engine.ranks, 8);
}

void TestWindow::cancelStopsALongRun()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
    Document& document = window_->workspace().document();
    document.edit({{"run.engine", "reference"}, {"run.fold", "false"}, {"run.steps", "400"}});
    QTest::qWait(50);
    QVERIFY(window_->workspace().live().busy());
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!window_->workspace().live().busy());
    document.undo_stack().undo();
    QVERIFY(settled(*window_)); // the worker is free again soon
    QVERIFY(window_->workspace().current());
}

void TestWindow::viewsAreExported()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
    for (Panel* const panel : window_->panels())
        for (Panel* const part : panel->parts()) {
            const auto exported = [&](const char* ending) {
                const QString file = folder_.filePath(part->key() + ending);
                export_view(*part, {800, 500}, file.toStdString());
                return file;
            };
            QCOMPARE(QImage(exported(".png")).size(), QSize(800, 500));
            QVERIFY(QSvgRenderer(exported(".svg")).isValid());
            QCOMPARE(QString::fromStdString(read_file(exported(".csv").toStdString())),
                     to_csv(part->table()));
        }
    QVERIFY_EXCEPTION_THROWN(export_view(*window_->panels().front(), {800, 500}, "a.bmp"),
                             WorldError);
}

void TestWindow::aFullDiskIsTold()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
    if (!std::filesystem::exists("/dev/full"))
        QSKIP("no /dev/full here");
    QVERIFY(!window_->save_session("/dev/full"));
    QVERIFY(!window_->refused().empty());
}

void TestWindow::everythingFitsASmallWindow()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
    QCOMPARE(window_->size(), QSize(1280, 800));
    for (const Panel* const panel : window_->panels())
        QVERIFY2(panel->minimumSizeHint().width() <= 640, qPrintable(panel->key()));
}

void TestWindow::picturesWithoutADisplay()
{
    HeadlessOptions options;
    options.file = eight;
    options.screenshot = folder_.filePath("shot.png").toStdString();
    options.export_dir = folder_.filePath("views").toStdString();
    options.size = "1280x800";
    QCOMPARE(run_headless(options), int{exit_ok});
    const QImage image(QString::fromStdString(options.screenshot));
    QCOMPARE(image.size(), QSize(1280, 800));
    options.size = "12";
    QCOMPARE(run_headless(options), int{exit_usage});
    options.size = "1280x800";
    options.file = "no/such.json";
    QCOMPARE(run_headless(options), int{exit_invalid_input});
    options.file = eight;
    options.screenshot = "/no/such/folder/a.png";
    QCOMPARE(run_headless(options), int{exit_input_output});
}

QTEST_MAIN(TestWindow)
#include "test_window.moc"

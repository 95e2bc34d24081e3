// The window as people use it: keyboard and mouse, without a display.

#include "gui/app/headless.h"
#include "gui/app/main_window.h"
#include "gui/app/start_page.h"
#include "gui/scenario/headline_bar.h"
#include "gui/scenario/scenario_panel.h"
#include "gui/tests/window_test.h"
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
#include <QTreeView>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

bool settled(MainWindow& window)
{
    return QTest::qWaitFor([&] { return !window.busy(); }, patience_ms);
}

// A table as other programs read it (RFC 4180).
class CsvFile {
public:
    explicit CsvFile(const QString& file)
    {
        const QString text = QString::fromStdString(read_file(file.toStdString()));
        QStringList row{QString()};
        bool quoted = false;
        for (const QChar letter : text) {
            if (letter == '"')
                quoted = !quoted;
            else if (quoted || (letter != ',' && letter != '\n'))
                row.last() += letter;
            else if (letter == ',')
                row << QString();
            else
                rows_ << std::exchange(row, {QString()});
        }
        heads_ = rows_.takeFirst();
    }

    const QStringList& heads() const { return heads_; }
    const QList<QStringList>& rows() const { return rows_; }
    QString cell(int row, const char* head) const
    {
        return rows_.value(row).value(heads_.indexOf(QLatin1String(head)));
    }
    double number(int row, const char* head) const { return cell(row, head).toDouble(); }
    // -1: there is none.
    int row_of(const char* head, const char* value) const
    {
        for (int row = 0; row < rows_.size(); ++row)
            if (cell(row, head) == QLatin1String(value))
                return row;
        return -1;
    }

private:
    QStringList heads_;
    QList<QStringList> rows_;
};

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
    void exportedTablesHoldTheRunsFigures();
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
            const QString svg = exported(".svg");
            QCOMPARE(QSvgRenderer(svg).viewBox(), QRect(0, 0, 800, 500));
            // As large as on a screen (96 pixels an inch), and drawn in all of it.
            const QByteArray text = QByteArray::fromStdString(read_file(svg.toStdString()));
            QVERIFY(text.contains("width=\"211.667mm\""));
            QVERIFY2(!text.contains("matrix(0.75"), qPrintable(part->key()));
            const CsvFile csv(exported(".csv"));
            QVERIFY2(!csv.heads().isEmpty(), qPrintable(part->key()));
            for (const QStringList& row : csv.rows())
                QCOMPARE(row.size(), csv.heads().size());
        }
    // Patterns are a second channel beside colours, in every format.
    const std::string bars = read_file(folder_.filePath("breakdown-time.svg").toStdString());
    QVERIFY(bars.find("<pattern id=\"tile0\"") != std::string::npos);
    QVERIFY(bars.find("fill=\"url(#tile0)\"") != std::string::npos);
    QVERIFY_EXCEPTION_THROWN(export_view(*window_->panels().front(), {800, 500}, "a.bmp"),
                             WorldError);
}

// Against the run, not against the view.
void TestWindow::exportedTablesHoldTheRunsFigures()
{
    window_->open(eight);
    QVERIFY(settled(*window_));
    const auto table = [&](const char* view, const char* part) {
        window_->show_panel(QLatin1String(view));
        (void)settled(*window_);
        const QString file = folder_.filePath(QLatin1String(part) + ".csv");
        for (Panel* const one : window_->panel(QLatin1String(view))->parts())
            if (one->key() == QLatin1String(part))
                export_view(*one, {800, 500}, file.toStdString());
        return CsvFile(file);
    };
    const Summary& summary = window_->workspace().run()->summary;
    const double step_ms = summary.step_time.value.value() * 1e3;
    const auto share_ms = [&](TimeKind kind) {
        return 1e3 * summary.critical[static_cast<std::size_t>(kind)].value();
    };
    const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); };

    const CsvFile time = table("breakdown", "breakdown-time");
    QVERIFY(close(time.number(0, "Step [ms]"), step_ms));
    QVERIFY(close(time.number(0, "backward [ms]"), share_ms(TimeKind::backward)));
    QVERIFY(close(time.number(0, "exposed DP [ms]"), share_ms(TimeKind::exposed_dp)));
    const CsvFile memory = table("breakdown", "breakdown-memory");
    double most = 0;
    for (int row = 0; row < memory.rows().size(); ++row)
        most = std::max(most, memory.number(row, "Held [GB]"));
    const double peak = static_cast<double>(summary.peak_memory.value()) / 1e9;
    QVERIFY2(most <= peak && most > 0.8 * peak, qPrintable(QString::number(most)));
    const CsvFile ops = table("timeline", "timeline");
    const int optimizer = ops.row_of("name", "optimizer");
    QVERIFY(close(ops.number(optimizer, "total [us]"), 1e3 * share_ms(TimeKind::optimizer)));
    // NVLink of an H100, each way: 450 GB/s.
    const CsvFile links = table("topology", "topology");
    QCOMPARE(links.number(links.row_of("Busiest link", "node0/gpu0/nvlink up"), "Capacity [GB/s]"),
             450.0);
    const CsvFile fields = table("scenario", "scenario");
    QCOMPARE(fields.cell(fields.row_of("Field", "training.global_batch"), "Value"), QString("8"));
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
    const CsvFile gains(folder_.filePath("views/breakdown-whatif.csv"));
    QVERIFY(gains.rows().size() > 3); // simulated for the picture
    for (const char* size : {"12", "0x0", "1e9x1", "99999x200"}) {
        options.size = size;
        QCOMPARE(run_headless(options), int{exit_usage});
    }
    options.size = "1280x800";
    const std::string png = std::exchange(options.screenshot, "shot.jpg"); // would be no JPEG
    QCOMPARE(run_headless(options), int{exit_usage});
    options.screenshot = png;
    options.file = "no/such.json";
    QCOMPARE(run_headless(options), int{exit_input_output}); // as the command line
    options.file = "README.md";
    QCOMPARE(run_headless(options), int{exit_invalid_input});
    options.file = eight;
    options.export_dir = "/proc/self/views";
    QCOMPARE(run_headless(options), int{exit_input_output});
    options.screenshot = "/no/such/folder/a.png";
    QCOMPARE(run_headless(options), int{exit_input_output});
}

TRAINYARD_WINDOW_TEST(TestWindow, QApplication)
#include "test_window.moc"

// Measured files as people judge them: opened, a point excluded, taken back, saved, used.

#include "gui/app/headless.h"
#include "gui/app/main_window.h"
#include "gui/calibration/ask_device.h"
#include "gui/calibration/calibration_panel.h"
#include "gui/tests/window_test.h"
#include "gui/widgets/problems_view.h"
#include "sim/base/files.h"
#include "sim/cli/exit_codes.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTimer>
#include <QTreeView>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const std::string logs = "tests/golden/data/nccl_logs/";
const std::string reduce_log = logs + "h100_1x8_allreduce_dgxc.txt";
const std::string rack_log = logs + "coreweave_gb200_nvl72_18x4_allreduce.txt"; // names no device
const std::string pairs_log = "tests/golden/data/topology_files/nvbandwidth_6xA6000_issue50.txt";

} // namespace

class TestCalibration : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void aLogIsOpenedWithoutAScenario();
    void theListIsAModel();
    void aPointIsExcludedByKeyboardAndTakenBack();
    void aClickExcludesAndARubberBandTakesSeveral();
    void whatIsSavedIsWhatFitWrites();
    void theSavedProfileServesTheScenario();
    void theDeviceIsAskedForAndNoneProposed();
    void aProfileOfAnotherDeviceIsRefused();
    void severalFilesAreOneCalibration();
    void aScenarioShowsItsProfile();
    void aMatrixIsWalkedCellByCell();
    void aMatrixOfManyFitsWhereOneOfFewDoes();
    void badFilesAreToldAndChangeNothing();
    void excludingIsNoChangeOfTheScenario();
    void whatRunsIsToldAndCancelled();
    void scenariosAreFittedOnlyInSight();
    void picturesWithoutAScenario();

private:
    bool settled();
    void open(const std::string& file);
    CalibrationPanel& panel();
    CurvePlot& plot() { return panel().curve().plot(); }
    QUndoStack& undo() { return window_->workspace().document().undo_stack(); }

    QTemporaryDir folder_;
    std::unique_ptr<MainWindow> window_;
};

void TestCalibration::init()
{
    window_ = std::make_unique<MainWindow>(Places{folder_.path().toStdString(), false});
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
}

void TestCalibration::cleanup()
{
    window_.reset();
}

bool TestCalibration::settled()
{
    const bool done = QTest::qWaitFor([&] { return !window_->busy(); }, patience_ms);
    QTest::qWait(30); // queued replots
    return done;
}

void TestCalibration::open(const std::string& file)
{
    QVERIFY(window_->open(file));
    QVERIFY(settled());
}

CalibrationPanel& TestCalibration::panel()
{
    return *static_cast<CalibrationPanel*>(window_->panel(QStringLiteral("calibration")));
}

void TestCalibration::aLogIsOpenedWithoutAScenario()
{
    open(reduce_log);
    QVERIFY(panel().isVisible());
    QVERIFY(panel().in_sight());
    const CurveSeries& series = plot().series();
    QCOMPARE(series.points.size(), std::size_t{32});
    QCOMPARE(series.replaced.size(), std::size_t{1}); // the first use of 32 B
    QVERIFY(!series.switches.empty());
    QVERIFY(panel().table().rows.size() == 33);
    QVERIFY(!window_->workspace().document().modified());
}

void TestCalibration::theListIsAModel()
{
    CurveList list;
    const QAbstractItemModelTester tester(&list,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    open(reduce_log);
    list.set_fitted(panel().calibration().fitted());
    QCOMPARE(list.rowCount(), 1); // measured
    const QModelIndex measured = list.index(0, 0);
    QCOMPARE(list.rowCount(measured), 2); // out of place, in place
    const auto error = [&](int row) {
        return *median_error(list.at(list.index(row, 0, measured)).curve->study);
    };
    QVERIFY(error(0) >= error(1)); // the worst first
    QCOMPARE(list.index_of(list.at(list.index(1, 0, measured))), list.index(1, 0, measured));
    list.set_fitted(std::make_shared<const Fitted>());
    QCOMPARE(list.rowCount(), 0);
    QVERIFY(!list.index_of({}).isValid());
}

void TestCalibration::aPointIsExcludedByKeyboardAndTakenBack()
{
    open(reduce_log);
    const auto before = panel().curve().curve();
    const CurveSeries drawn = plot().series();
    std::size_t worst = 0;
    for (std::size_t i = 0; i < drawn.points.size(); ++i)
        if (std::abs(drawn.points[i].residual.value_or(0)) >
            std::abs(drawn.points[worst].residual.value_or(0)))
            worst = i;
    plot().setFocus();
    for (std::size_t i = 0; i <= worst; ++i)
        QTest::keyClick(&plot(), Qt::Key_Right);
    QCOMPARE(plot().mark(), std::optional(worst));
    QSignalSpy said(&panel().calibration(), &Calibration::refitted);
    QTest::keyClick(&plot(), Qt::Key_X);
    QVERIFY(settled());
    QVERIFY(plot().series().points[worst].excluded);
    QCOMPARE(plot().mark(), std::optional(worst)); // where one was
    QVERIFY(panel().curve().curve()->study.left_out.mean() < before->study.left_out.mean());
    QCOMPARE(said.size(), 1);
    const QString change = said.front().front().toString();
    for (const char* word : {"alpha", "1/beta", "median error"})
        QVERIFY2(change.contains(QLatin1String(word)), qPrintable(change));
    QVERIFY(undo().undoText().startsWith("exclude 4 KiB of all_reduce"));

    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(settled());
    QVERIFY(!plot().series().points[worst].excluded);
    QVERIFY(panel().curve().curve()->study.table == before->study.table);
    undo().redo();
    QVERIFY(settled());
    QVERIFY(plot().series().points[worst].excluded);
    QTest::keyClick(&plot(), Qt::Key_X); // takes it back, one more step
    QVERIFY(settled());
    QVERIFY(!plot().series().points[worst].excluded);
    QTest::keyClick(&plot(), Qt::Key_Escape);
    QVERIFY(!plot().mark());
}

void TestCalibration::aClickExcludesAndARubberBandTakesSeveral()
{
    open(reduce_log);
    const QPoint point = plot().position_of(20).toPoint();
    QTest::mouseClick(&plot(), Qt::LeftButton, {}, point);
    QVERIFY(settled());
    QVERIFY(plot().series().points[20].excluded);

    const QPoint from = plot().position_of(24).toPoint() + QPoint(-5, 25);
    const QPoint to = plot().position_of(26).toPoint() + QPoint(5, -25);
    QTest::mousePress(&plot(), Qt::LeftButton, Qt::ShiftModifier, from);
    QTest::mouseMove(&plot(), (from + to) / 2);
    QTest::mouseMove(&plot(), to);
    QTest::mouseRelease(&plot(), Qt::LeftButton, Qt::ShiftModifier, to);
    QVERIFY(settled());
    for (const std::size_t i : {24, 25, 26})
        QVERIFY(plot().series().points[i].excluded);
    QVERIFY(undo().undoText().startsWith("exclude 3 sizes"));
    undo().undo();
    undo().undo();
    QVERIFY(settled());
    QVERIFY(panel().calibration().excluded().empty());
}

void TestCalibration::whatIsSavedIsWhatFitWrites()
{
    open(reduce_log);
    const std::string file = folder_.filePath("node.json").toStdString();
    QVERIFY(panel().calibration().knows_device());
    panel().calibration().save(file);
    QVERIFY(settled());
    const Checked<Json> whole = read_json_file(file);
    QVERIFY(whole.has_value());
    const auto tables = [](const Json& profile) {
        return profile.find("hardware")->find("knots")->items().size();
    };
    QVERIFY(tables(*whole) >= 2);

    plot().set_mark(20);
    panel().curve().toggle_mark();
    QVERIFY(settled());
    panel().calibration().save(file);
    QVERIFY(settled());
    const Checked<ProfileFile> less = load_profile(file);
    QVERIFY(less.has_value());
    const KnotTable& table = less->profile.hardware.knots.front();
    const Bytes out = plot().series().points[20].size;
    QVERIFY(!table.in_place);
    for (const RawSample& sample : table.raw.samples)
        QVERIFY(sample.size != out);
    QVERIFY(QDir(folder_.path()).entryList({"node*"}, QDir::Files).size() == 1); // nothing beside

    panel().calibration().save("/nowhere/at/all/node.json");
    QVERIFY(settled());
    QVERIFY(has_errors(window_->refused()));
}

void TestCalibration::theSavedProfileServesTheScenario()
{
    open(eight);
    open(reduce_log);
    const std::string file = folder_.filePath("mine.json").toStdString();
    panel().calibration().save(file);
    QVERIFY(settled());
    panel().use_in_scenario();
    QVERIFY(settled());
    QVERIFY(window_->workspace().current());
    QCOMPARE(window_->workspace().run()->outcome->cost->profile().name, std::string("mine"));
    undo().undo();
    QVERIFY(settled());
    QVERIFY(window_->workspace().run()->outcome->cost->profile().name != "mine");
}

void TestCalibration::theDeviceIsAskedForAndNoneProposed()
{
    int before = 0;
    bool could = true;
    bool can = false;
    const auto answer = [&] {
        auto* const dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
        auto* const devices = dialog->findChild<QComboBox*>();
        QPushButton* const ok =
            dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
        before = devices->currentIndex();
        could = ok->isEnabled();
        devices->setCurrentText(QStringLiteral("GB200"));
        can = ok->isEnabled();
        ok->click();
    };
    QTimer::singleShot(0, answer);
    QCOMPARE(ask_device(window_.get()), QStringLiteral("GB200"));
    QCOMPARE(before, -1);
    QVERIFY(!could && can);
    QTimer::singleShot(0,
                       [] { qobject_cast<QDialog*>(QApplication::activeModalWidget())->reject(); });
    QVERIFY(ask_device(window_.get()).isEmpty());
}

void TestCalibration::aProfileOfAnotherDeviceIsRefused()
{
    open(eight);
    open(rack_log);
    QVERIFY(!panel().calibration().knows_device());
    panel().calibration().save(folder_.filePath("rack.json").toStdString(), "GB200");
    QVERIFY(settled());
    const auto before = window_->workspace().run();
    panel().use_in_scenario();
    QVERIFY(settled());
    QVERIFY(!window_->workspace().current());
    QCOMPARE(window_->workspace().run(), before);
    const Problems& problems = window_->workspace().problems();
    QVERIFY(has_errors(problems));
    QCOMPARE(problems.front().pointer, std::string("/profile"));
    QVERIFY(problems.front().message.find("GB200") != std::string::npos);
    QVERIFY(problems.front().message.find("h100") != std::string::npos);
}

void TestCalibration::severalFilesAreOneCalibration()
{
    open(reduce_log);
    open(logs + "dstack_nebius_h100_2x8_allreduce.txt");
    QCOMPARE(panel().calibration().files().size(), std::size_t{2});
    const std::size_t both = panel().calibration().fitted()->curves.size();
    QVERIFY(both >= 3);
    open(reduce_log); // again: no further launch
    QCOMPARE(panel().calibration().fitted()->curves.size(), both);
    undo().undo();
    undo().undo();
    QVERIFY(settled());
    QCOMPARE(panel().calibration().files().size(), std::size_t{1});
    panel().calibration().close_files();
    QVERIFY(settled());
    QVERIFY(panel().calibration().fitted()->curves.empty());
    undo().undo();
    QVERIFY(settled());
    QCOMPARE(panel().calibration().files().size(), std::size_t{1});
}

void TestCalibration::aScenarioShowsItsProfile()
{
    open(eight);
    window_->show_panel("calibration");
    QVERIFY(settled());
    QVERIFY(panel().curve().curve() != nullptr);
    QVERIFY(plot().series().points.empty());
    QVERIFY(!plot().series().fitted.empty());
    QVERIFY(!plot().series().note.isEmpty());
    QVERIFY(!panel().table().rows.empty());
    QVERIFY(!panel().calibration().can_save());
}

void TestCalibration::aMatrixIsWalkedCellByCell()
{
    open(pairs_log);
    HeatMapView& view = panel().matrix().view();
    QVERIFY(view.isVisible());
    QVERIFY(view.map());
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_Right); // marks the first
    QCOMPARE(view.mark(), std::optional(MatrixCell{0, 0}));
    QTest::keyClick(&view, Qt::Key_Right);
    QTest::keyClick(&view, Qt::Key_Down);
    QTest::keyClick(&view, Qt::Key_Down);
    QCOMPARE(view.mark(), std::optional(MatrixCell{2, 1}));
    bool told = false;
    for (const QLabel* const label : panel().matrix().findChildren<QLabel*>())
        told = told || label->text().startsWith("GPU 2 → GPU 1: 26.35 GB/s");
    QVERIFY(told);
    QTest::keyClick(&view, Qt::Key_Escape);
    QVERIFY(!view.mark());
    QCOMPARE(panel().parts().front()->key(), QStringLiteral("calibration-matrix"));
    QCOMPARE(panel().table().rows.size(), std::size_t{30});
}

void TestCalibration::aMatrixOfManyFitsWhereOneOfFewDoes()
{
    for (const int count : {2, 8, 96}) {
        auto matrix = std::make_shared<JudgedMatrix>();
        const auto columns = static_cast<std::size_t>(count);
        for (int i = 0; i < count; ++i)
            matrix->matrix.values.emplace_back(columns, 380e9);
        matrix->matrix.values[1][0] = 100e9;
        matrix->judged = judge(matrix->matrix);
        const HeatMap map(matrix);
        const QRectF area = map.area({700, 420}, panel().font());
        QVERIFY(area.width() > 150);
        QVERIFY(QRectF(0, 0, 700, 420).contains(area));
        panel().matrix().set_matrix(matrix);
        QImage picture(700, 420, QImage::Format_ARGB32_Premultiplied);
        QPainter painter(&picture);
        panel().matrix().paint_to(painter, picture.size());
        painter.end();
        QVERIFY(!picture.isNull());
    }
}

void TestCalibration::badFilesAreToldAndChangeNothing()
{
    open(reduce_log);
    const auto before = panel().calibration().fitted();
    const std::string text = read_file(reduce_log);
    const auto written = [&](const char* name, const std::string& content) {
        const std::string file = folder_.filePath(name).toStdString();
        write_file(file, content);
        return file;
    };
    for (const std::string& file :
         {written("empty.log", ""), written("prose.txt", "Dear all,\nthe node is slow.\n"),
          written("packed.log", std::string("\x1f\x8b\x08\0 not really", 16)),
          written("heading.log", text.substr(0, text.find("     8")))})
    {
        window_->open(file);
        QVERIFY(settled());
        QVERIFY2(has_errors(window_->refused()), file.c_str());
        QVERIFY(QString::fromStdString(window_->refused().front().file).contains(folder_.path()));
        QCOMPARE(panel().calibration().fitted(), before);
    }
    // Cut in the middle: what is there counts.
    open(written("cut.log", text.substr(0, text.size() / 2)));
    QCOMPARE(panel().calibration().files().size(), std::size_t{2});
}

void TestCalibration::excludingIsNoChangeOfTheScenario()
{
    open(eight);
    open(reduce_log);
    QCOMPARE(plot().series().points.size(), std::size_t{32}); // what was opened is in front
    plot().set_mark(5);
    panel().curve().toggle_mark();
    QVERIFY(settled());
    Document& document = window_->workspace().document();
    QVERIFY(!document.modified());
    document.set("strategy.tp", "2");
    QVERIFY(document.modified());
    undo().undo();
    QVERIFY(!document.modified());
    QVERIFY(!panel().calibration().excluded().empty());
    undo().undo();
    QVERIFY(settled());
    QVERIFY(panel().calibration().excluded().empty());
}

void TestCalibration::whatRunsIsToldAndCancelled()
{
    open(reduce_log);
    const auto before = panel().calibration().fitted();
    QSignalSpy told(&panel(), &Panel::busyChanged);
    plot().set_mark(20);
    panel().curve().toggle_mark();
    QVERIFY(panel().busy());
    QVERIFY(told.count() > 0);
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!panel().busy());
    QTest::qWait(50);
    QCOMPARE(panel().calibration().fitted(), before);
    bool said = false;
    for (const QLabel* const label : panel().findChildren<QLabel*>())
        said = said || label->text().startsWith(QStringLiteral("Cancelled"));
    QVERIFY(said);
    panel().curve().toggle_mark(); // the same once more
    QVERIFY(settled());
    QVERIFY(plot().series().points[20].excluded);
    // What waits for the file before is let go with it.
    for (const char* const file :
         {"dstack_nebius_h100_2x8_allreduce.txt", "h100_1x8_allreduce_dgxc.txt"})
        panel().calibration().open(logs + file);
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!window_->busy());
    QTest::qWait(50);
    QCOMPARE(panel().calibration().files().size(), std::size_t{1});
}

void TestCalibration::scenariosAreFittedOnlyInSight()
{
    open(eight);
    QVERIFY(!panel().in_sight());
    QVERIFY(panel().calibration().run() == nullptr);
    window_->show_panel("calibration");
    QVERIFY(settled());
    QVERIFY(panel().calibration().run() == window_->workspace().run()->outcome);
    const auto before = panel().calibration().fitted();
    QVERIFY(!before->curves.empty());
    panel().set_in_sight(false);
    window_->workspace().document().set("training.global_batch", "64");
    QVERIFY(settled());
    QCOMPARE(panel().calibration().fitted(), before);
    panel().set_in_sight(true);
    QVERIFY(panel().busy());
    panel().cancel();
    QCOMPARE(panel().calibration().fitted(), before);
    panel().set_in_sight(false);
    panel().set_in_sight(true); // makes up for what was cancelled, too
    QVERIFY(settled());
    QVERIFY(panel().calibration().fitted()->state.run == window_->workspace().run()->outcome);
}

void TestCalibration::picturesWithoutAScenario()
{
    HeadlessOptions options;
    options.file = reduce_log;
    options.view = "calibration";
    options.size = "1280x800";
    options.screenshot = folder_.filePath("view.png").toStdString();
    options.export_dir = folder_.filePath("all").toStdString();
    QCOMPARE(run_headless(options), int(exit_ok));
    QVERIFY(QImage(folder_.filePath("view.png")).size() == QSize(1280, 800));
    for (const char* ending : {"png", "svg", "csv"})
        for (const char* part : {"curve", "matrix"})
            QVERIFY(QFileInfo::exists(
                folder_.filePath(QStringLiteral("all/calibration-%1.%2").arg(part, ending))));
    const std::string table = read_file(options.export_dir + "/calibration-curve.csv");
    QCOMPARE(std::count(table.begin(), table.end(), '\n'), 34);
    options.file = folder_.filePath("no-room.json").toStdString();
    options.view.clear();
    options.export_dir.clear();
    Json large = *read_json_file(eight);
    large["training"]["sequence_length"] = 1'048'576;
    large["model"] = "llama-3.1-8b";
    large["topology"] = "h100-1x8";
    write_file(options.file, to_text(large));
    options.screenshot = folder_.filePath("no-room.png").toStdString();
    QCOMPARE(run_headless(options), int(exit_no)); // drawn, and said
    QVERIFY(QFileInfo::exists(folder_.filePath("no-room.png")));
    options.file = folder_.filePath("empty.log").toStdString();
    write_file(options.file, "");
    QCOMPARE(run_headless(options), int(exit_invalid_input));
}

TRAINYARD_WINDOW_TEST(TestCalibration, QApplication)
#include "test_calibration.moc"

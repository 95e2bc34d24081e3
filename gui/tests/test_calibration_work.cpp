// What is read and fitted, when, and what is refused.

#include "gui/app/headless.h"
#include "gui/tests/calibration_fixture.h"
#include "sim/base/files.h"
#include "sim/cli/exit_codes.h"

#include <QLabel>
#include <QSignalSpy>

using namespace trainyard;
using namespace trainyard::gui;

class TestCalibrationWork : public test::CalibrationFixture {
    Q_OBJECT

private slots:
    void severalFilesAreOneCalibration();
    void badFilesAreToldAndChangeNothing();
    void whatRunsIsToldAndCancelled();
    void scenariosAreFittedOnlyInSight();
    void picturesWithoutAScenario();
};

void TestCalibrationWork::severalFilesAreOneCalibration()
{
    open(test::reduce_log);
    open(test::logs + "dstack_nebius_h100_2x8_allreduce.txt");
    QCOMPARE(panel().calibration().files().size(), std::size_t{2});
    const std::size_t both = panel().calibration().fitted()->curves.size();
    QVERIFY(both >= 3);
    open(test::reduce_log); // again: no further launch
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

void TestCalibrationWork::badFilesAreToldAndChangeNothing()
{
    open(test::reduce_log);
    const auto before = panel().calibration().fitted();
    const std::string text = read_file(test::reduce_log);
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

void TestCalibrationWork::whatRunsIsToldAndCancelled()
{
    open(test::reduce_log);
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
        panel().calibration().open(test::logs + file);
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!window_->busy());
    QTest::qWait(50);
    QCOMPARE(panel().calibration().files().size(), std::size_t{1});
}

void TestCalibrationWork::scenariosAreFittedOnlyInSight()
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

void TestCalibrationWork::picturesWithoutAScenario()
{
    HeadlessOptions options;
    options.files = {test::reduce_log};
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
    options.files = {folder_.filePath("no-room.json").toStdString()};
    options.view.clear();
    options.export_dir.clear();
    Json large = *read_json_file(eight);
    large["training"]["sequence_length"] = 1'048'576;
    large["model"] = "llama-3.1-8b";
    large["topology"] = "h100-1x8";
    write_file(options.files.front(), to_text(large));
    options.screenshot = folder_.filePath("no-room.png").toStdString();
    QCOMPARE(run_headless(options), int(exit_no)); // drawn, and said
    QVERIFY(QFileInfo::exists(folder_.filePath("no-room.png")));
    options.files = {folder_.filePath("empty.log").toStdString()};
    write_file(options.files.front(), "");
    QCOMPARE(run_headless(options), int(exit_invalid_input));
}

TRAINYARD_WINDOW_TEST(TestCalibrationWork, QApplication)
#include "test_calibration_work.moc"

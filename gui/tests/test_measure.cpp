// Measuring this machine from the calibration view: a program beside the window, whose points
// arrive while it runs.

#include "calibrate/measure/run/journal.h"
#include "gui/calibration/curve_plot.h"
#include "gui/tests/calibration_fixture.h"
#include "gui/tests/clicks.h"
#include "gui/tests/file_answers.h"
#include "sim/base/files.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QToolBar>
#include <filesystem>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

MeasuredPoint point_of(Bytes size)
{
    MeasuredPoint out;
    CollectiveWork work;
    work.size = size;
    out.point = {{"both", {0, 1}}, work, 0};
    out.batches.assign(20, 20e-6 + static_cast<double>(size.value()) / 1e9);
    out.estimate = estimate_of(out.batches);
    return out;
}

// What a run of two ranks leaves, point by point.
void write_samples(const std::string& file, int points)
{
    MeasuredRun run;
    run.backend = "gloo";
    run.ranks = {{{0, 2, 0, 2}, "here", {}}, {{1, 2, 1, 2}, "here", {}}};
    Journal journal(file, run);
    for (int i = 0; i < points; ++i)
        journal.add(point_of(Bytes(std::uint64_t{1024} << i)));
}

} // namespace

class TestMeasure : public test::CalibrationFixture {
    Q_OBJECT

private slots:
    void pointsArriveWhileItMeasures();
    void stoppingKeepsWhatWasMeasured();
    void whatTheProgramComplainsOfIsAProblem();
    void withoutTheProgramTheFormSaysSo();
    void theLineForAClusterFollowsTheForm();
    void anExistingProfileIsNotWrittenOver();
    void theMachineIsMeasuredWithTheRealProgram();

private:
    // Of the test before.
    void forget_files()
    {
        for (const char* name : {"go", "mine.json", "mine.samples.jsonl", "ready.jsonl"})
            std::filesystem::remove(path(name));
    }
    // A program that says it can use Gloo, and then runs `body` with $samples set.
    QString program(const std::string& body)
    {
        const std::string file = path("trainyard-measure");
        write_file(file, "#!/bin/sh\n"
                         "if [ \"$1\" = --backends ]; then\n"
                         "  echo '{\"backends\": [{\"name\": \"nccl\", \"usable\": false, \"why\": "
                         "\"no GPU is here\"}, {\"name\": \"gloo\", \"usable\": true, \"why\": "
                         "\"\"}]}'\n"
                         "  exit 0\nfi\n"
                         "while [ $# -gt 0 ]; do\n"
                         "  [ \"$1\" = --samples ] && samples=$2\n  shift\ndone\n" +
                             body);
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        return QString::fromStdString(file);
    }
    // Writes the samples of `points` points line by line, waits for a file "go" between them.
    std::string grows(int points)
    {
        write_samples(path("ready.jsonl"), points);
        return "trap 'exit 130' INT\n"
               "while IFS= read -r line; do\n"
               "  printf '%s\\n' \"$line\" >> \"$samples\"\n"
               "  sleep 0.05\n"
               "done < '" +
               path("ready.jsonl") + "'\n" + "while [ ! -e '" + path("go") +
               "' ]; do sleep 0.05; done\n";
    }
    test::Clicks clicks_;
    MeasureForm& form() { return panel().form(); }
    QPushButton* button(const QString& text)
    {
        for (QPushButton* const one : form().findChildren<QPushButton*>())
            if (one->text().remove('&') == text)
                return one;
        return nullptr;
    }
    template <typename Widget>
    Widget* field(const QString& name)
    {
        for (Widget* const one : form().findChildren<Widget*>())
            if (one->accessibleName() == name)
                return one;
        return nullptr;
    }
    QCheckBox* part(const QString& text)
    {
        for (QCheckBox* const one : form().findChildren<QCheckBox*>())
            if (one->text() == text)
                return one;
        return nullptr;
    }
    void show_form(const QString& program_file)
    {
        window_->findChild<QWidget*>(QStringLiteral("calibration"))->show();
        window_->show_panel(QStringLiteral("calibration"));
        form().set_program(program_file);
        for (QAction* const action : panel().findChild<QToolBar*>()->actions())
            if (action->text().startsWith(QStringLiteral("Measure")))
                action->trigger();
        QVERIFY(form().isVisible());
        field<QLineEdit>(QStringLiteral("Name of what is written"))
            ->setText(QString::fromStdString(path("mine")));
        QTRY_VERIFY(!form().note().contains(QStringLiteral("Looking")));
    }
    void without_kernels()
    {
        part(QStringLiteral("Kernels"))->click();
        QVERIFY(!form().plan().kernels);
    }
    std::size_t points() { return plot().series().points.size(); }
};

void TestMeasure::pointsArriveWhileItMeasures()
{
    forget_files();
    show_form(program(grows(8)));
    QVERIFY2(form().note().contains(QStringLiteral("no GPU is here")), qPrintable(form().note()));
    without_kernels();
    QVERIFY(clicks_.click("Measure here"));
    QVERIFY(form().running());
    QTRY_VERIFY_WITH_TIMEOUT(panel().curve().curve() != nullptr, patience_ms);
    QCOMPARE(panel().curve().curve()->origin, Origin::growing);
    QTRY_COMPARE_WITH_TIMEOUT(points(), std::size_t{8}, patience_ms);
    QVERIFY(form().running()); // they came before its end
    QVERIFY(panel().calibration().files().empty());
    QCOMPARE(undo().count(), 0);
    write_file(path("go"), "");
    QTRY_VERIFY_WITH_TIMEOUT(!form().running(), patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(panel().calibration().files().size(), std::size_t{1}, patience_ms);
    QVERIFY(settled());
    QCOMPARE(panel().curve().curve()->origin, Origin::measured);
    QCOMPARE(points(), std::size_t{8});
    QCOMPARE(undo().count(), 1);
    QVERIFY(!has_errors(window_->refused()));
}

void TestMeasure::stoppingKeepsWhatWasMeasured()
{
    forget_files();
    show_form(program(grows(5)));
    without_kernels();
    QVERIFY(clicks_.click("Measure here"));
    QTRY_COMPARE_WITH_TIMEOUT(points(), std::size_t{5}, patience_ms);
    QVERIFY(clicks_.click("Stop"));
    QTRY_VERIFY_WITH_TIMEOUT(!form().running(), patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(panel().calibration().files().size(), std::size_t{1}, patience_ms);
    QVERIFY(settled());
    QCOMPARE(points(), std::size_t{5});
    QVERIFY(!has_errors(window_->refused()));
}

void TestMeasure::whatTheProgramComplainsOfIsAProblem()
{
    forget_files();
    show_form(program("echo 'error: rank 1 ended early' >&2\necho '      start again' >&2\n"
                      "exit 5\n"));
    without_kernels();
    QVERIFY(clicks_.click("Measure here"));
    QTRY_VERIFY_WITH_TIMEOUT(has_errors(window_->refused()), patience_ms);
    const Diagnostic& told = window_->refused().front();
    QVERIFY(told.message.find("rank 1 ended early") != std::string::npos);
    QVERIFY(told.hint.find("start again") != std::string::npos);
    QVERIFY(button(QStringLiteral("Measure here"))->isEnabled()); // and again
}

void TestMeasure::withoutTheProgramTheFormSaysSo()
{
    show_form(QString::fromStdString(path("nowhere")));
    QVERIFY(form().note().contains(QStringLiteral("not installed")));
    QVERIFY(!button(QStringLiteral("Measure here"))->isEnabled());
    QVERIFY(!field<QLineEdit>(QStringLiteral("Command for the cluster"))->text().isEmpty());
}

void TestMeasure::theLineForAClusterFollowsTheForm()
{
    forget_files();
    show_form(program(""));
    const auto line = [&] {
        return field<QLineEdit>(QStringLiteral("Command for the cluster"))->text();
    };
    QCOMPARE(line(), QStringLiteral("srun --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 "
                                    "--exclusive --kill-on-bad-exit=1 trainyard calibrate --quick "
                                    "--timeout 30 -o mine.json"));
    part(QStringLiteral("Pairs"))->click();
    without_kernels();
    field<QLineEdit>(QStringLiteral("Largest size of collectives"))
        ->setText(QStringLiteral("1 GiB"));
    QVERIFY(line().endsWith(QStringLiteral("trainyard calibrate --only collectives --quick "
                                           "--max-size 1GiB --timeout 30 -o mine.json")));
    auto* const backend = field<QComboBox>(QStringLiteral("Back end on the cluster"));
    backend->setCurrentIndex(backend->findData(QStringLiteral("gloo")));
    QVERIFY(!line().contains(QStringLiteral("--gpus-per-node")));
    QVERIFY(line().endsWith(QStringLiteral("--samples mine.samples.jsonl")));
    QVERIFY(line().contains(QStringLiteral("--backend gloo")));
}

void TestMeasure::anExistingProfileIsNotWrittenOver()
{
    forget_files();
    write_file(path("mine.json"), "{}");
    show_form(program("echo never; exit 1\n"));
    QVERIFY(form().note().contains(QStringLiteral("mine.json is there already")));
    QVERIFY(!button(QStringLiteral("Measure here"))->isEnabled());
    field<QLineEdit>(QStringLiteral("Largest size of collectives"))->setText(QStringLiteral("9"));
    field<QLineEdit>(QStringLiteral("Name of what is written"))
        ->setText(QString::fromStdString(path("other")));
    QVERIFY(form().note().contains(QStringLiteral("is no size")));
    field<QLineEdit>(QStringLiteral("Largest size of collectives"))->clear();
    QVERIFY(button(QStringLiteral("Measure here"))->isEnabled());
}

// Two ranks over Gloo, where this build has it.
void TestMeasure::theMachineIsMeasuredWithTheRealProgram()
{
    forget_files();
    const QString measure = QString::fromUtf8(TRAINYARD_MEASURE_PROGRAM);
    if (!QFileInfo(measure).isExecutable())
        QSKIP("trainyard-measure is not built");
    show_form(measure);
    auto* const backend = field<QComboBox>(QStringLiteral("Back end"));
    const int gloo = backend->findData(QStringLiteral("gloo"));
    if (gloo < 0)
        QSKIP("this build has no Gloo");
    backend->setCurrentIndex(gloo);
    without_kernels();
    part(QStringLiteral("Pairs"))->click();
    field<QLineEdit>(QStringLiteral("Smallest size of collectives"))
        ->setText(QStringLiteral("1 KiB"));
    field<QLineEdit>(QStringLiteral("Largest size of collectives"))
        ->setText(QStringLiteral("64 KiB"));
    field<QSpinBox>(QStringLiteral("Ranks"))->setValue(2);
    QVERIFY(clicks_.click("Measure here"));
    QVERIFY(form().running());
    QTRY_VERIFY_WITH_TIMEOUT(panel().curve().curve() != nullptr, patience_ms); // live
    QTRY_VERIFY_WITH_TIMEOUT(!form().running(), patience_ms);
    QTRY_COMPARE_WITH_TIMEOUT(panel().calibration().files().size(), std::size_t{1}, patience_ms);
    QVERIFY(settled());
    QVERIFY2(!has_errors(window_->refused()),
             window_->refused().empty() ? "" : window_->refused().front().message.c_str());
    QVERIFY(points() >= 3);
    QVERIFY(std::filesystem::exists(path("mine.samples.jsonl")));
}

TRAINYARD_WINDOW_TEST(TestMeasure, QApplication)
#include "test_measure.moc"

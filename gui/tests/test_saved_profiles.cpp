// Profiles made of measured files: saved, used by the scenario, of which device.

#include "gui/calibration/ask_machine.h"
#include "gui/tests/calibration_fixture.h"
#include "gui/tests/clicks.h"
#include "gui/tests/file_answers.h"
#include "sim/base/files.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTimer>
#include <QTreeView>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const std::string rack_log = // names no device
    test::logs + "coreweave_gb200_nvl72_18x4_allreduce.txt";

} // namespace

class TestSavedProfiles : public test::CalibrationFixture {
    Q_OBJECT

private slots:
    void whatIsSavedIsWhatFitWrites();
    void theSavedProfileServesTheScenario();
    void theDeviceIsAskedForAndNoneProposed();
    void aProfileOfAnotherDeviceIsRefused();
    void theNetworkIsAskedForWhereSeveralNodesWereMeasured();
    void fromALogToAProfileInUseByMouseAndKeyboard();
    void theLogOfFitsIsKeptInTheSession();
    void curvesAlikeLieOverEachOther();
};

void TestSavedProfiles::whatIsSavedIsWhatFitWrites()
{
    open(test::reduce_log);
    const std::string file = folder_.filePath("node.json").toStdString();
    QVERIFY(!panel().calibration().unsaid().any());
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

void TestSavedProfiles::theSavedProfileServesTheScenario()
{
    open(eight);
    open(test::reduce_log);
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

void TestSavedProfiles::theDeviceIsAskedForAndNoneProposed()
{
    int before = 0;
    bool could = true;
    bool can = false;
    test::Clicks clicks;
    const auto answer = [&] {
        auto* const dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
        auto* const devices = dialog->findChild<QComboBox*>();
        QPushButton* const ok =
            dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
        before = devices->currentIndex();
        could = ok->isEnabled();
        QVERIFY(clicks.choose(devices, "GB200"));
        can = ok->isEnabled();
        QVERIFY(clicks.click("OK"));
    };
    QTimer::singleShot(0, answer);
    QCOMPARE(ask_machine(window_.get(), {true, false})->device, std::string("GB200"));
    QCOMPARE(before, -1);
    QVERIFY(!could && can);
    QCOMPARE(clicks.count(), 2);
    QTimer::singleShot(0,
                       [] { qobject_cast<QDialog*>(QApplication::activeModalWidget())->reject(); });
    QVERIFY(!ask_machine(window_.get(), {true, false}));
}

void TestSavedProfiles::aProfileOfAnotherDeviceIsRefused()
{
    open(eight);
    open(rack_log);
    QVERIFY(panel().calibration().unsaid().device);
    FitRequest machine;
    machine.device = "GB200";
    panel().calibration().save(folder_.filePath("rack.json").toStdString(), machine);
    QVERIFY(settled());
    const auto before = window_->workspace().run();
    panel().use_in_scenario();
    QVERIFY(settled());
    // The scenario stays as it was, and runs.
    QVERIFY(window_->workspace().current());
    QCOMPARE(window_->workspace().run(), before);
    const Problems& problems = window_->refused();
    QVERIFY(has_errors(problems));
    QVERIFY(problems.front().message.find("GB200") != std::string::npos);
    QVERIFY(problems.front().message.find("h100") != std::string::npos);
    QVERIFY(!problems.front().hint.empty());
}

void TestSavedProfiles::theNetworkIsAskedForWhereSeveralNodesWereMeasured()
{
    bool could = true;
    test::Clicks clicks;
    const auto answer = [&] {
        auto* const dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog->findChild<QComboBox*>(QStringLiteral("device")) == nullptr); // is known
        auto* const rate = dialog->findChild<QLineEdit*>();
        for (QLineEdit* const line : dialog->findChildren<QLineEdit*>())
            if (line->accessibleName() == QStringLiteral("Line rate of a NIC")) {
                QVERIFY(clicks.type(line, "fast"));
                could = dialog->findChild<QDialogButtonBox*>()
                            ->button(QDialogButtonBox::Ok)
                            ->isEnabled();
                QVERIFY(clicks.type(line, "400 Gb/s"));
            }
        QVERIFY(rate != nullptr);
        for (QSpinBox* const box : dialog->findChildren<QSpinBox*>())
            QVERIFY(clicks.type(box, "8"));
        QVERIFY(clicks.click("OK"));
    };
    QTimer::singleShot(0, answer);
    const std::optional<FitRequest> said = ask_machine(window_.get(), {false, true});
    QVERIFY(said.has_value());
    QVERIFY(!could);
    QCOMPARE(said->nics_per_node, 8);
    QCOMPARE(said->nic_rate.value(), 50e9);
    QVERIFY(said->network.empty() && said->device.empty());
}

// Ctrl+O and the log's name; "Save profile ..." and a name; "Use in scenario".
void TestSavedProfiles::fromALogToAProfileInUseByMouseAndKeyboard()
{
    open(eight);
    test::Clicks clicks;
    const test::TypesIntoFileDialog log(
        QDir::current().absoluteFilePath(QString::fromStdString(test::reduce_log)));
    QTest::keyClick(window_.get(), Qt::Key_O, Qt::ControlModifier);
    QVERIFY(log.answered());
    QVERIFY(settled());
    QVERIFY(panel().in_sight());
    const test::TypesIntoFileDialog profile(folder_.filePath("chosen.json"));
    QVERIFY(clicks.click("Save profile ..."));
    QVERIFY(profile.answered());
    QVERIFY(settled());
    QVERIFY(clicks.click("Use in scenario"));
    QVERIFY(settled());
    QCOMPARE(window_->workspace().run()->outcome->cost->profile().name, std::string("chosen"));
    QCOMPARE(clicks.count(), 2);
}

void TestSavedProfiles::theLogOfFitsIsKeptInTheSession()
{
    open(eight);
    open(test::reduce_log);
    const std::string file = folder_.filePath("mine.json").toStdString();
    panel().calibration().save(file);
    QVERIFY(settled());
    panel().calibration().save("/nowhere/at/all/node.json");
    QVERIFY(settled());
    const FitLog log = panel().calibration().log();
    QCOMPARE(log.size(), std::size_t{3});
    QCOMPARE(log[0].what, FitLogEntry::What::opened);
    QCOMPARE(log[1].what, FitLogEntry::What::saved);
    QCOMPARE(log[1].result, file);
    QCOMPARE(log[1].files, std::vector{test::reduce_log});
    QCOMPARE(log[2].what, FitLogEntry::What::refused);
    QVERIFY(fit_log_from(to_json(log)) == log);
    QVERIFY(window_->save_session(path("s.trainyard.json")));
    restart();
    open(path("s.trainyard.json"));
    QVERIFY(panel().calibration().log().size() >= log.size());
    QVERIFY(panel().calibration().log()[2] == log[2]);
    QCOMPARE(panel().parts().back()->table().rows.size(), panel().calibration().log().size());
}

void TestSavedProfiles::curvesAlikeLieOverEachOther()
{
    open(test::reduce_log); // out of place, in place
    QVERIFY(plot().others().empty());
    QVERIFY(!plot().series().line_rate.empty());
    const std::size_t alone = panel().curve().table().rows.size();
    test::Clicks clicks;
    QVERIFY(clicks.click("All alike"));
    QCOMPARE(plot().others().size(), std::size_t{1});
    QVERIFY(panel().curve().table().rows.size() > alone);
    QCOMPARE(panel().curve().table().columns.front(), QStringLiteral("curve"));
    // A point of the first one is still judged, which lets the others stay.
    plot().set_mark(20);
    panel().curve().toggle_mark();
    QVERIFY(settled());
    QVERIFY(plot().series().points[20].excluded);
    QCOMPARE(plot().others().size(), std::size_t{1});
    // In bus bandwidth the line rate is level, and in sight.
    panel().curve().set_quantity(CurveAxis::bus_bandwidth);
    const CurveSeries& series = plot().series();
    QCOMPARE(series.line_rate.front(), series.line_rate.back());
    QVERIFY(series.line_rate.front() <= series.most);
    QTest::keyClick(&panel().list(), Qt::Key_Home); // a single one again
    QTest::keyClick(&panel().list(), Qt::Key_Down);
    QVERIFY(plot().others().empty());
}

TRAINYARD_WINDOW_TEST(TestSavedProfiles, QApplication)
#include "test_saved_profiles.moc"

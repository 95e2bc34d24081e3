// Profiles made of measured files: saved, used by the scenario, of which device.

#include "gui/calibration/ask_device.h"
#include "gui/tests/calibration_fixture.h"
#include "sim/base/files.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QPushButton>
#include <QTimer>

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
};

void TestSavedProfiles::whatIsSavedIsWhatFitWrites()
{
    open(test::reduce_log);
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

void TestSavedProfiles::aProfileOfAnotherDeviceIsRefused()
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

TRAINYARD_WINDOW_TEST(TestSavedProfiles, QApplication)
#include "test_saved_profiles.moc"

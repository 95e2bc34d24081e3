// Sweeps that are saved and opened again, by the window's buttons, drops and sessions.

#include "gui/explore/explore_panel.h"
#include "gui/tests/window_fixture.h"
#include "sim/api/grid_sweep.h"
#include "sim/api/scenarios.h"
#include "sim/base/files.h"

#include <QLabel>
#include <QSignalSpy>

using namespace trainyard;
using namespace trainyard::gui;

class TestSweepFiles : public test::WindowFixture {
    Q_OBJECT

private slots:
    void whatIsSavedOpensAgain();
    void aSweepBringsItsOwnScenario();
    void pointsWithoutAScenarioNeedOne();
    void aBrokenFileLosesNothing();
    void aSessionKeepsThePoints();

private:
    ExplorePanel& explore() { return *window_->findChild<ExplorePanel*>(); }
    const PointStore& store() { return explore().store(); }
    bool settled() override { return WindowFixture::settled() && idle(); }
    bool idle()
    {
        return QTest::qWaitFor([this] { return !explore().busy(); }, patience_ms);
    }
    // What `trainyard sweep` finds of the scenario on one field.
    GridAnswer swept(const std::string& scenario, const std::string& axis);
    std::string json_of(const GridAnswer& answer, const char* name);
};

GridAnswer TestSweepFiles::swept(const std::string& scenario, const std::string& axis)
{
    Session session;
    return sweep_grid(load_scenario(scenario).value(), scenario, {{axis}}, 5, 1, session, {})
        .value();
}

std::string TestSweepFiles::json_of(const GridAnswer& answer, const char* name)
{
    write_file(path(name), sweep_json_text(answer));
    return path(name);
}

void TestSweepFiles::whatIsSavedOpensAgain()
{
    open(eight);
    drop(json_of(swept(eight, "strategy.zero=0,1,3"), "found.json"));
    QCOMPARE(store().size(), 3U);
    QVERIFY(!explore().stale());
    QVERIFY(!window_->workspace().document().modified()); // it is the one that is open
    const double step = store().figure(1, "step_time_s");
    QSignalSpy saved(&explore(), &ExplorePanel::saved);
    explore().save(path("mine.sweep.json"));
    QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, patience_ms);
    restart();
    drop(path("mine.sweep.json")); // in an empty window
    QCOMPARE(window_->workspace().document().title(), QStringLiteral("llama3-8b-h100-8.json"));
    QCOMPARE(store().size(), 3U);
    QCOMPARE(store().figure(1, "step_time_s"), step);
    QVERIFY(!explore().stale());
    QCOMPARE(explore().ranges().empty(), false);
    explore().open(1);
    QCOMPARE(to_text(*window_->workspace().document().find("strategy.zero")), std::string("1"));
}

void TestSweepFiles::aSweepBringsItsOwnScenario()
{
    open("scenarios/gpt2-xl-fsdp-4.json");
    drop(json_of(swept(eight, "strategy.zero=1,3"), "found.json"));
    QCOMPARE(window_->workspace().document().title(), QStringLiteral("llama3-8b-h100-8.json"));
    QCOMPARE(store().size(), 2U);
    QVERIFY(!explore().stale());
    QVERIFY(explore().in_sight());
    // One that differs in more than the sweep decides is of another scenario.
    QVERIFY(!window_->workspace().document().set("training.sequence_length", "4096"));
    QVERIFY(explore().stale());
}

void TestSweepFiles::pointsWithoutAScenarioNeedOne()
{
    const GridAnswer found = swept(eight, "strategy.zero=1,3");
    std::string csv = sweep_csv_head(found.task.title.grid);
    for (const PointRow& row : found.rows)
        csv += sweep_csv_line(found.task.title.grid, row, usual_headroom);
    write_file(path("found.csv"), csv);
    drop(path("found.csv"));
    QVERIFY(has_errors(window_->refused()));
    QVERIFY(!window_->refused().front().hint.empty());
    open(eight);
    drop(path("found.csv"));
    QCOMPARE(store().size(), 2U);
    QVERIFY(explore()
                .findChild<QLabel*>(QStringLiteral("state"))
                ->text()
                .startsWith(QStringLiteral("found.csv")));
    // A scenario without that field cannot have them.
    write_file(path("other.csv"), "point,strategy.zeros" + csv.substr(csv.find(",feasible")));
    drop(path("other.csv"));
    QVERIFY(has_errors(window_->refused()));
    QCOMPARE(store().size(), 2U); // what was there stays
}

void TestSweepFiles::aBrokenFileLosesNothing()
{
    open(eight);
    const std::string file = json_of(swept(eight, "strategy.zero=1,3"), "found.json");
    drop(file);
    const std::string whole = read_file(file);
    write_file(path("cut.json"), whole.substr(0, whole.size() / 2));
    drop(path("cut.json"));
    QVERIFY(has_errors(window_->refused()));
    QVERIFY(window_->refused().front().line > 0);
    QCOMPARE(store().size(), 2U);
    QCOMPARE(explore().file(), file);
    // A folder that is not there: the points stay, and no half a file.
    explore().save(path("absent/mine.json"));
    QTRY_VERIFY_WITH_TIMEOUT(has_errors(window_->refused()) && idle(), patience_ms);
    QCOMPARE(store().size(), 2U);
}

void TestSweepFiles::aSessionKeepsThePoints()
{
    open(eight);
    drop(json_of(swept(eight, "strategy.zero=1,3"), "found.json"));
    QVERIFY(!window_->workspace().document().set("training.sequence_length", "4096"));
    QVERIFY(window_->save_session(path("s.trainyard.json")));
    restart();
    open(path("s.trainyard.json"));
    QCOMPARE(store().size(), 2U);
    // The scenario is the session's, not the file's.
    QCOMPARE(to_text(*window_->workspace().document().find("training.sequence_length")),
             std::string("4096"));
    QVERIFY(explore().stale());
}

TRAINYARD_WINDOW_TEST(TestSweepFiles, QApplication)

#include "test_sweep_files.moc"

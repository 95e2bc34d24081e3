// The topology at work: time, play and pause, edits of links, what is cancelled
// or refused.

#include "gui/tests/topology_fixture.h"
#include "gui/tests/window_test.h"
#include "gui/topology/link_facts.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <set>

using namespace trainyard;
using namespace trainyard::gui;

class TestTopologyWork : public test::TopologyFixture {
    Q_OBJECT

private slots:
    void theCursorColoursTheMoment();
    void timesCountFromTheStepsBeginning();
    void playingMovesTheCursor();
    void theTablesFollowWhilePlaying();
    void aBrokenLinkIsRoutedAroundAndMended();
    void whileItIsInSightAllRanksAreRecordedAfterAnEdit();
    void aLinkIsSlowedAndGivenBack();
    void cuttingEverythingIsAProblem();
    void whatCannotBeDoneIsAmongTheProblems();
    void whatIsCancelledIsNotShown();
    void onlyWhatIsInSightIsMade();
    void ofALargeClusterThePictureIsMadeInTheBackground();
    void escapeIsTheWindowsWhileSomethingRuns();
};

void TestTopologyWork::theCursorColoursTheMoment()
{
    const LinkId out = link("node0/nic2 out");
    canvas().go_to(out);
    const LinkFlow flow = panel_->pane().flows().flows().largest.front();
    const SimTime middle = flow.from + (flow.to - flow.from) / 2;
    view().set_cursor(middle); // as the timeline does
    QVERIFY(canvas().time().moment());
    QVERIFY(canvas().loads()[out.value] >= 0.999 * flow.rate().value());
    QVERIFY(canvas().scene().when.startsWith("at "));
    auto* const slider = panel_->scrubber().findChild<QSlider*>();
    const int there = slider->value();
    QVERIFY(there > 0);
    QTest::keyClick(slider, Qt::Key_PageUp);
    QVERIFY(view().cursor() > middle);
    QTest::keyClick(slider, Qt::Key_Home);
    QVERIFY(!canvas().time().moment());
}

void TestTopologyWork::timesCountFromTheStepsBeginning()
{
    const SimTime begins = step_of(*run().outcome).from;
    const TimeRange whole = view().whole();
    view().set_whole({begins - SimTime(1'000'000), whole.to}); // as the timeline does
    view().set_cursor(begins + SimTime(2'000'000'000));
    bool said = false;
    for (const QLabel* const label : panel_->scrubber().findChildren<QLabel*>())
        said = said || label->text() == QStringLiteral("2 ms");
    QVERIFY(said);
    QCOMPARE(canvas().scene().when, QStringLiteral("at 2 ms into the step"));
}

void TestTopologyWork::playingMovesTheCursor()
{
    auto* const speed = panel_->scrubber().findChild<QComboBox*>();
    speed->setCurrentIndex(speed->count() - 1);
    key(Qt::Key_Space);
    QVERIFY(panel_->scrubber().playing());
    QTRY_VERIFY(view().cursor() > view().whole().from + view().whole().length() / 100);
    key(Qt::Key_Space);
    QVERIFY(!panel_->scrubber().playing());
    const SimTime stands = view().cursor();
    QTest::qWait(100);
    QCOMPARE(view().cursor(), stands);
    view().set_cursor(view().whole().to - view().whole().length() / 200);
    panel_->scrubber().togglePlay();
    QTRY_VERIFY(!panel_->scrubber().playing()); // it stops at the end
    QCOMPARE(view().cursor(), view().whole().to);
}

void TestTopologyWork::theTablesFollowWhilePlaying()
{
    const LinkId out = link("node0/nic2 out");
    canvas().go_to(out);
    QSignalSpy links(&panel_->pane().links(), &QAbstractItemModel::dataChanged);
    QSignalSpy resets(&panel_->pane().links(), &QAbstractItemModel::modelReset);
    key(Qt::Key_Space);
    QTRY_VERIFY(links.count() >= 2);
    QVERIFY(panel_->scrubber().playing());
    QCOMPARE(resets.count(), 0); // where they were scrolled to stays
    key(Qt::Key_Space);
}

void TestTopologyWork::aBrokenLinkIsRoutedAroundAndMended()
{
    const Json before = workspace_->document().json();
    const LinkId out = link("node0/nic2 out");
    QVERIFY(canvas().loads()[out.value] > 0);
    click(canvas().point_of_link(out));
    const auto sound = canvas().run();
    key(Qt::Key_B);
    const Json* const entries = workspace_->document().find("perturbations");
    QVERIFY(entries != nullptr);
    QCOMPARE(entries->items()[0].find("link")->as_string(), std::string("node0/nic2"));
    wait_for_another(sound);
    QCOMPARE(run().state[out.value], LinkState::dead);
    QCOMPARE(canvas().loads()[out.value], 0.0);
    QCOMPARE(run().graph, sound->graph); // nothing moves
    QCOMPARE(view().selection().link.value(), out);
    const auto broken = canvas().run();
    key(Qt::Key_M);
    wait_for_another(broken);
    QCOMPARE(run().state[out.value], LinkState::sound);
    QVERIFY(workspace_->document().json() == before);
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().find("perturbations") != nullptr);
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().json() == before);
}

void TestTopologyWork::whileItIsInSightAllRanksAreRecordedAfterAnEdit()
{
    // A job that is recorded whole only when it is asked for.
    QVERIFY(workspace_->document().open("scenarios/llama3-70b-h100-64.json").empty());
    QTRY_VERIFY_WITH_TIMEOUT(!workspace_->live().busy() && !panel_->busy() &&
                                 run().outcome->job.world() == 64,
                             patience_ms);
    canvas().select(link("node0/gpu0/nvlink up"));
    QVERIFY(view().selection().link);
    key(Qt::Key_H);
    QTRY_VERIFY_WITH_TIMEOUT(!workspace_->live().busy() && !panel_->busy() &&
                                 run().loads->ranks_recorded() == 64,
                             patience_ms);
    QVERIFY(workspace_->lanes() == LaneChoice{}); // nothing else was asked for
    QCOMPARE(run().loads->ranks_counted(), 64);
    std::set<LaneId> lanes;
    for (const OpRecord& record : run().outcome->result->records)
        lanes.insert(record.lane);
    QCOMPARE(lanes.size(), run().outcome->binding->lanes.size());
    // Out of sight it needs them no more: the next run records what was asked for.
    panel_->set_in_sight(false);
    const auto lanes_of = [this] {
        std::set<LaneId> recorded;
        for (const OpRecord& record : workspace_->recorded()->outcome->result->records)
            recorded.insert(record.lane);
        return recorded.size();
    };
    QCOMPARE(lanes_of(), lanes.size()); // the one that has them keeps them
    QVERIFY(!workspace_->document().set("training.sequence_length", "4096"));
    QTRY_VERIFY_WITH_TIMEOUT(!workspace_->live().busy() && lanes_of() < lanes.size(), patience_ms);
    panel_->set_in_sight(true);
    QTRY_VERIFY_WITH_TIMEOUT(!workspace_->live().busy() && !panel_->busy() &&
                                 run().loads->ranks_recorded() == 64,
                             patience_ms);
    QCOMPARE(lanes_of(), lanes.size());
    // What was chosen by hand stays.
    workspace_->set_lanes({LanesOf::stages});
    QTRY_VERIFY_WITH_TIMEOUT(!workspace_->live().busy() && !panel_->busy() &&
                                 run().loads->ranks_recorded() < 64,
                             patience_ms);
    QVERIFY(workspace_->lanes() == LaneChoice{LanesOf::stages});
}

void TestTopologyWork::aLinkIsSlowedAndGivenBack()
{
    const LinkId out = link("node1/nic0 out");
    canvas().go_to(out);
    const double whole = run().capacity[out.value];
    const auto sound = canvas().run();
    key(Qt::Key_H);
    wait_for_another(sound);
    QCOMPARE(run().capacity[out.value], whole / 2);
    QCOMPARE(run().state[out.value], LinkState::changed);
    QVERIFY(state_words(run(), out).contains("50.0 %"));
    // Bundles of several: all of them.
    panel_->change({LinkChange::Kind::share, 2.0});
    QVERIFY(workspace_->document().find("perturbations") != nullptr);
    QCOMPARE(workspace_->document().find("perturbations")->items().size(), std::size_t{1});
}

void TestTopologyWork::cuttingEverythingIsAProblem()
{
    Json json = workspace_->document().json();
    json["perturbations"] =
        Json(Json::Array{Json(Json::Object{{"link", Json("node0/nic*")}, {"dead", Json(true)}})});
    workspace_->document().replace(std::move(json), QStringLiteral("cut"));
    QTRY_VERIFY_WITH_TIMEOUT(has_errors(workspace_->problems()), patience_ms);
    QVERIFY(canvas().run() != nullptr); // the last picture stays
    canvas().go_to(link("node0/nic1 out"));
    key(Qt::Key_M); // a pattern is about others, too
    QVERIFY(workspace_->document().find("perturbations") != nullptr);
}

void TestTopologyWork::whatCannotBeDoneIsAmongTheProblems()
{
    QSignalSpy told(panel_.get(), &TopologyPanel::told);
    canvas().go_to(link("node1/nic0 out"));
    key(Qt::Key_M); // it is sound
    QCOMPARE(told.count(), 1);
    const auto problems = told[0][0].value<Problems>();
    QVERIFY(problems.front().message.find("node1/nic0") != std::string::npos);
    QCOMPARE(problems.front().pointer, std::string("/perturbations"));
    QVERIFY(workspace_->document().find("perturbations") == nullptr);
    panel_->change({LinkChange::Kind::share, 2.0});
    QCOMPARE(told.count(), 2);
    // What can be done takes back what could not.
    key(Qt::Key_H);
    QVERIFY(workspace_->document().find("perturbations") != nullptr);
    QCOMPARE(told.count(), 3);
    QVERIFY(told[2][0].value<Problems>().empty());
}

void TestTopologyWork::whatIsCancelledIsNotShown()
{
    connect(panel_.get(), &Panel::busyChanged, panel_.get(), [this] {
        if (panel_->busy())
            panel_->cancel();
    });
    panel_->change({LinkChange::Kind::cut}); // of no link: nothing
    QVERIFY(canvas().run() != nullptr);
    canvas().go_to(link("node0/nic2 out"));
    key(Qt::Key_B);
    QTRY_VERIFY_WITH_TIMEOUT(canvas().run() == nullptr, patience_ms);
    QVERIFY(!panel_->busy());
    panel_->disconnect(panel_.get());
    workspace_->simulate_again();
    QTRY_VERIFY_WITH_TIMEOUT(canvas().run() != nullptr, patience_ms);
    QCOMPARE(run().state[link("node0/nic2 out").value], LinkState::dead);
}

void TestTopologyWork::onlyWhatIsInSightIsMade()
{
    const LinkId out = link("node0/nic2 out");
    canvas().go_to(out);
    const LinkFlow flow = panel_->pane().flows().flows().largest.front();
    const auto before = canvas().run();
    const std::vector<double> loads = canvas().loads();
    panel_->set_in_sight(false);
    view().set_cursor(flow.from + (flow.to - flow.from) / 2);
    QVERIFY(canvas().loads() == loads);
    panel_->set_in_sight(true);
    QVERIFY(canvas().loads() != loads);
    QVERIFY(!panel_->busy());
    const auto recorded = workspace_->recorded();
    panel_->set_in_sight(false);
    panel_->change({LinkChange::Kind::cut});
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->recorded() != recorded, patience_ms);
    QVERIFY(!panel_->busy());
    QVERIFY(canvas().run() == before);
    panel_->set_in_sight(true);
    QVERIFY(panel_->busy());
    wait_for_another(before);
    QCOMPARE(run().state[out.value], LinkState::dead);
}

void TestTopologyWork::ofALargeClusterThePictureIsMadeInTheBackground()
{
    QVERIFY(workspace_->document().open("scenarios/llama3-405b-h100-16k.json").empty());
    QTRY_VERIFY_WITH_TIMEOUT(!workspace_->live().busy() && !panel_->busy() &&
                                 run().outcome->job.world() == 16'384,
                             patience_ms);
    // However fast the time moves, the window waits for nothing, and the last moment is shown.
    const std::vector<double> loads = canvas().loads();
    const TimeRange whole = view().whole();
    for (int i = 1; i <= 50; ++i)
        view().set_cursor(whole.from + whole.length() * i / 100);
    QVERIFY(canvas().loads() == loads);
    QTRY_COMPARE_WITH_TIMEOUT(canvas().time().from, view().cursor(), patience_ms);
    QVERIFY(canvas().loads() == link_loads(run(), canvas().time()));
    // Changes of what is folded add up.
    const auto pod = [&](const char* name) { return place(name); };
    canvas().set_open(pod("pod 3"), true);
    canvas().set_open(pod("pod 9"), true);
    canvas().set_open(pod("nodes 200-207"), true);
    QVERIFY(!canvas().layout_of().open(pod("pod 3")));
    QTRY_VERIFY_WITH_TIMEOUT(canvas().layout_of().open(pod("pod 3")) &&
                                 canvas().layout_of().open(pod("pod 9")) &&
                                 canvas().layout_of().open(pod("nodes 200-207")),
                             patience_ms);
    // What is looked for is unfolded and selected.
    canvas().closeAll();
    canvas().go_to(link("node77/nic2 out"));
    QTRY_VERIFY_WITH_TIMEOUT(view().selection().link == link("node77/nic2 out") &&
                                 canvas().layout_of().open(pod("nodes 72-79")),
                             patience_ms);
    QVERIFY(!canvas().layout_of().open(pod("pod 3")));
}

void TestTopologyWork::escapeIsTheWindowsWhileSomethingRuns()
{
    QKeyEvent escape(QEvent::ShortcutOverride, Qt::Key_Escape, {}, QStringLiteral("\x1b"));
    escape.ignore();
    QCoreApplication::sendEvent(&canvas(), &escape);
    QVERIFY(!escape.isAccepted());
    QKeyEvent letter(QEvent::ShortcutOverride, Qt::Key_B, {}, QStringLiteral("b"));
    letter.ignore();
    QCoreApplication::sendEvent(&canvas(), &letter);
    QVERIFY(letter.isAccepted());
    QVERIFY(!panel_->key_help().empty());
}

TRAINYARD_WINDOW_TEST(TestTopologyWork, QApplication)
#include "test_topology_work.moc"

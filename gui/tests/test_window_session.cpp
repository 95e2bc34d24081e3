// The window's sessions: saved, moved, broken, left by a crash.

#include "gui/new/origin_view.h"
#include "gui/tests/window_fixture.h"
#include "sim/base/files.h"

#include <QAbstractButton>
#include <QLabel>
#include <QMessageBox>
#include <QTimer>

using namespace trainyard;
using namespace trainyard::gui;

class TestWindowSession : public test::WindowFixture {
    Q_OBJECT

private slots:
    void aSessionKeepsWhatIsPinned();
    void aSessionKeepsLanesAndWhoIsRecorded();
    void aSelectionThatMakesNoSenseIsDropped();
    void aSessionMovedWithItsScenarioIsFound();
    void aBrokenSessionIsTold();
    void whatACrashLeftIsOffered();
};

void TestWindowSession::aSessionKeepsWhatIsPinned()
{
    open("scenarios/llama2-7b-tp2-pp2-dp2.json");
    canvas().openAll();
    canvas().setFocus();
    ViewState& view = window_->workspace().view();
    while (!view.selection().record) // a rank's own line shows no ops
        QTest::keyClick(&canvas(), Qt::Key_Down);
    for (int step = 0; step < 5; ++step)
        QTest::keyClick(&canvas(), Qt::Key_Right);
    Selection selection = view.selection();
    QVERIFY(selection.record.has_value());
    const TimeRange whole = view.whole();
    selection.range = TimeRange{whole.from + whole.length() / 4, whole.from + whole.length() / 2};
    view.select(selection);
    view.show({whole.from, whole.from + whole.length() / 2});
    const TimeRange range = view.range();
    const std::uint32_t pinned = canvas().pinned();
    QVERIFY(window_->save_session(path("pinned.json")));

    restart();
    open(path("pinned.json"));
    QTRY_COMPARE_WITH_TIMEOUT(canvas().pinned(), pinned, patience_ms);
    QVERIFY(window_->workspace().view().selection() == selection);
    QVERIFY(window_->workspace().view().range() == range);
}

void TestWindowSession::aSessionKeepsLanesAndWhoIsRecorded()
{
    open("scenarios/llama2-7b-tp2-pp2-dp2.json");
    const auto tracks = [this] { // of the lines, from the top down
        QStringList names;
        const TimelineData& data = canvas().model()->data;
        for (const Line& line : canvas().tracks().lines())
            names << QString::fromStdString(data.tracks[line.track].name);
        return names;
    };
    const auto settle = [this] {
        QTRY_VERIFY_WITH_TIMEOUT(!window_->busy() && canvas().model() != nullptr, patience_ms);
    };
    window_->workspace().set_lanes({LanesOf::ranks, {RankId{1}, RankId{3}, RankId{6}}});
    settle();
    canvas().setOrder(LaneOrder::idle);
    settle();
    canvas().openAll();
    canvas().setFocus();
    const auto on_line = [this](std::size_t line, Qt::Key key) {
        const TimelineData& data = canvas().model()->data;
        Selection selection;
        selection.rank = data.tracks[canvas().tracks().lines()[line].track].rank;
        window_->workspace().view().select(selection);
        while (canvas().current_track() != canvas().tracks().lines()[line].track)
            QTest::keyClick(&canvas(), Qt::Key_Down);
        QTest::keyClick(&canvas(), key);
    };
    on_line(canvas().tracks().lines().size() - 1, Qt::Key_T);
    on_line(2, Qt::Key_H);
    canvas().closeAll();
    const QStringList shown = tracks();
    QVERIFY(canvas().tracks().hidden_count() == 1);
    QVERIFY(window_->save_session(path("lanes.json")));

    restart();
    open(path("lanes.json"));
    settle();
    QCOMPARE(canvas().order(), LaneOrder::idle);
    canvas().closeAll();
    QCOMPARE(tracks(), shown);
    QCOMPARE(canvas().tracks().hidden_count(), std::size_t{1});
    QVERIFY(window_->workspace().lanes() ==
            (LaneChoice{LanesOf::ranks, {RankId{1}, RankId{3}, RankId{6}}}));

    // One of an earlier version opens as at the first start.
    Json json = *read_json_file(path("lanes.json"));
    std::erase_if(json.members(), [](const Json::Member& m) { return m.first == "lanes"; });
    write_file(path("old.json"), to_text(json));
    open(path("old.json"));
    settle();
    QCOMPARE(canvas().order(), LaneOrder::stage);
    QCOMPARE(canvas().tracks().hidden_count(), std::size_t{0});
    QVERIFY(window_->workspace().lanes() == LaneChoice{});
}

void TestWindowSession::aSelectionThatMakesNoSenseIsDropped()
{
    open(eight);
    QVERIFY(window_->save_session(path("a.json")));
    Json json = *read_json_file(path("a.json"));
    json["selected_rank"] = Json(4000);
    json["selected_link"] = Json(1'000'000);
    json["selected_record"] = Json(3);
    write_file(path("a.json"), to_text(json));
    restart();
    open(path("a.json"));
    QVERIFY(window_->workspace().view().selection() == Selection{});
    QCOMPARE(canvas().pinned(), nothing);
}

void TestWindowSession::aSessionMovedWithItsScenarioIsFound()
{
    const std::filesystem::path old_folder = path("old");
    const std::filesystem::path new_folder = path("new");
    std::filesystem::create_directories(old_folder);
    open(eight);
    window_->workspace().document().save((old_folder / "job.json").string());
    QVERIFY(window_->save_session((old_folder / "session.json").string()));
    std::filesystem::rename(old_folder, new_folder);
    restart();
    open((new_folder / "session.json").string());
    QVERIFY(window_->workspace().current());
    QCOMPARE(window_->workspace().document().file(), (new_folder / "job.json").string());
    QVERIFY(window_->refused().empty());
    // Its scenario gone, it is told; what was edited is there all the same.
    std::filesystem::remove(new_folder / "job.json");
    restart();
    QVERIFY(window_->open((new_folder / "session.json").string()));
    QVERIFY(settled());
    QVERIFY(window_->refused().front().message.find("job.json") != std::string::npos);
    QVERIFY(window_->workspace().document().find("training") != nullptr);
}

void TestWindowSession::aBrokenSessionIsTold()
{
    open(eight);
    QVERIFY(window_->save_session(path("whole.json")));
    const std::string text = read_file(path("whole.json"));
    const Json before = window_->workspace().document().json();
    write_file(path("truncated.json"), std::string_view(text).substr(0, text.size() / 2));
    QVERIFY(!window_->open(path("truncated.json")));
    QVERIFY(window_->refused().front().line > 0);
    Json newer = *read_json_file(path("whole.json"));
    newer["format"] = "trainyard.session/2";
    write_file(path("newer.json"), to_text(newer));
    QVERIFY(!window_->open(path("newer.json")));
    QVERIFY(window_->refused().front().message.find("another version") != std::string::npos);
    QVERIFY(window_->workspace().document().json() == before);
}

void TestWindowSession::whatACrashLeftIsOffered()
{
    open(eight);
    window_->workspace().document().set("training.global_batch", "64");
    QVERIFY(settled());
    std::filesystem::create_directories(path("autosave"));
    const std::string left = path("autosave/session-999999999.json"); // of no process
    QVERIFY(window_->save_session(left));
    restart();
    QTimer answering;
    connect(&answering, &QTimer::timeout, this, [] {
        if (auto* const box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget()))
            box->button(QMessageBox::Yes)->click();
    });
    answering.start(20);
    window_->offer_recovery();
    QVERIFY(settled());
    const Json* const batch = window_->workspace().document().find("training.global_batch");
    QVERIFY(batch != nullptr && *batch == Json(64));
    QVERIFY(window_->workspace().document().modified()); // it was never written
    QVERIFY(!std::filesystem::exists(left));
    QVERIFY(window_->findChild<OriginView*>()->findChild<QLabel*>()->text().contains(
        QStringLiteral("came with a session")));
    QVERIFY(!std::filesystem::is_empty(path("autosave"))); // kept under the new name
}

TRAINYARD_WINDOW_TEST(TestWindowSession, QApplication)
#include "test_window_session.moc"

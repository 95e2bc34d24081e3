// The timeline as people use it: keyboard and mouse, without a display.

#include "gui/tests/painted_picture.h"
#include "gui/tests/window_test.h"
#include "gui/timeline/slice_facts.h"
#include "gui/timeline/timeline_panel.h"
#include "gui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QSignalSpy>
#include <QTableView>
#include <QTextBrowser>
#include <QToolTip>
#include <QWheelEvent>

using namespace trainyard;
using namespace trainyard::gui;

class TestTimelinePanel : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void aRunIsShownWhole();
    void keysZoomAndPan();
    void theWheelZoomsAboutThePointer();
    void pinchingZooms();
    void aClickPinsAndLinksLeadOn();
    void bracketsGoToTheSameName();
    void arrowKeysReachEverySlice();
    void aDragSelectsAndFillsTheTable();
    void aSearchIsSteppedThrough();
    void measureTakesWhatIsThere();
    void linesFold();
    void returnFoldsTheRankOfAPinnedOperation();
    void otherViewsSelectToo();
    void aChangedScenarioKeepsWhatIsPinned();
    void makingItCanBeCancelled();
    void onlyWhatIsInSightIsMade();
    void theBaselineLiesBeside();
    void everyPictureHasItsSize();
    void anEmptyTimelineSaysWhatIsMissing();

private:
    TimelineCanvas& canvas() { return panel_->canvas(); }
    const TimelineModel& model() { return *canvas().model(); }
    ViewState& view() { return workspace_->view(); }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {})
    {
        QTest::keyClick(&canvas(), key, modifiers);
    }
    // Where a track's line is, at that part of the width.
    QPoint place(std::uint32_t track, double across);
    std::uint32_t track_of(const std::string& name, std::size_t nth = 0);

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<TimelinePanel> panel_;
};

void TestTimelinePanel::init()
{
    workspace_ = std::make_unique<Workspace>();
    workspace_->want_ops(true);
    QVERIFY(workspace_->document().open("scenarios/llama2-7b-tp2-pp2-dp2.json").empty());
    panel_ = std::make_unique<TimelinePanel>(*workspace_);
    panel_->resize(1280, 800);
    panel_->show();
    QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != nullptr, patience_ms);
    canvas().setFocus();
}

void TestTimelinePanel::cleanup()
{
    panel_.reset();
    workspace_.reset();
}

std::uint32_t TestTimelinePanel::track_of(const std::string& name, std::size_t nth)
{
    const auto& tracks = model().data.tracks;
    for (std::uint32_t t = 0; t < tracks.size(); ++t)
        if (tracks[t].name == name && nth-- == 0)
            return t;
    return nothing;
}

QPoint TestTimelinePanel::place(std::uint32_t track, double across)
{
    Scene scene;
    scene.model = &model();
    scene.layout = &canvas().tracks();
    scene.font = canvas().font();
    const SceneFrame frame = frame_of(scene, canvas().viewport()->size());
    const Line& line = canvas().tracks().lines()[canvas().tracks().line_of(track).value()];
    return {frame.body.left() + static_cast<int>(frame.body.width() * across),
            frame.body.top() + line.y + line.height / 2};
}

void TestTimelinePanel::aRunIsShownWhole()
{
    QCOMPARE(view().range(), model().data.whole);
    QVERIFY(!model().path.empty());
    const QImage picture = canvas().grab().toImage();
    QVERIFY(picture.width() > 1000);
}

void TestTimelinePanel::keysZoomAndPan()
{
    const SimTime whole = view().range().length();
    key(Qt::Key_W);
    QVERIFY(view().range().length() < whole);
    const TimeRange closer = view().range();
    key(Qt::Key_D);
    QVERIFY(view().range().from > closer.from);
    QCOMPARE(view().range().length(), closer.length());
    key(Qt::Key_A);
    key(Qt::Key_A);
    QVERIFY(view().range().from < closer.from);
    key(Qt::Key_S);
    key(Qt::Key_S);
    QCOMPARE(view().range().length(), whole);
    key(Qt::Key_W);
    key(Qt::Key_F);
    QCOMPARE(view().range(), model().data.whole);
}

void TestTimelinePanel::theWheelZoomsAboutThePointer()
{
    const QPointF at = place(track_of("compute"), 0.25);
    const TimeRange whole = view().range();
    const SimTime pointed = whole.from + whole.length() / 4;
    QWheelEvent wheel(at, canvas().viewport()->mapToGlobal(at), {}, {0, 360}, Qt::NoButton,
                      Qt::ControlModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas().viewport(), &wheel);
    const TimeRange& now = view().range();
    QVERIFY(now.length() < whole.length() / 2);
    const double across = (pointed - now.from) / now.length();
    QVERIFY(std::abs(across - 0.25) < 0.01);
}

void TestTimelinePanel::pinchingZooms()
{
    const QPointF at = place(track_of("compute"), 0.25);
    const TimeRange whole = view().range();
    const auto pinch = [&](double value) {
        QNativeGestureEvent event(Qt::ZoomNativeGesture, QPointingDevice::primaryPointingDevice(),
                                  2, at, at, canvas().viewport()->mapToGlobal(at), value, {});
        QCoreApplication::sendEvent(canvas().viewport(), &event);
    };
    pinch(0.5);
    QVERIFY(std::abs(static_cast<double>(view().range().length().value()) * 1.5 /
                         static_cast<double>(whole.length().value()) -
                     1) < 0.01);
    // What is under the fingers stays there.
    const SimTime pointed = whole.from + whole.length() / 4;
    const SimTime now = view().range().from + view().range().length() / 4;
    QVERIFY(std::abs((now - pointed).value()) < whole.length().value() / 100);
    pinch(-0.5);
    QCOMPARE(view().range(), whole);
}

void TestTimelinePanel::aClickPinsAndLinksLeadOn()
{
    const QSignalSpy pinned(&canvas(), &TimelineCanvas::pinnedChanged);
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(track_of("compute"), 0.5));
    QCOMPARE(pinned.count(), 1);
    const std::uint32_t slice = canvas().pinned();
    QVERIFY(slice != nothing);
    QCOMPARE(view().selection().record.value(), model().data.slices.record[slice]);
    QVERIFY(!canvas().accessibleDescription().isEmpty());
    auto* const details = panel_->findChild<QTextBrowser*>();
    const Relations relations = relations_of(model(), slice);
    QVERIFY(relations.caused_by != nothing);
    const QString link = QStringLiteral("slice:%1").arg(relations.caused_by);
    QVERIFY(details->toHtml().contains(link));
    emit details->anchorClicked(QUrl(link));
    QCOMPARE(canvas().pinned(), relations.caused_by);
    key(Qt::Key_Escape);
    QCOMPARE(canvas().pinned(), nothing);
    QVERIFY(!view().selection().record);
}

void TestTimelinePanel::bracketsGoToTheSameName()
{
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(track_of("compute"), 0.5));
    const std::uint32_t slice = canvas().pinned();
    QTest::keyClick(&canvas(), ']');
    const std::uint32_t next = canvas().pinned();
    QVERIFY(next > slice);
    QCOMPARE(model().data.slices.name[next], model().data.slices.name[slice]);
    QTest::keyClick(&canvas(), '[');
    QCOMPARE(canvas().pinned(), slice);
}

void TestTimelinePanel::arrowKeysReachEverySlice()
{
    key(Qt::Key_Down);
    const std::uint32_t first = canvas().pinned();
    QVERIFY(first != nothing);
    key(Qt::Key_Right);
    QCOMPARE(canvas().pinned(), first + 1);
    key(Qt::Key_Left);
    QCOMPARE(canvas().pinned(), first);
    key(Qt::Key_Down);
    QVERIFY(model().row_at(canvas().pinned()).track > model().row_at(first).track);
    key(Qt::Key_Up);
    QCOMPARE(model().row_at(canvas().pinned()).track, model().row_at(first).track);
}

void TestTimelinePanel::aDragSelectsAndFillsTheTable()
{
    const QPoint from = place(track_of("compute"), 0.2);
    const QPoint to = place(track_of("tp"), 0.4);
    QTest::mousePress(canvas().viewport(), Qt::LeftButton, {}, from);
    QTest::mouseMove(canvas().viewport(), (from + to) / 2);
    QTest::mouseMove(canvas().viewport(), to);
    QTest::mouseRelease(canvas().viewport(), Qt::LeftButton, {}, to);
    QVERIFY(view().selection().range);
    const TimeRange range = *view().selection().range;
    QVERIFY(std::abs(range.length() / model().data.whole.length() - 0.2) < 0.01);
    auto* const table = panel_->findChild<QTableView*>();
    const QAbstractItemModelTester tester(table->model());
    const auto entries = entries_in(model().data, range, canvas().rows_in_sight());
    QTRY_COMPARE(table->model()->rowCount(), static_cast<int>(entries.size()));
    QCOMPARE(panel_->table().rows.size(), entries.size());
    QCOMPARE(panel_->table().rows[0][0].toStdString(), model().data.names[entries[0].name]);
    // The longest of an entry is a step away.
    emit table->activated(table->model()->index(0, 0));
    QCOMPARE(canvas().pinned(), entries[0].example);
    key(Qt::Key_Escape);
    QVERIFY(!view().selection().range);
}

void TestTimelinePanel::aSearchIsSteppedThrough()
{
    QTest::keyClick(&canvas(), '/');
    auto* const search = panel_->findChild<QLineEdit*>();
    QTRY_VERIFY(search->hasFocus());
    QTest::keyClicks(search, "all-gather");
    QTest::keyClick(search, Qt::Key_Return);
    const auto& matches = canvas().matches().slices;
    QVERIFY(matches.size() > 100);
    const std::uint32_t first = canvas().pinned();
    QVERIFY(std::find(matches.begin(), matches.end(), first) != matches.end());
    canvas().setFocus();
    key(Qt::Key_N);
    QVERIFY(canvas().pinned() != first);
    key(Qt::Key_N, Qt::ShiftModifier);
    QCOMPARE(canvas().pinned(), first);
    search->setFocus();
    QTest::keyClicks(search, "zzz");
    QTRY_VERIFY(canvas().matches().slices.empty());
    QTest::keyClick(search, Qt::Key_Escape);
    QVERIFY(search->text().isEmpty());
}

void TestTimelinePanel::measureTakesWhatIsThere()
{
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(track_of("compute"), 0.5));
    key(Qt::Key_M);
    const std::uint32_t slice = canvas().pinned();
    QCOMPARE(canvas().measured().value(),
             (TimeRange{model().data.slices.start[slice], model().data.slices.end[slice]}));
    key(Qt::Key_Escape);
    QVERIFY(!canvas().measured());
    QVERIFY(canvas().pinned() != nothing);
}

void TestTimelinePanel::linesFold()
{
    const std::size_t lines = canvas().tracks().lines().size();
    const std::uint32_t rank = track_of("rank 0");
    QPoint name = place(rank, 0);
    name.setX(20);
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, name);
    QVERIFY(canvas().tracks().lines().size() < lines);
    canvas().closeAll();
    QCOMPARE(canvas().tracks().lines().size(), std::size_t{2}); // two stages
    canvas().openAll();
    QCOMPARE(canvas().tracks().lines().size(), lines);
    key(Qt::Key_F, Qt::ShiftModifier);
    QVERIFY(canvas().tracks().height() <= canvas().viewport()->height());
}

void TestTimelinePanel::returnFoldsTheRankOfAPinnedOperation()
{
    const std::size_t lines = canvas().tracks().lines().size();
    const std::uint32_t compute = track_of("compute");
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(compute, 0.5));
    const std::uint32_t pinned = canvas().pinned();
    QCOMPARE(model().row_at(pinned).track, compute);
    key(Qt::Key_Return);
    QVERIFY(!canvas().tracks().open(model().data.tracks[compute].parent));
    QVERIFY(canvas().tracks().lines().size() < lines);
    QCOMPARE(canvas().pinned(), pinned);
    key(Qt::Key_Return);
    QCOMPARE(canvas().tracks().lines().size(), lines);
}

void TestTimelinePanel::otherViewsSelectToo()
{
    const auto& records = model().runs.front()->graph.records();
    Selection selection;
    selection.record = records.size() / 2;
    while (records[*selection.record].end == records[*selection.record].start)
        ++*selection.record;
    view().select(selection);
    QCOMPARE(std::size_t{model().data.slices.record[canvas().pinned()]}, *selection.record);
    view().select({});
    QCOMPARE(canvas().pinned(), nothing);
}

void TestTimelinePanel::aChangedScenarioKeepsWhatIsPinned()
{
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(track_of("compute"), 0.5));
    const std::uint32_t slice = canvas().pinned();
    const std::string name = model().data.names[model().data.slices.name[slice]];
    const auto before = canvas().model();
    // The same operations, each at another time.
    QVERIFY(!workspace_->document().set("training.sequence_length", "2048"));
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != before, patience_ms);
    QVERIFY(model().data.slices.end[slice] != before->data.slices.end[slice]);
    QVERIFY(canvas().pinned() != nothing);
    QCOMPARE(model().data.names[model().data.slices.name[canvas().pinned()]], name);
    QCOMPARE(view().selection().record.value(), model().data.slices.record[canvas().pinned()]);
    // Another pipeline has other tracks.
    QVERIFY(!workspace_->document().set("strategy.pp", "1"));
    QTRY_VERIFY_WITH_TIMEOUT(model().data.tracks != before->data.tracks, patience_ms);
    QCOMPARE(canvas().pinned(), nothing);
    QVERIFY(!view().selection().record);
}

void TestTimelinePanel::makingItCanBeCancelled()
{
    // As soon as the records are there, their timeline is being made.
    const auto cancelled =
        connect(workspace_.get(), &Workspace::recordedChanged, panel_.get(), [this] {
            QVERIFY(panel_->busy());
            panel_->cancel();
            QVERIFY(!panel_->busy());
        });
    const auto before = workspace_->recorded();
    QVERIFY(!workspace_->document().set("training.sequence_length", "2048"));
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->recorded() != before, patience_ms);
    QTest::qWait(50);
    QVERIFY(canvas().model() == nullptr); // not that of an older run
    disconnect(cancelled);
    workspace_->simulate_again();
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != nullptr, patience_ms);
    QVERIFY(model().runs.front()->outcome == workspace_->recorded()->outcome);
}

void TestTimelinePanel::onlyWhatIsInSightIsMade()
{
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(track_of("compute"), 0.5));
    const auto before = canvas().model();
    const auto recorded = workspace_->recorded();
    panel_->set_in_sight(false);
    QVERIFY(!workspace_->document().set("strategy.pp", "1"));
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->recorded() != recorded, patience_ms);
    QVERIFY(!panel_->busy());
    QVERIFY(!view().selection().record); // it was the earlier run's
    // What another view selects meanwhile is of the new run.
    const std::vector<OpRecord>& records = workspace_->recorded()->outcome->result->records;
    Selection selection;
    selection.record = records.size() / 3;
    while (records[*selection.record].end == records[*selection.record].start)
        ++*selection.record;
    view().select(selection);
    QTest::qWait(50);
    QVERIFY(canvas().model() == before);
    panel_->set_in_sight(true);
    QVERIFY(panel_->busy());
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != before, patience_ms);
    QVERIFY(model().runs.front()->outcome == workspace_->recorded()->outcome);
    QVERIFY(canvas().pinned() != nothing);
    QCOMPARE(std::size_t{model().data.slices.record[canvas().pinned()]}, *selection.record);
    QCOMPARE(view().selection().record, selection.record);
    // The same is not made twice.
    panel_->set_in_sight(false);
    panel_->set_in_sight(true);
    workspace_->pin_baseline();
    QVERIFY(!panel_->busy());
}

void TestTimelinePanel::theBaselineLiesBeside()
{
    QCheckBox* beside = nullptr;
    for (QCheckBox* box : panel_->findChildren<QCheckBox*>())
        if (box->text().contains(QStringLiteral("baseline")))
            beside = box;
    QVERIFY(beside != nullptr && !beside->isEnabled());
    workspace_->pin_baseline();
    QVERIFY(beside->isEnabled());
    beside->setChecked(true);
    QTRY_VERIFY_WITH_TIMEOUT(model().runs.size() == 2, patience_ms);
    QCOMPARE(model().data.tracks[track_of("rank 0", 1)].run, std::uint8_t{1});
    // The same scenario: the same ops at the same times.
    const auto& data = model().data;
    const SliceRow& a = data.rows[data.tracks[track_of("rank 0", 0)].row];
    const SliceRow& b = data.rows[data.tracks[track_of("rank 0", 1)].row];
    QCOMPARE(a.count, b.count);
    QCOMPARE(data.slices.start[a.first], data.slices.start[b.first]);
    // The table keeps them apart: every figure of A is there once more for B.
    const TableData table = panel_->table();
    QCOMPARE(table.columns.last(), QStringLiteral("run"));
    const auto of = [&](const QString& run) {
        QList<QStringList> rows;
        for (const QStringList& row : table.rows)
            if (row.last() == run)
                rows << row.mid(0, row.size() - 1);
        std::sort(rows.begin(), rows.end());
        return rows;
    };
    QVERIFY(!of(QStringLiteral("A")).isEmpty());
    QCOMPARE(of(QStringLiteral("A")), of(QStringLiteral("B")));
    bool told = false;
    for (const QLabel* label : panel_->findChildren<QLabel*>())
        told = told || label->text().contains(QStringLiteral("A: this run, B: the baseline"));
    QVERIFY(told);
}

void TestTimelinePanel::everyPictureHasItsSize()
{
    for (const Theme theme : {Theme::light, Theme::dark}) {
        canvas().setPalette(palette_of(theme));
        for (const QSize size : {QSize(400, 300), QSize(3000, 2000)})
            QVERIFY(test::fills_picture(*panel_, size));
    }
}

void TestTimelinePanel::anEmptyTimelineSaysWhatIsMissing()
{
    Workspace empty;
    TimelinePanel panel(empty);
    panel.resize(800, 600);
    panel.show();
    QVERIFY(panel.canvas().model() == nullptr);
    for (const Qt::Key at : {Qt::Key_W, Qt::Key_F, Qt::Key_M, Qt::Key_Right, Qt::Key_Escape})
        QTest::keyClick(&panel.canvas(), at);
    QTest::mouseClick(panel.canvas().viewport(), Qt::LeftButton, {}, QPoint(300, 100));
    QVERIFY(panel.table().rows.empty());
    QVERIFY(!panel.table().columns.empty());
}

TRAINYARD_WINDOW_TEST(TestTimelinePanel, QApplication)
#include "test_timeline_panel.moc"

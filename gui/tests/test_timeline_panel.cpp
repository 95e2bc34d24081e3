// The timeline as people use it: keyboard and mouse, without a display.

#include "gui/tests/painted_picture.h"
#include "gui/tests/timeline_fixture.h"
#include "gui/timeline/slice_facts.h"
#include "gui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QNativeGestureEvent>
#include <QPointingDevice>
#include <QSignalSpy>
#include <QTableView>
#include <QTextBrowser>
#include <QWheelEvent>

using namespace trainyard;
using namespace trainyard::gui;

class TestTimelinePanel : public test::TimelineFixture {
    Q_OBJECT

private slots:
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
    void everyPictureHasItsSize();
    void anEmptyTimelineSaysWhatIsMissing();
    void aPointerMayLeaveAnEmptyTimeline();
};

// As when a layout is restored below the pointer.
void TestTimelinePanel::aPointerMayLeaveAnEmptyTimeline()
{
    ViewState none;
    TimelineCanvas empty(none);
    empty.resize(400, 300);
    QEvent leave(QEvent::Leave);
    QCoreApplication::sendEvent(empty.viewport(), &leave);
    QTest::mouseMove(empty.viewport(), QPoint(50, 50));
    QCoreApplication::sendEvent(empty.viewport(), &leave);
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

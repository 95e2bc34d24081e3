// The timeline's overview, counters, menus and choice of ranks, by keyboard and mouse.

#include "gui/tests/timeline_fixture.h"
#include "gui/timeline/counter_feed.h"
#include "gui/timeline/overview_strip.h"
#include "gui/timeline/record_menu.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>

using namespace trainyard;
using namespace trainyard::gui;

class TestTimelineTools : public test::TimelineFixture {
    Q_OBJECT

private slots:
    void theOverviewMovesAndResizesWhatIsInSight();
    void theOverviewsKeysMove();
    void whatOnlyScrollsIsTheSameToThePixel();
    void manyLanesStartFolded();
    void lanesArePinnedHiddenAndOrderedByKeys();
    void pinnedLanesStayWhileOthersScroll();
    void aLanesMenuDoesTheSame();
    void anOperationsMenuLeadsOn();
    void aSearchSaysWhichOfHowMany();
    void countersFollowTimeAndRank();
    void zoomingWhileLinksAreCountedBeginsThemNotAnew();
    void countersAreShownOrNot();
    void ranksToRecordAreAChoice();

private:
    // The menu that a right click there opens.
    QMenu* menu_at(const QPoint& at);
    static QAction* action_of(QMenu& menu, const QString& text);
};

QMenu* TestTimelineTools::menu_at(const QPoint& at)
{
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, canvas().viewport()->mapToGlobal(at));
    QCoreApplication::sendEvent(canvas().viewport(), &event);
    const auto menus = canvas().findChildren<QMenu*>();
    return menus.isEmpty() ? nullptr : menus.last();
}

QAction* TestTimelineTools::action_of(QMenu& menu, const QString& text)
{
    for (QAction* const action : menu.actions())
        if (action->text().contains(text))
            return action;
    return nullptr;
}

void TestTimelineTools::theOverviewMovesAndResizesWhatIsInSight()
{
    OverviewStrip& strip = panel_->overview();
    QCOMPARE(static_cast<int>(strip.band().left), canvas().body().left());
    const TimeRange whole = view().whole();
    view().show({whole.from, whole.from + whole.length() / 10});
    const auto at = [&](double share) {
        return QPoint(static_cast<int>(strip.band().left + strip.band().width * share),
                      strip.height() / 2);
    };
    const auto share = [&](SimTime time) { return (time - whole.from) / whole.length(); };
    // A click goes there.
    QTest::mouseClick(&strip, Qt::LeftButton, {}, at(0.5));
    QVERIFY(std::abs(share(view().range().from) - 0.45) < 0.01);
    QVERIFY(std::abs(share(view().range().to) - 0.55) < 0.01);
    // The window is dragged by its middle ...
    QTest::mousePress(&strip, Qt::LeftButton, {}, at(0.5));
    QTest::mouseMove(&strip, at(0.7));
    QTest::mouseRelease(&strip, Qt::LeftButton, {}, at(0.7));
    QVERIFY(std::abs(share(view().range().from) - 0.65) < 0.01);
    // ... and resized by its ends.
    QTest::mousePress(&strip, Qt::LeftButton, {}, at(share(view().range().to)));
    QTest::mouseMove(&strip, at(0.9));
    QTest::mouseRelease(&strip, Qt::LeftButton, {}, at(0.9));
    QVERIFY(std::abs(share(view().range().from) - 0.65) < 0.01);
    QVERIFY(std::abs(share(view().range().to) - 0.9) < 0.01);
    QTest::mouseDClick(&strip, Qt::LeftButton, {}, at(0.2));
    QCOMPARE(view().range(), whole);
}

void TestTimelineTools::theOverviewsKeysMove()
{
    OverviewStrip& strip = panel_->overview();
    const TimeRange whole = view().whole();
    strip.setFocus();
    QTest::keyClick(&strip, Qt::Key_Up);
    QVERIFY(view().range().length() < whole.length());
    QTest::keyClick(&strip, Qt::Key_End);
    QCOMPARE(view().range().to, whole.to);
    const TimeRange end = view().range();
    QTest::keyClick(&strip, Qt::Key_Left);
    QVERIFY(view().range().from < end.from);
    QTest::keyClick(&strip, Qt::Key_Home);
    QCOMPARE(view().range().from, whole.from);
}

// Rows are kept from one repaint to the next: only new ones are asked for.
void TestTimelineTools::whatOnlyScrollsIsTheSameToThePixel()
{
    TrackLayout layout(model().data);
    layout.set_all_open(TrackKind::rank, true);
    Scene scene;
    scene.model = &model();
    scene.layout = &layout;
    scene.range = model().data.whole;
    scene.range.to = scene.range.from + scene.range.length() / 3;
    const QSize size(640, 160); // fewer lines than there are
    const auto paint = [&](PaintCache& cache) {
        QImage image(size, QImage::Format_RGB32);
        image.fill(Qt::magenta);
        QPainter painter(&image);
        paint_scene(painter, scene, size, cache);
        return image;
    };
    PaintCache kept;
    paint(kept);
    const std::size_t first = kept.rows.filled();
    QVERIFY(first > 0 && first < layout.lines().size());
    paint(kept); // a cursor moved, say
    QCOMPARE(kept.rows.filled(), first);
    scene.scroll = 2 * layout.line_height() + 3;
    const QImage scrolled = paint(kept);
    QVERIFY(kept.rows.filled() > first && kept.rows.filled() <= first + 3);
    PaintCache fresh;
    QVERIFY(scrolled == paint(fresh));
    scene.range.to = scene.range.from + scene.range.length() / 2;
    PaintCache other;
    QVERIFY(paint(kept) == paint(other));
}

void TestTimelineTools::manyLanesStartFolded()
{
    TimelinePanel fresh(*workspace_);
    QTRY_VERIFY_WITH_TIMEOUT(fresh.canvas().model() != nullptr, patience_ms);
    for (const Line& line : fresh.canvas().tracks().lines())
        QVERIFY(fresh.canvas().model()->data.tracks[line.track].kind != TrackKind::stream);
}

void TestTimelineTools::lanesArePinnedHiddenAndOrderedByKeys()
{
    const std::uint32_t lane = track_of("compute", 1);
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(lane, 0.5));
    QCOMPARE(canvas().current_track(), lane);
    key(Qt::Key_T);
    QCOMPARE(canvas().tracks().lines().front().track, lane);
    key(Qt::Key_T);
    QVERIFY(canvas().tracks().lines().front().track != lane);
    const std::size_t lines = canvas().tracks().lines().size();
    key(Qt::Key_H);
    QCOMPARE(canvas().tracks().lines().size(), lines - 1);
    key(Qt::Key_H, Qt::ShiftModifier);
    QCOMPARE(canvas().tracks().lines().size(), lines);
    // Another order keeps the operation that is pinned.
    const std::string name = model().data.names[model().data.slices.name[canvas().pinned()]];
    const RankId rank = model().data.tracks[lane].rank;
    const SimTime start = model().data.slices.start[canvas().pinned()];
    const auto before = canvas().model();
    key(Qt::Key_O);
    key(Qt::Key_O);
    QCOMPARE(canvas().order(), LaneOrder::idle);
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != before && !panel_->busy(), patience_ms);
    const std::uint32_t pinned = canvas().pinned();
    QVERIFY(pinned != nothing);
    QCOMPARE(model().data.names[model().data.slices.name[pinned]], name);
    QCOMPARE(model().data.tracks[model().row_at(pinned).track].rank, rank);
    QCOMPARE(model().data.slices.start[pinned], start);
}

void TestTimelineTools::pinnedLanesStayWhileOthersScroll()
{
    canvas().openAll();
    for (int i = 0; i < 30; ++i)
        key(Qt::Key_Plus); // lines as high as can be: there is more than fits
    QVERIFY(canvas().verticalScrollBar()->maximum() > 0);
    const std::uint32_t lane = track_of("compute", 1);
    const QRect body = canvas().body();
    const QPoint top(body.center().x(), body.top() + 3);
    canvas().go_to(model().data.rows[model().data.tracks[lane].row].first); // scrolls there
    view().show_all();
    key(Qt::Key_T);
    const auto pinned_at_top = [&] {
        QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, top);
        return canvas().pinned() != nothing && model().row_at(canvas().pinned()).track == lane;
    };
    for (const int scroll : {0, 100, canvas().verticalScrollBar()->maximum()}) {
        canvas().verticalScrollBar()->setValue(scroll);
        QVERIFY(pinned_at_top());
    }
    // It is painted there, too: as when nothing is scrolled.
    Scene scene;
    scene.model = &model();
    scene.layout = &canvas().tracks();
    scene.range = model().data.whole;
    scene.arrows = false;
    const QSize size(600, 400);
    const auto paint = [&] {
        QImage image(size, QImage::Format_RGB32);
        QPainter painter(&image);
        PaintCache cache;
        paint_scene(painter, scene, size, cache);
        return image;
    };
    const SceneFrame frame = frame_of(scene, size);
    const int held = held_bottom(scene, frame);
    QCOMPARE(held, frame.body.top() + canvas().tracks().line_height());
    const QRect above(0, frame.body.top(), size.width(), held - frame.body.top());
    const QImage before = paint();
    scene.scroll = 3 * canvas().tracks().line_height() + 7;
    const QImage after = paint();
    QVERIFY(before != after);
    QVERIFY(before.copy(above) == after.copy(above));
}

void TestTimelineTools::aLanesMenuDoesTheSame()
{
    const std::uint32_t lane = track_of("rank 0");
    QPoint name = place(lane, 0);
    name.setX(20);
    const std::size_t lines = canvas().tracks().lines().size();
    QMenu* menu = menu_at(name);
    QVERIFY(menu != nullptr);
    QCOMPARE(canvas().tracks().lines().size(), lines); // a right click folds nothing
    action_of(*menu, QStringLiteral("Hide rank 0"))->trigger();
    QVERIFY(canvas().tracks().lines().size() < lines);
    menu->close();
    name = place(track_of("rank 0", 0) == nothing ? 0 : canvas().tracks().lines()[1].track, 0);
    name.setX(20);
    menu = menu_at(name);
    QVERIFY(menu != nullptr);
    QAction* const show = action_of(*menu, QStringLiteral("Show what is hidden (1)"));
    QVERIFY(show != nullptr && show->isEnabled());
    show->trigger();
    QCOMPARE(canvas().tracks().lines().size(), lines);
    const auto before = canvas().model();
    action_of(*menu, QStringLiteral("by rank"))->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != before, patience_ms);
    QCOMPARE(canvas().order(), LaneOrder::rank);
}

void TestTimelineTools::anOperationsMenuLeadsOn()
{
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, place(track_of("compute"), 0.5));
    const std::uint32_t slice = canvas().pinned();
    const Relations relations = relations_of(model(), slice);
    QVERIFY(relations.caused_by != nothing);
    // By the keyboard: of what is pinned.
    QContextMenuEvent by_key(QContextMenuEvent::Keyboard, {}, {});
    QCoreApplication::sendEvent(canvas().viewport(), &by_key);
    QMenu* const menu = canvas().findChild<QMenu*>();
    QVERIFY(menu != nullptr);
    action_of(*menu, QStringLiteral("Copy"))->trigger();
    const QString copied = QGuiApplication::clipboard()->text();
    QVERIFY(copied.contains(QStringLiteral("takes\t")));
    action_of(*menu, QStringLiteral("Find all"))->trigger();
    QVERIFY(canvas().matches().slices.size() > 1);
    action_of(*menu, QStringLiteral("waited for"))->trigger();
    QCOMPARE(canvas().pinned(), relations.caused_by);
    action_of(*menu, QStringLiteral("critical path"))->trigger();
    const RecordIndex record = model().data.slices.record[canvas().pinned()];
    QVERIFY(std::ranges::any_of(model().path,
                                [&](const PathPiece& piece) { return piece.record == record; }));
}

void TestTimelineTools::aSearchSaysWhichOfHowMany()
{
    auto* const search = panel_->findChild<QLineEdit*>();
    const auto said = [&](const QString& text) {
        for (const QLabel* label : panel_->findChildren<QLabel*>())
            if (label->text() == text)
                return true;
        return false;
    };
    QTest::keyClick(&canvas(), '/');
    QTest::keyClicks(search, "all-gather");
    QTest::keyClick(search, Qt::Key_Return);
    const std::size_t count = canvas().matches().slices.size();
    QVERIFY(said(QStringLiteral("%L1 of %L2").arg(1).arg(count)));
    canvas().setFocus();
    key(Qt::Key_N);
    key(Qt::Key_N);
    QVERIFY(said(QStringLiteral("%L1 of %L2").arg(3).arg(count)));
    key(Qt::Key_Escape);
    QVERIFY(said(QStringLiteral("%L1 found").arg(count)));
}

void TestTimelineTools::countersFollowTimeAndRank()
{
    QTRY_VERIFY_WITH_TIMEOUT(canvas().counters().size() >= 3 && !panel_->counters().busy(),
                             patience_ms);
    QCOMPARE(canvas().counters()[0].range, view().range());
    // A rank of each stage.
    for (const std::uint32_t rank : {0U, 4U}) {
        Selection selection;
        selection.rank = RankId{rank};
        view().select(selection);
        QTRY_COMPARE_WITH_TIMEOUT(canvas().counters()[0].name,
                                  "memory, rank " + std::to_string(rank), patience_ms);
    }
    const TimeRange whole = view().whole();
    view().show({whole.from, whole.from + whole.length() / 4});
    QTRY_VERIFY_WITH_TIMEOUT(canvas().counters()[0].range == view().range(), patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->counters().busy(), patience_ms);
    QCOMPARE(panel_->counters().link_sums_made(), 1);
    // A press on them sets the cursor there.
    const QRect body = canvas().body();
    const QPoint below(body.center().x(), body.bottom() + 12);
    QTest::mouseClick(canvas().viewport(), Qt::LeftButton, {}, below);
    QVERIFY(std::abs((view().cursor() - whole.from) / whole.length() - 0.125) < 0.01);
}

void TestTimelineTools::zoomingWhileLinksAreCountedBeginsThemNotAnew()
{
    ViewState view;
    const TimeRange whole = model().data.whole;
    view.set_whole(whole);
    CounterFeed feed(view);
    std::vector<CounterSeries> counted;
    connect(&feed, &CounterFeed::counted, &feed,
            [&](const std::vector<CounterSeries>& series) { counted = series; });
    feed.set_model(canvas().model());
    const auto has_links = [&] {
        return std::ranges::any_of(counted, [](const CounterSeries& row) {
            return row.kind == CounterKind::nvlink && !row.values.empty();
        });
    };
    // Further and further in, faster than anything is counted.
    int zooms = 0;
    while (!has_links()) {
        const std::int64_t part = 2 + zooms++ % 50;
        view.show({whole.from, whole.from + whole.length() / part});
        QTest::qWait(1);
        QVERIFY(zooms < 100'000);
    }
    QTRY_VERIFY_WITH_TIMEOUT(!feed.busy(), patience_ms);
    QCOMPARE(feed.link_sums_made(), 1);
    QVERIFY(has_links());
    QCOMPARE(counted.front().range, view.range());
}

void TestTimelineTools::countersAreShownOrNot()
{
    QTRY_VERIFY_WITH_TIMEOUT(canvas().counters().size() >= 3 && !panel_->counters().busy(),
                             patience_ms);
    const std::size_t all = canvas().counters().size();
    const int height = canvas().body().height();
    panel_->counters().show(CounterKind::memory, false);
    QTRY_COMPARE_WITH_TIMEOUT(canvas().counters().size(), all - 1, patience_ms);
    QVERIFY(canvas().body().height() > height);
    for (const CounterKind kind : counter_kinds)
        panel_->counters().show(kind, false);
    QTRY_VERIFY_WITH_TIMEOUT(canvas().counters().empty(), patience_ms);
}

void TestTimelineTools::ranksToRecordAreAChoice()
{
    auto* const menu = panel_->findChild<RecordMenu*>();
    const auto ranks = [&] {
        std::set<std::uint32_t> shown;
        for (const Track& track : model().data.tracks)
            if (track.kind == TrackKind::rank)
                shown.insert(track.rank.value);
        return shown;
    };
    const int world = workspace_->run()->outcome->job.world();
    QVERIFY(menu->text().contains(QStringLiteral("of %1 ranks").arg(world)));
    auto* const typed = menu->menu()->findChild<QLineEdit*>();
    QVERIFY(typed != nullptr);
    typed->setText(QStringLiteral("1-"));
    QTest::keyClick(typed, Qt::Key_Return);
    QVERIFY(!typed->toolTip().isEmpty()); // says what is wrong, and records as before
    QVERIFY(workspace_->lanes() == LaneChoice{});
    const auto before = canvas().model();
    typed->setText(QStringLiteral("0"));
    QTest::keyClick(typed, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != before && !panel_->busy(), patience_ms);
    QCOMPARE(ranks(), (std::set<std::uint32_t>{0}));
    QCOMPARE(menu->text(), QStringLiteral("1 of %1 ranks recorded").arg(world));
    // A change of the scenario keeps the choice.
    const auto chosen = canvas().model();
    QVERIFY(!workspace_->document().set("training.sequence_length", "2048"));
    QTRY_VERIFY_WITH_TIMEOUT(canvas().model() != chosen && !workspace_->live().busy(), patience_ms);
    QCOMPARE(ranks(), (std::set<std::uint32_t>{0}));
}

TRAINYARD_WINDOW_TEST(TestTimelineTools, QApplication)
#include "test_timeline_tools.moc"

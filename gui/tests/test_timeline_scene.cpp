// What the timeline's picture has room for, and what its legend names.

#include "gui/tests/timeline_fixture.h"
#include "gui/timeline/counter_feed.h"
#include "gui/timeline/scene.h"

#include <QFontMetrics>
#include <QImage>
#include <QPainter>
#include <algorithm>
#include <array>

using namespace trainyard;
using namespace trainyard::gui;

class TestTimelineScene : public test::TimelineFixture {
    Q_OBJECT

private slots:
    void withLittleRoomCountersHaveALineEach();
    void theCriticalPathLeavesLinesInSight();
    void stretchesOfNoKindAreInTheLegend();

private:
    // How often the legend of a model says that.
    std::ptrdiff_t in_legend(const TimelineModel& model, LegendEntry::Sign sign)
    {
        Scene scene;
        scene.model = &model;
        scene.font = canvas().font();
        scene.path = true;
        return std::ranges::count(legend_of(scene, 900), sign, &LegendEntry::sign);
    }
};

void TestTimelineScene::withLittleRoomCountersHaveALineEach()
{
    QTRY_VERIFY_WITH_TIMEOUT(canvas().counters().size() >= 3 && !panel_->counters().busy(),
                             patience_ms);
    Scene scene;
    scene.model = &model();
    scene.layout = &canvas().tracks();
    scene.font = canvas().font();
    scene.counters = &canvas().counters();
    const auto rows = static_cast<int>(canvas().counters().size());
    const int line = QFontMetrics(scene.font).height();
    const SceneFrame roomy = frame_of(scene, {900, 60 * line});
    QCOMPARE(roomy.counters.height(), rows * roomy.counter);
    QVERIFY(roomy.counter > 2 * line);
    const SceneFrame low = frame_of(scene, {900, (6 + 3 * rows) * line});
    QCOMPARE(low.counters.height(), rows * low.counter);
    QVERIFY(low.counter < 2 * line);
}

void TestTimelineScene::theCriticalPathLeavesLinesInSight()
{
    // From rank to rank at every moment, as where ranks take turns to be the last.
    TimelineModel jumping(std::vector{workspace_->recorded()->outcome});
    const std::vector<OpRecord>& records = jumping.runs.front()->graph.records();
    const auto last_op = static_cast<RecordIndex>(records.size() - 1);
    const auto other = std::ranges::find_if(
        records, [&](const OpRecord& record) { return record.lane != records.back().lane; });
    const std::array turns{last_op, static_cast<RecordIndex>(other - records.begin())};
    const TimeRange whole = jumping.data.whole;
    constexpr std::int64_t pieces = 4000;
    jumping.path.clear();
    for (std::int64_t i = 0; i < pieces; ++i)
        jumping.path.push_back({turns[static_cast<std::size_t>(i % 2)],
                                whole.from + SimTime(whole.length().value() / pieces * i),
                                whole.from + SimTime(whole.length().value() / pieces * (i + 1))});
    const TrackLayout layout(jumping.data);
    Scene scene;
    scene.model = &jumping;
    scene.layout = &layout;
    scene.font = canvas().font();
    scene.range = whole;
    const QSize size(1000, 800);
    const auto picture = [&](bool path) {
        scene.path = path;
        QImage image(size, QImage::Format_RGB32);
        QPainter painter(&image);
        PaintCache cache;
        paint_scene(painter, scene, size, cache);
        return image;
    };
    const QImage without = picture(false);
    const QImage with = picture(true);
    QCOMPARE(in_legend(jumping, LegendEntry::Sign::path), 1);
    const QRect body = frame_of(scene, size).body;
    int covered = 0;
    for (int y = body.top(); y <= body.bottom(); ++y)
        for (int x = body.left(); x <= body.right(); ++x)
            covered += with.pixel(x, y) != without.pixel(x, y) ? 1 : 0;
    QVERIFY(covered > body.width());
    QVERIFY(covered < body.width() * body.height() / 8);
}

void TestTimelineScene::stretchesOfNoKindAreInTheLegend()
{
    QVERIFY(!model().blank); // a simulated rank always does something
    QCOMPARE(in_legend(model(), LegendEntry::Sign::blank), 0);
    TimelineData data = model().data;
    const auto rank = std::ranges::find(data.tracks, TrackKind::rank, &Track::kind);
    data.slices.end[data.rows[rank->row].first] -= SimTime(1);
    const TimelineModel cut(std::move(data));
    QCOMPARE(in_legend(cut, LegendEntry::Sign::blank), 1);
}

TRAINYARD_WINDOW_TEST(TestTimelineScene, QApplication)
#include "test_timeline_scene.moc"

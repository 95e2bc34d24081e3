// The pictures of a sweep beside each other: parallel coordinates, colours, importance, and where
// the open scenario stands, by keyboard and mouse.

#include "gui/tests/clicks.h"
#include "gui/tests/explore_fixture.h"
#include "gui/tests/found_points.h"
#include "gui/tests/painted_picture.h"
#include "gui/widgets/theme.h"

#include <QComboBox>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTabWidget>
#include <QToolButton>
#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;

class TestExplorePictures : public test::ExploreFixture {
    Q_OBJECT

private slots:
    void aBrushOnAnAxisMarksPointsEverywhere();
    void keysBrushMoveAndOpen();
    void axesAreChosenMovedAndTurned();
    void aLineIsPickedByTheMouse();
    void oneColourIsThatOfAllPictures();
    void aBarLeadsToItsAxis();
    void theOpenScenarioIsMarkedEverywhere();
    void manyLinesArePaintedInSlices();
    void everyPictureIsExported();
    void aSessionKeepsThePictures();
    void linesOfAPictureHaveNoGaps();
    void whatDoesNotFitStandsAtTheMemoryItNeeds();
    void theOpenScenariosNameIsWhole();
    void theFrontGoesThroughTheOpenScenario();
    void arrowsPointToWhereItIsBetter();

private:
    void small_sweep()
    {
        choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.cp", {"1", "2", "4"}}});
        sweep();
    }
    ParallelPanel& parallel() { return panel_->parallel(); }
    ParallelCanvas& canvas() { return parallel().canvas(); }
    std::size_t axis(const char* key)
    {
        const std::vector<QString> keys = parallel().model().keys();
        return static_cast<std::size_t>(
            std::find(keys.begin(), keys.end(), QString::fromLatin1(key)) - keys.begin());
    }
    void front(Panel& part)
    {
        panel_->show_part(part.key());
        QVERIFY(part.isVisible());
    }
    std::vector<std::uint32_t> feasible_with(const std::string& field_value)
    {
        std::vector<std::uint32_t> out;
        for (std::uint32_t point = 0; point < panel_->store().size(); ++point)
            if (panel_->store().feasible(point) &&
                panel_->store().value_name(point, 0) == field_value)
                out.push_back(point);
        return out;
    }
    // First axis of the grid, by name.
    std::string first_field() { return panel_->store().grid().axes.front().field; }
};

void TestExplorePictures::aBrushOnAnAxisMarksPointsEverywhere()
{
    small_sweep();
    front(parallel());
    const ParallelFrame frame = canvas().frame();
    const std::size_t at = axis(first_field().c_str());
    // A click on a value of the field.
    const std::uint32_t some = first_point();
    const std::string value = panel_->store().value_name(some, 0);
    const double place =
        parallel().model().axes()[at].place(static_cast<double>(panel_->store().value(some, 0)));
    const QPoint there(frame.x[at], static_cast<int>(frame.row_of(place)));
    QTest::mouseClick(&canvas(), Qt::LeftButton, {}, there);
    QCOMPARE(panel_->marks().points(), feasible_with(value));
    QVERIFY(!panel_->marks().points().empty());
    const QModelIndex row =
        table().model()->index(*rows().row_of(panel_->marks().points().front()), 0);
    QVERIFY(row.data(Qt::BackgroundRole).isValid());         // the table shows the same
    QTest::mouseClick(&canvas(), Qt::LeftButton, {}, there); // and lets go of it
    QVERIFY(panel_->marks().points().empty());
    // A drag along a figure's axis: the upper half.
    const std::size_t mfu = axis("mfu");
    const QPoint top(frame.x[mfu], frame.lines.top());
    const QPoint middle(frame.x[mfu], frame.lines.center().y());
    QTest::mousePress(&canvas(), Qt::LeftButton, {}, top);
    QMouseEvent move(QEvent::MouseMove, middle, canvas().mapToGlobal(middle), Qt::NoButton,
                     Qt::LeftButton, {});
    QApplication::sendEvent(&canvas(), &move);
    QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, middle);
    QVERIFY(!panel_->marks().points().empty());
    for (std::uint32_t point = 0; point < panel_->store().size(); ++point)
        if (panel_->store().feasible(point))
            QCOMPARE(panel_->marks().marked(point),
                     parallel().model().place(mfu, point) >= frame.place_at(middle.y()) - 1e-6);
    // What is marked elsewhere takes the brush away.
    panel_->marks().mark({first_point()});
    QVERIFY(!parallel().model().brushed());
}

void TestExplorePictures::keysBrushMoveAndOpen()
{
    small_sweep();
    front(parallel());
    canvas().setFocus();
    QTest::keyClick(&canvas(), Qt::Key_Right); // the first axis
    QTest::keyClick(&canvas(), Qt::Key_Up);
    QVERIFY(panel_->marks().current().has_value());
    const std::uint32_t point = *panel_->marks().current();
    QCOMPARE(table().currentIndex().row(), *rows().row_of(point));
    QVERIFY(!canvas().accessibleDescription().isEmpty());
    QTest::keyClick(&canvas(), Qt::Key_Space);
    QCOMPARE(panel_->marks().points(), feasible_with(panel_->store().value_name(point, 0)));
    QTest::keyClick(&canvas(), Qt::Key_Delete);
    QVERIFY(panel_->marks().points().empty());
    const std::vector<QString> before = parallel().model().keys();
    QTest::keyClick(&canvas(), Qt::Key_Right, Qt::ControlModifier);
    QCOMPARE(parallel().model().keys()[1], before[0]);
    QTest::keyClick(&canvas(), Qt::Key_I);
    QVERIFY(parallel().model().axes()[1].flipped);
    QTest::keyClick(&canvas(), Qt::Key_P);
    QCOMPARE(panel_->compare().pins().size(), std::size_t{1});
    const int steps = workspace_->document().undo_stack().count();
    QTest::keyClick(&canvas(), Qt::Key_Return);
    QCOMPARE(workspace_->document().undo_stack().count(), steps + 1);
    QTest::keyClick(&canvas(), Qt::Key_Escape);
    QVERIFY(!panel_->marks().any());
}

void TestExplorePictures::axesAreChosenMovedAndTurned()
{
    small_sweep();
    front(parallel());
    QVERIFY(axis("exposed") == parallel().model().keys().size()); // not at first
    auto* const axes = parallel().findChild<QToolButton*>();
    for (QAction* const action : axes->menu()->actions())
        if (action->text().startsWith(QStringLiteral("Exposed")))
            action->trigger();
    QVERIFY(axis("exposed") < parallel().model().keys().size());
    // By its name, from one place to another.
    const ParallelFrame frame = canvas().frame();
    const std::vector<QString> before = parallel().model().keys();
    const QPoint from(frame.x[1], frame.lines.top() - 12);
    const QPoint to(frame.x[3], frame.lines.top() - 12);
    QTest::mousePress(&canvas(), Qt::LeftButton, {}, from);
    QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, to);
    QCOMPARE(parallel().model().keys()[3], before[1]);
    QTest::mouseDClick(&canvas(), Qt::LeftButton, {}, to);
    QVERIFY(parallel().model().axes()[3].flipped);
    for (QAction* const action : axes->menu()->actions())
        if (action->text() == QStringLiteral("As usual"))
            action->trigger();
    QVERIFY(parallel().model().choice() == ParallelChoice{});
}

void TestExplorePictures::aLineIsPickedByTheMouse()
{
    small_sweep();
    front(parallel());
    const std::uint32_t point = first_point();
    const std::size_t last = parallel().model().axes().size() - 1;
    // Between two axes, near the right one.
    const QPointF a = parallel().place_of(last - 1, point);
    const QPointF b = parallel().place_of(last, point);
    const QPointF at = b + 0.25 * (a - b);
    QTest::mouseClick(&canvas(), Qt::LeftButton, {}, at.toPoint());
    QVERIFY(panel_->marks().current().has_value());
    QTest::mouseDClick(&canvas(), Qt::LeftButton, {}, at.toPoint());
    const std::uint32_t picked = *panel_->marks().current();
    QCOMPARE(to_text(*workspace_->document().find(first_field())),
             panel_->store().value_name(picked, 0));
}

void TestExplorePictures::oneColourIsThatOfAllPictures()
{
    small_sweep();
    front(parallel());
    auto* const colour = parallel().findChild<QComboBox*>();
    test::Clicks clicks;
    QVERIFY(clicks.choose(colour, QStringLiteral("MFU")));
    QCOMPARE(panel_->scatter().choice().colour, QStringLiteral("mfu"));
    QVERIFY(parallel().scene().colours.scaled());
    front(panel_->scatter());
    for (QComboBox* const box : panel_->scatter().findChildren<QComboBox*>())
        if (box->accessibleName() == QStringLiteral("what colours the points"))
            QVERIFY(clicks.choose(box, QStringLiteral("cp")));
    QVERIFY(!parallel().scene().colours.scaled());
    QCOMPARE(parallel().scene().colours.metric()->key, QStringLiteral("strategy.cp"));
    QCOMPARE(colour->currentText(), QStringLiteral("cp"));
}

void TestExplorePictures::aBarLeadsToItsAxis()
{
    small_sweep();
    front(panel_->importance());
    QTRY_VERIFY_WITH_TIMEOUT(panel_->importance().importance() != nullptr, patience_ms);
    const Importance& found = *panel_->importance().importance();
    QCOMPARE(found.metric.key, QStringLiteral("step_time"));
    QCOMPARE(found.effects.points, panel_->store().feasible_count());
    QVERIFY(found.bars[0].share >= found.bars[1].share);
    const QString key = found.bars[1].key;
    QTest::mouseClick(&panel_->importance().picture(), Qt::LeftButton, {},
                      panel_->importance().place_of(1).center());
    QVERIFY(panel_->scatter().isVisible());
    QCOMPARE(panel_->scatter().choice().x, key);
    // The same by keys.
    front(panel_->importance());
    panel_->importance().picture().setFocus();
    QTest::keyClick(&panel_->importance().picture(), Qt::Key_Up);
    QTest::keyClick(&panel_->importance().picture(), Qt::Key_Return);
    QCOMPARE(panel_->scatter().choice().x, panel_->importance().importance()->bars[0].key);
    QVERIFY(panel_->scatter().isVisible());
}

void TestExplorePictures::theOpenScenarioIsMarkedEverywhere()
{
    QVERIFY(!workspace_->document().set("training.micro_batch", "4"));
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    choose({{"training.micro_batch", {"1", "2", "4"}}, {"strategy.cp", {"1", "2", "4"}}});
    sweep();
    QTRY_VERIFY_WITH_TIMEOUT(panel_->here().has_value(), patience_ms);
    // It is a point of the grid: its row says so.
    QVERIFY(*panel_->here() < panel_->store().size());
    const int row = *rows().row_of(*panel_->here());
    QVERIFY(rows().index(row, 0).data().toString().startsWith(QStringLiteral("◆")));
    QCOMPARE(rows().rowCount(), static_cast<int>(panel_->store().size()));
    // Beside the grid it has a row and a line of its own, with the figures of its run.
    QVERIFY(!workspace_->document().set("training.micro_batch", "8"));
    QVERIFY(panel_->here() == PointStore::guest);
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    QCOMPARE(rows().rowCount(), static_cast<int>(panel_->store().size()) + 1);
    const int guest = *rows().row_of(PointStore::guest);
    QCOMPARE(rows().index(guest, 0).data().toString(), QStringLiteral("◆ 1"));
    QCOMPARE(rows().index(guest, 1).data().toString(), QStringLiteral("8"));
    const TableData told = rows().table();
    QCOMPARE(told.rows[static_cast<std::size_t>(guest)].back(), QStringLiteral("yes"));
    if (workspace_->run()->outcome != nullptr)
        QCOMPARE(panel_->store().figure(PointStore::guest, "step_time_s"),
                 workspace_->run()->summary.step_time.value.value());
    QVERIFY(parallel().scene().here == PointStore::guest);
    QVERIFY(parallel().model().place(axis("training.micro_batch"), PointStore::guest) > 0.9F);
    // Its row can be picked like others, and is no point that could be opened.
    table().setFocus();
    table().selectRow(guest);
    QVERIFY(panel_->marks().current() == PointStore::guest);
    QTest::keyClick(&table(), Qt::Key_Return);
    QTest::keyClick(&table(), Qt::Key_P);
    QVERIFY(panel_->compare().pins().empty());
    for (const Qt::Key key : {Qt::Key_Left, Qt::Key_BracketRight, Qt::Key_F})
        QTest::keyClick(&chart(), key);
    rows().sort(1, Qt::DescendingOrder);
    QCOMPARE(*rows().row_of(PointStore::guest), 0); // 8 is the most
    workspace_->document().undo_stack().undo();
    QVERIFY(*panel_->here() < panel_->store().size());
    QCOMPARE(rows().rowCount(), static_cast<int>(panel_->store().size()));
}

namespace {

// A scatter of some points, without a panel.
struct LoneScatter {
    LoneScatter()
    {
        store.reset(test::some_grid());
        store.add(test::some_points(store.grid()));
        chart.resize(800, 600);
        show("memory", "step_time");
    }
    void show(const char* x, const char* y)
    {
        ScatterAxes axes;
        axes.x = metric(x);
        axes.y = metric(y);
        chart.set_axes(axes);
        chart.replot();
    }
    Metric metric(const char* key) const
    {
        return *find_metric(metrics_of(store.grid(), WorkUnit::tokens, {}),
                            QString::fromLatin1(key));
    }
    // As good as none, on both axes.
    void open(double step_time, double memory)
    {
        Guest guest;
        guest.figures.assign(kept_figures().size(), no_number);
        const auto set = [&](const char* key, double value) {
            guest.figures[metric(key).column] = value;
        };
        set("step_time", step_time);
        set("memory", memory);
        guest.places.assign(store.grid().axes.size(), 0);
        guest.names.assign(store.grid().axes.size(), "1");
        store.set_guest(guest);
        chart.set_here(PointStore::guest);
        chart.replot();
    }

    PointStore store;
    Marks marks;
    ScatterChart chart{store, marks};
};

} // namespace

void TestExplorePictures::whatDoesNotFitStandsAtTheMemoryItNeeds()
{
    LoneScatter scatter;
    const QCPAxis& axis = *scatter.chart.xAxis;
    int seen = 0;
    const auto check = [&](auto&& at) {
        for (std::uint32_t point = 0; point < scatter.store.size(); ++point)
            if (scatter.store.kinds()[scatter.store.kind(point)].memory) {
                at(scatter.chart.place_of(point).x(),
                   axis.coordToPixel(1e-9 * scatter.store.figure(point, "peak_memory_bytes")));
                ++seen;
            }
    };
    check([](double x, double own) { QVERIFY(std::abs(x - own) < 1); });
    QVERIFY(seen > 0);
    QVERIFY(axis.range().upper < 1.15 * 80); // GB of a device
    // Out of sight they are at the edge.
    scatter.chart.xAxis->setRange(70, 75);
    scatter.chart.replot();
    check([&](double x, double own) {
        QVERIFY(x < own);
        QVERIFY(x > axis.coordToPixel(74.8) && x <= axis.coordToPixel(75));
    });
}

void TestExplorePictures::linesOfAPictureHaveNoGaps()
{
    PointStore store;
    Marks marks;
    PointsModel model(store, marks);
    ParallelPanel panel(store, marks, model);
    store.reset(test::some_grid());
    std::vector<FoundPoint> points = test::some_points(store.grid());
    std::erase_if(points, [](const FoundPoint& point) { return !point.reason.empty(); });
    points.resize(1);
    store.add(points);
    const std::vector<Metric> metrics = metrics_of(store.grid(), WorkUnit::tokens, {});
    model.restart(metrics);
    panel.restart(metrics);
    QImage image(1000, 500, QImage::Format_RGB32);
    QPainter painter(&image);
    panel.paint_to(painter, image.size());
    painter.end();
    const ParallelFrame frame(image.size(), panel.model(), {}, panel.fontMetrics());
    const QColor paper = panel.palette().color(QPalette::Base);
    // Between the axes, where nothing else is drawn.
    for (std::size_t gap = 0; gap + 1 < frame.x.size(); ++gap)
        for (int x = frame.x[gap] + 20; x < frame.x[gap] + 60; ++x) {
            int most = 0;
            for (int y = frame.lines.top(); y < frame.lines.bottom(); ++y)
                most = std::max(most,
                                std::abs(image.pixelColor(x, y).lightness() - paper.lightness()));
            QVERIFY2(most > 30, qPrintable(QString::number(x)));
        }
}

void TestExplorePictures::theOpenScenariosNameIsWhole()
{
    for (const double step : {0.2, 3.0, 9.0})
        for (const double memory : {20e9, 75e9, 200e9}) {
            LoneScatter scatter;
            scatter.open(step, memory);
            for (int i = 0; i < scatter.chart.itemCount(); ++i)
                if (auto* const name = qobject_cast<QCPItemText*>(scatter.chart.item(i));
                    name != nullptr && name->visible() &&
                    name->text() == QStringLiteral("open scenario"))
                {
                    const QRectF text(name->topLeft->pixelPosition(),
                                      name->bottomRight->pixelPosition());
                    QVERIFY(scatter.chart.axisRect(0)->rect().contains(
                        text.toRect().marginsRemoved(QMargins(8, 8, 8, 8))));
                }
        }
}

void TestExplorePictures::theFrontGoesThroughTheOpenScenario()
{
    LoneScatter scatter;
    const auto on_front = [&](double x) {
        const auto& line = *scatter.chart.graph(0)->data(); // the front is drawn first
        return std::any_of(line.constBegin(), line.constEnd(),
                           [&](const QCPGraphData& at) { return std::abs(at.key - x) < 1e-6; });
    };
    scatter.open(0.5, 30e9); // beats all of them
    QVERIFY(on_front(30));
    QCOMPARE(scatter.chart.graph(0)->dataCount(), 1);
    QVERIFY(scatter.chart.front().points().size() > 1); // that of the points alone stays
    scatter.open(50, 99e9);                             // is beaten by all of them
    QVERIFY(!on_front(99));
}

void TestExplorePictures::arrowsPointToWhereItIsBetter()
{
    LoneScatter scatter;
    // The upright axis' label is turned to the left: what points to its left points down.
    QVERIFY(scatter.chart.yAxis->label().endsWith(QStringLiteral("←")));
    QVERIFY(scatter.chart.xAxis->label().endsWith(QStringLiteral("←")));
    scatter.show("step_time", "mfu");
    QVERIFY(scatter.chart.yAxis->label().endsWith(QStringLiteral("→")));
}

void TestExplorePictures::manyLinesArePaintedInSlices()
{
    PointStore store;
    Marks marks;
    PointsModel model(store, marks);
    ParallelPanel panel(store, marks, model);
    store.reset(test::some_grid(1000)); // 48,000 points
    store.add(test::some_points(store.grid()));
    const std::vector<Metric> metrics = metrics_of(store.grid(), WorkUnit::tokens, {});
    model.restart(metrics);
    panel.resize(1000, 500);
    panel.restart(metrics);
    panel.set_colour(QStringLiteral("mfu"));
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel));
    QTRY_VERIFY_WITH_TIMEOUT(panel.canvas().done(), patience_ms);
    // The same that is painted at once for a file.
    const QImage seen = panel.canvas().grab().toImage();
    QVERIFY(!seen.isNull());
    panel.brush(0, Brush{1, 1});
    QTRY_VERIFY_WITH_TIMEOUT(panel.canvas().done(), patience_ms);
    QVERIFY(panel.canvas().grab().toImage() != seen);
}

void TestExplorePictures::everyPictureIsExported()
{
    small_sweep();
    for (Panel* const part : panel_->parts())
        for (const QSize& size : {QSize(400, 300), QSize(1600, 1000)})
            QVERIFY(test::fills_picture(*part, size));
    QCOMPARE(parallel().table().rows.size(), rows().table().rows.size());
    // Without ever having been seen.
    const TableData shares = panel_->importance().table();
    QVERIFY(shares.rows.size() >= 2);
}

void TestExplorePictures::aSessionKeepsThePictures()
{
    small_sweep();
    ParallelChoice axes;
    axes.axes = {QStringLiteral("mfu"), QStringLiteral("strategy.cp"), QStringLiteral("memory")};
    axes.flipped = {QStringLiteral("memory")};
    parallel().set_choice(axes);
    panel_->importance().set_choice(QStringLiteral("memory"));
    panel_->show_part(parallel().key());
    const ExploreState state = panel_->state();
    QVERIFY(explore_state_from(to_json(state)) == state);
    ExplorePanel other(*workspace_);
    other.restore(explore_state_from(to_json(state)));
    QVERIFY(other.state() == state);
    QCOMPARE(other.parallel().model().choice().flipped.size(), std::size_t{1});
}

TRAINYARD_WINDOW_TEST(TestExplorePictures, QApplication)
#include "test_explore_pictures.moc"

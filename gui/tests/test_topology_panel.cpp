// The topology as people use it: keyboard and mouse, without a display.

#include "gui/tests/painted_picture.h"
#include "gui/tests/topology_fixture.h"
#include "gui/tests/window_test.h"
#include "gui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QWheelEvent>

using namespace trainyard;
using namespace trainyard::gui;

class TestTopologyPanel : public test::TopologyFixture {
    Q_OBJECT

private slots:
    void aRunIsShownWhole();
    void whatIsDrawnIsHit();
    void keysZoomAndFit();
    void theWheelZoomsAboutThePointer();
    void aDragPans();
    void thingsFoldByKeyboardAndMouse();
    void arrowKeysReachNeighbours();
    void aClickShowsTheLink();
    void bracketsGoThroughLinks();
    void whatIsSearchedForIsUnfoldedAndSelected();
    void coloursReachAsFarAsWhatIsThere();
    void aFlowLeadsToItsOp();
    void theTableOfLinksLeadsToTheLink();
    void otherViewsSelectToo();
    void everyPictureHasItsSize();
    void anEmptyTopologySaysWhatIsMissing();
};

void TestTopologyPanel::aRunIsShownWhole()
{
    QCOMPARE(canvas().scene().view, fitted(canvas().scene(), canvas().size()));
    QVERIFY(std::ranges::any_of(canvas().loads(), [](double load) { return load > 0; }));
    QCOMPARE(run().loads->ranks_counted(), 16);
    // The timeline's whole begins earlier; no cursor is still none.
    const TimeRange whole = view().whole();
    view().set_whole({whole.from - SimTime(1'000'000), whole.to});
    QVERIFY(!canvas().time().moment());
    view().set_whole(whole);
    QVERIFY(canvas().scene().when.contains("mean of the step"));
    QCOMPARE(panel_->parts().size(), std::size_t{2});
    QVERIFY(!panel_->table().rows.empty());
    QCOMPARE(panel_->table().rows[0].size(), panel_->table().columns.size());
}

void TestTopologyPanel::whatIsDrawnIsHit()
{
    const TopologyScene& scene = canvas().scene();
    const QSizeF size = canvas().size();
    const QRectF body = frame_of(scene, size).body;
    const TopologyLayout& layout = canvas().layout_of();
    for (std::uint32_t i = 0; i < layout.items().size(); ++i) {
        const QRectF rect = rect_of(scene, body, layout.items()[i]);
        QVERIFY(body.contains(rect));
        QCOMPARE(hit(scene, size, rect.center(), 5).item.value(), i);
    }
    int links = 0;
    for (const Bundle& bundle : layout.bundles()) {
        if (bundle.stub || bundle.a == bundle.b)
            continue;
        const TopologyHit at = hit(scene, size, line_of(scene, body, bundle).at(0.3), 5);
        if (at.item) // behind a thing
            continue;
        QVERIFY(at.bundle.has_value());
        QCOMPARE(at.way, BundleWay::there);
        ++links;
    }
    QVERIFY(links > 50);
    QVERIFY(!hit(scene, size, QPointF(-5, -5), 5).any());
}

void TestTopologyPanel::keysZoomAndFit()
{
    const PlanView whole = canvas().scene().view;
    key(Qt::Key_Plus);
    QVERIFY(canvas().scene().view.sx > 1.3 * whole.sx);
    key(Qt::Key_D);
    key(Qt::Key_A);
    key(Qt::Key_Minus);
    key(Qt::Key_Minus);
    QCOMPARE(canvas().scene().view, whole);
    key(Qt::Key_Plus);
    key(Qt::Key_F);
    QCOMPARE(canvas().scene().view, whole);
}

void TestTopologyPanel::theWheelZoomsAboutThePointer()
{
    const std::uint32_t gpu = place("node0/gpu5");
    const QPoint at = canvas().point_of_place(gpu);
    QWheelEvent wheel(at, canvas().mapToGlobal(at), {}, {0, 360}, Qt::NoButton, {},
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&canvas(), &wheel);
    QVERIFY(std::abs(canvas().point_of_place(gpu).x() - at.x()) <= 2);
    QVERIFY(canvas().scene().view.sx > 1.5 * fitted(canvas().scene(), canvas().size()).sx);
}

void TestTopologyPanel::aDragPans()
{
    key(Qt::Key_Plus);
    key(Qt::Key_Plus);
    const double left = canvas().scene().view.left;
    QTest::mousePress(&canvas(), Qt::LeftButton, {}, QPoint(600, 100));
    QTest::mouseMove(&canvas(), QPoint(560, 100));
    QTest::mouseMove(&canvas(), QPoint(520, 100));
    QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, QPoint(520, 100));
    QVERIFY(canvas().scene().view.left > left);
    QVERIFY(!view().selection().link);
}

void TestTopologyPanel::thingsFoldByKeyboardAndMouse()
{
    const std::uint32_t node = place("node 1");
    const std::size_t items = canvas().layout_of().items().size();
    click(canvas().point_of_place(place("node1/gpu2")));
    QCOMPARE(canvas().scene().current.value(), place("node1/gpu2"));
    key(Qt::Key_Backspace);
    QVERIFY(!canvas().layout_of().open(node));
    QCOMPARE(canvas().scene().current.value(), node);
    QVERIFY(canvas().layout_of().items().size() < items);
    key(Qt::Key_Return);
    QCOMPARE(canvas().layout_of().items().size(), items);
    QTest::mouseDClick(&canvas(), Qt::LeftButton, {}, canvas().point_of_place(place("node1/gpu2")));
    QVERIFY(!canvas().layout_of().open(node));
    QTest::mouseDClick(&canvas(), Qt::LeftButton, {}, canvas().point_of_place(node));
    QVERIFY(canvas().layout_of().open(node));
    canvas().closeAll();
    QVERIFY(canvas().layout_of().items().size() < 20);
    canvas().openAll();
    QVERIFY(canvas().layout_of().items().size() >= items);
}

void TestTopologyPanel::arrowKeysReachNeighbours()
{
    click(canvas().point_of_place(place("node0/gpu3")));
    key(Qt::Key_Right);
    QCOMPARE(canvas().scene().current.value(), place("node0/gpu4"));
    key(Qt::Key_Left);
    QCOMPARE(canvas().scene().current.value(), place("node0/gpu3"));
    key(Qt::Key_Down);
    QCOMPARE(canvas().scene().current.value(), place("domain0/nvswitch"));
    key(Qt::Key_Up);
    const auto& places = run().graph->places;
    QCOMPARE(places[*canvas().scene().current].layer, Layer::gpu);
    key(Qt::Key_Escape);
    QVERIFY(!canvas().scene().current);
    QVERIFY(!canvas().accessibleName().isEmpty());
}

void TestTopologyPanel::aClickShowsTheLink()
{
    const LinkId out = link("node0/nic2 out");
    click(canvas().point_of_link(out));
    QCOMPARE(view().selection().link.value(), out);
    QVERIFY(canvas().accessibleDescription().contains("node0/nic2 out"));
    QAbstractItemModel& flows = *panel_->pane().flow_view().model();
    const QAbstractItemModelTester tester(&flows);
    QVERIFY(flows.rowCount() > 0);
    // The largest first, and no more than crosses the link in all.
    const LinkFlows& found = panel_->pane().flows().flows();
    for (std::size_t i = 1; i < found.largest.size(); ++i)
        QVERIFY(found.largest[i - 1].bytes >= found.largest[i].bytes);
    const TableData chart = panel_->pane().chart().table();
    QVERIFY(chart.rows.size() > 100);
    click(canvas().point_of_link(link("node0/nic2 in")));
    QCOMPARE(view().selection().link.value(), link("node0/nic2 in"));
    key(Qt::Key_Escape);
    QVERIFY(!view().selection().link);
    QCOMPARE(flows.rowCount(), 0);
}

void TestTopologyPanel::bracketsGoThroughLinks()
{
    click(canvas().point_of_place(place("node0/gpu3")));
    QTest::keyClick(&canvas(), ']');
    const auto first = view().selection().link;
    QVERIFY(first.has_value());
    QVERIFY(run().name(*first).find("gpu3") != std::string::npos);
    QTest::keyClick(&canvas(), ']');
    QVERIFY(view().selection().link != first);
    QTest::keyClick(&canvas(), '[');
    QCOMPARE(view().selection().link, first);
}

void TestTopologyPanel::whatIsSearchedForIsUnfoldedAndSelected()
{
    canvas().closeAll();
    QTest::keyClick(&canvas(), Qt::Key_F, Qt::ControlModifier);
    auto* const search = panel_->findChild<QLineEdit*>();
    QTRY_VERIFY(search->hasFocus());
    const auto said = [&](const QString& text) {
        return std::ranges::any_of(panel_->findChildren<QLabel*>(),
                                   [&](const QLabel* label) { return label->text() == text; });
    };
    QTest::keyClicks(search, "node1/gpu2");
    QTest::keyClick(search, Qt::Key_Return);
    QTRY_COMPARE_WITH_TIMEOUT(canvas().scene().current, std::optional(place("node1/gpu2")),
                              patience_ms);
    QVERIFY(canvas().layout_of().open(place("node 1")));
    // What is called just so came first; its links follow.
    QTest::keyClick(search, Qt::Key_Return);
    QVERIFY(view().selection().link);
    QVERIFY(run().name(*view().selection().link).find("node1/gpu2") != std::string::npos);
    QTest::keyClick(search, Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(canvas().scene().current.value(), place("node1/gpu2"));
    search->clear();
    QTest::keyClicks(search, "zzz");
    QTest::keyClick(search, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(said(QStringLiteral("none found")), patience_ms);
    QTest::keyClick(search, Qt::Key_Escape);
    QVERIFY(search->text().isEmpty());
    QVERIFY(canvas().hasFocus());
}

void TestTopologyPanel::coloursReachAsFarAsWhatIsThere()
{
    const TopologyScene& scene = canvas().scene();
    QCOMPARE(scene.top, scale_top(scene.uses));
    QVERIFY(scene.top < 1); // means are far from full here
    view().set_cursor(view().whole().from + view().whole().length() / 2);
    QCOMPARE(scene.top, 1.0); // moments keep one scale while it plays
}

void TestTopologyPanel::aFlowLeadsToItsOp()
{
    canvas().go_to(link("node0/nic2 out"));
    QTableView& table = panel_->pane().flow_view();
    emit table.activated(table.model()->index(0, 0));
    QVERIFY(view().selection().record.has_value());
    QCOMPARE(*view().selection().record, panel_->pane().flows().flows().largest[0].record);
    // The bundles that it crosses are lit.
    QVERIFY(!canvas().scene().glowing.empty());
    QCOMPARE(view().selection().link.value(), link("node0/nic2 out"));
}

void TestTopologyPanel::theTableOfLinksLeadsToTheLink()
{
    QTableView& table = panel_->pane().link_view();
    const QAbstractItemModelTester tester(&panel_->pane().links());
    QTRY_VERIFY(table.model()->rowCount() > 10);
    canvas().closeAll();
    emit table.activated(table.model()->index(0, 0));
    QVERIFY(view().selection().link.has_value());
    const PlacePair ends = run().graph->links[view().selection().link->value];
    const TopologyLayout& layout = canvas().layout_of();
    QCOMPARE(layout.items()[layout.item_of(ends.from)].place,
             ends.from); // unfolded
}

void TestTopologyPanel::otherViewsSelectToo()
{
    Selection selection;
    selection.link = link("node1/gpu1/nvlink up");
    view().select(selection);
    QCOMPARE(canvas().scene().selected, selection.link);
    view().select({});
    QVERIFY(!canvas().scene().selected);
    selection.link = LinkId{0x00ffffff}; // of another cluster
    view().select(selection);
    QVERIFY(!canvas().scene().selected);
}

void TestTopologyPanel::everyPictureHasItsSize()
{
    canvas().go_to(link("node0/nic2 out"));
    for (const Theme theme : {Theme::light, Theme::dark}) {
        panel_->setPalette(palette_of(theme));
        for (Panel* const part : panel_->parts())
            for (const QSize size : {QSize(400, 300), QSize(3000, 2000)})
                QVERIFY2(test::fills_picture(*part, size), qPrintable(part->key()));
    }
}

void TestTopologyPanel::anEmptyTopologySaysWhatIsMissing()
{
    Workspace empty;
    TopologyPanel panel(empty);
    panel.resize(800, 600);
    panel.show();
    QVERIFY(panel.canvas().run() == nullptr);
    for (const Qt::Key at : {Qt::Key_Plus, Qt::Key_F, Qt::Key_B, Qt::Key_Right, Qt::Key_Return,
                             Qt::Key_Escape, Qt::Key_BracketRight})
        QTest::keyClick(&panel.canvas(), at);
    QTest::mouseClick(&panel.canvas(), Qt::LeftButton, {}, QPoint(300, 100));
    QTest::mouseDClick(&panel.canvas(), Qt::LeftButton, {}, QPoint(300, 100));
    panel.change({LinkChange::Kind::cut});
    QVERIFY(panel.table().rows.empty());
    QVERIFY(!panel.table().columns.empty());
    QVERIFY(!panel.busy());
}

TRAINYARD_WINDOW_TEST(TestTopologyPanel, QApplication)
#include "test_topology_panel.moc"

// The breakdown as people use it: keyboard and mouse, without a display.

#include "gui/breakdown/breakdown_panel.h"
#include "gui/breakdown/icicle_panel.h"
#include "gui/breakdown/memory_panel.h"
#include "gui/breakdown/roofline_panel.h"
#include "gui/breakdown/time_bars_panel.h"
#include "gui/breakdown/tornado_panel.h"
#include "gui/tests/window_test.h"
#include "gui/widgets/export.h"
#include "gui/widgets/theme.h"

#include <QComboBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTemporaryDir>
#include <QToolTip>
#include <QTreeWidget>

using namespace trainyard;
using namespace trainyard::gui;

class TestBreakdownPanel : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void everyChartIsFilled();
    void aDoubleClickEnlargesAndEscapeGoesBack();
    void tabsShowOneChart();
    void aSmallViewShowsOneChart();
    void arrowKeysMarkAndTell();
    void aClickOnABarSelectsItsRank();
    void secondsBecomeShares();
    void aKindIsHighlighted();
    void memoryFollowsTheCursorAndTheRange();
    void memoryOfALongStepIsInSeconds();
    void memoryShowsTheChosenStage();
    void theWordsOfThePeakHideNothing();
    void theRooflineIsUnderItsRoofs();
    void layersZoomAndGoBack();
    void layersSayWhatChanged();
    void improvementsAreSortedByGain();
    void improvementsAreSimulatedOnlyInSight();
    void improvementsOfASlowRunAreAskedFor();
    void theBaselineHasBars();
    void anInvalidScenarioLeavesPaleFigures();
    void emptyChartsSayWhatIsMissing();
    void everyChartIsExported();
    void whatRunsIsToldAndCancelled();
    void aSmallerJobReplacesALargerOne();
    void darkAndLightDiffer();

private:
    template <class Part>
    Part& chart(std::size_t index)
    {
        return *static_cast<Part*>(panel_->charts()[index]);
    }
    TimeBarsPanel& bars() { return chart<TimeBarsPanel>(0); }
    MemoryPanel& memory() { return chart<MemoryPanel>(1); }
    RooflinePanel& roofline() { return chart<RooflinePanel>(2); }
    IciclePanel& layers() { return chart<IciclePanel>(4); }
    TornadoPanel& tornado() { return chart<TornadoPanel>(3); }
    void key(ChartPanel& part, Qt::Key key) { QTest::keyClick(&part.chart(), key); }
    void settle();

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<BreakdownPanel> panel_;
};

void TestBreakdownPanel::init()
{
    workspace_ = std::make_unique<Workspace>();
    workspace_->want_ops(true);
    panel_ = std::make_unique<BreakdownPanel>(*workspace_);
    tornado().set_quick(patience_ms); // on slow machines too
    panel_->resize(1280, 800);
    panel_->show();
    QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
    QVERIFY(workspace_->document().open("scenarios/llama2-7b-tp2-pp2-dp2.json").empty());
    settle();
}

void TestBreakdownPanel::settle()
{
    QTRY_VERIFY_WITH_TIMEOUT(
        workspace_->run() != nullptr && !workspace_->live().busy() && !panel_->busy(), patience_ms);
    QTest::qWait(20); // queued repaints
}

void TestBreakdownPanel::cleanup()
{
    panel_.reset();
    workspace_.reset();
}

void TestBreakdownPanel::everyChartIsFilled()
{
    for (ChartPanel* const one : panel_->charts()) {
        QVERIFY2(one->items() > 0, qPrintable(one->key()));
        QVERIFY2(one->message().isEmpty(), qPrintable(one->message()));
        QVERIFY(!one->stale());
        QVERIFY(!one->table().rows.empty());
        for (const QStringList& row : one->table().rows)
            QCOMPARE(row.size(), one->table().columns.size());
        for (std::size_t i = 0; i < one->items(); ++i) {
            QVERIFY(!one->tip_of(i).isEmpty());
            QVERIFY(one->bounds_of(i).isValid());
        }
    }
}

void TestBreakdownPanel::aDoubleClickEnlargesAndEscapeGoesBack()
{
    QTest::mouseDClick(&roofline().chart(), Qt::LeftButton, {}, roofline().chart().rect().center());
    QCOMPARE(panel_->enlarged(), std::optional<std::size_t>(2));
    QVERIFY(!bars().isVisible());
    QVERIFY(!tornado().in_sight());                       // nothing is simulated for it
    QTest::keyClick(&roofline().chart(), Qt::Key_Escape); // the mark of the click
    if (panel_->enlarged())
        QTest::keyClick(&roofline().chart(), Qt::Key_Escape);
    QCOMPARE(panel_->enlarged(), std::nullopt);
    QVERIFY(bars().isVisible());
    key(bars(), Qt::Key_Return);
    QCOMPARE(panel_->enlarged(), std::optional<std::size_t>(0));
    key(bars(), Qt::Key_Return);
    QCOMPARE(panel_->enlarged(), std::nullopt);
}

void TestBreakdownPanel::tabsShowOneChart()
{
    auto* const tabs = panel_->findChild<QTabBar*>();
    QCOMPARE(tabs->count(), 6);
    tabs->setCurrentIndex(4);
    QVERIFY(tornado().isVisible());
    QVERIFY(!memory().isVisible());
    tabs->setCurrentIndex(0);
    QVERIFY(memory().isVisible());
}

void TestBreakdownPanel::aSmallViewShowsOneChart()
{
    // The smaller is the least, in the larger legends and axes of four would meet.
    for (const QSize small : {QSize(300, 200), QSize(595, 345)}) {
        panel_->resize(small);
        QVERIFY(panel_->enlarged().has_value());
        QVERIFY(!panel_->findChild<QTabBar*>()->isTabEnabled(0));
        QVERIFY(!panel_->findChild<QTabBar*>()->tabToolTip(0).isEmpty()); // why not
    }
    panel_->resize(1280, 800);
    QVERIFY(panel_->findChild<QTabBar*>()->isTabEnabled(0));
    QVERIFY(panel_->findChild<QTabBar*>()->tabToolTip(0).isEmpty());
    QCOMPARE(panel_->enlarged(), std::nullopt); // all four again
    QVERIFY(memory().isVisible());
    // One alone has all the room.
    panel_->enlarge(3);
    QTRY_VERIFY(tornado().width() > 1200 && tornado().height() > 700);
}

void TestBreakdownPanel::arrowKeysMarkAndTell()
{
    for (ChartPanel* const one : panel_->charts()) {
        key(*one, Qt::Key_Right);
        QCOMPARE(one->marked(), std::optional<std::size_t>(0));
        key(*one, Qt::Key_End);
        QCOMPARE(one->marked(), std::optional(one->items() - 1));
        key(*one, Qt::Key_Left);
        QCOMPARE(one->marked(), std::optional(one->items() - 2));
        key(*one, Qt::Key_Escape);
        QCOMPARE(one->marked(), std::nullopt);
    }
    // Down the bars: the piece of the next bar.
    key(bars(), Qt::Key_Home);
    key(bars(), Qt::Key_Down);
    QCOMPARE(bars().pieces()[*bars().marked()].bar, std::size_t{1});
    key(bars(), Qt::Key_Up);
    QCOMPARE(bars().pieces()[*bars().marked()].bar, std::size_t{0});
    key(bars(), Qt::Key_Up); // nothing above
    QCOMPARE(bars().pieces()[*bars().marked()].bar, std::size_t{0});
}

void TestBreakdownPanel::aClickOnABarSelectsItsRank()
{
    QTest::mouseClick(&bars().chart(), Qt::LeftButton, {}, bars().bounds_of(0).center().toPoint());
    QCOMPARE(workspace_->view().selection().rank, bars().bars()[0].rank);
    // By keyboard: the first piece of a stage.
    std::size_t stage = 0;
    while (bars().bars()[bars().pieces()[stage].bar].of != BarOf::stage)
        ++stage;
    bars().mark(stage);
    key(bars(), Qt::Key_Space);
    QCOMPARE(workspace_->view().selection().rank, bars().bars()[bars().pieces()[stage].bar].rank);
}

void TestBreakdownPanel::secondsBecomeShares()
{
    auto* const unit = bars().findChild<QComboBox*>();
    unit->setCurrentIndex(1);
    QVERIFY(std::abs(bars().pieces().back().to - 100) < 1e-6);
    key(bars(), Qt::Key_Percent);
    QCOMPARE(unit->currentIndex(), 0);
}

void TestBreakdownPanel::aKindIsHighlighted()
{
    bars().mark(0);
    key(bars(), Qt::Key_H);
    QCOMPARE(bars().highlighted(), std::optional(bars().pieces()[0].kind));
    const QImage pale = bars().chart().toPixmap(600, 400).toImage();
    key(bars(), Qt::Key_H);
    QCOMPARE(bars().highlighted(), std::nullopt);
    QVERIFY(bars().chart().toPixmap(600, 400).toImage() != pale);
}

void TestBreakdownPanel::memoryFollowsTheCursorAndTheRange()
{
    ViewState& view = workspace_->view();
    QCOMPARE(view.range(), view.whole());
    const MemoryCurve& curve = *memory().curve();
    key(memory(), Qt::Key_P);
    QCOMPARE(view.cursor(), curve.points[curve.peak].time);
    key(memory(), Qt::Key_W);
    QVERIFY(view.range().length() < view.whole().length());
    const double in_sight = memory().chart().xAxis->range().size() * 1e9; // ps
    QVERIFY(std::abs(in_sight - static_cast<double>(view.range().length().value())) <
            1e-6 * in_sight);
    // Zoomed by the wheel: the others follow.
    memory().chart().xAxis->setRange(1, 2);
    QCOMPARE(view.range().from, view.whole().from + SimTime(1'000'000'000));
    key(memory(), Qt::Key_F);
    QCOMPARE(view.range(), view.whole());
    const QRectF middle = memory().bounds_of(memory().items() / 2);
    QTest::mouseClick(&memory().chart(), Qt::LeftButton, {}, middle.center().toPoint());
    const double part = static_cast<double>((view.cursor() - view.whole().from).value()) /
                        static_cast<double>(view.whole().length().value());
    QVERIFY(std::abs(part - 0.5) < 0.02);
}

void TestBreakdownPanel::memoryOfALongStepIsInSeconds()
{
    const auto end = [this] { return memory().chart().xAxis->range().upper; };
    const auto step = [this] { return workspace_->run()->summary.step_time.value.value(); };
    QVERIFY(step() < 10);
    QVERIFY(memory().chart().xAxis->label().endsWith(QStringLiteral("[ms]")));
    QVERIFY(std::abs(end() / (1e3 * step()) - 1) < 0.01);
    QVERIFY(!workspace_->document().set("training.global_batch", "4096"));
    settle();
    QVERIFY(step() > 10);
    QVERIFY(memory().chart().xAxis->label().endsWith(QStringLiteral("[s]")));
    QVERIFY(std::abs(end() / step() - 1) < 0.01);
}

void TestBreakdownPanel::memoryShowsTheChosenStage()
{
    auto* const stages = memory().findChild<QComboBox*>();
    QCOMPARE(stages->count(), 2);
    const Outcome& outcome = *workspace_->recorded()->outcome;
    QCOMPARE(stages->currentIndex(), outcome.memory.fullest_stage);
    const MemoryCurve fullest = *memory().curve();
    QVERIFY(memory().content().topLevelItemCount() > 0);
    // The other stage, by one of its ranks.
    const int other = 1 - stages->currentIndex();
    for (const Lane& lane : outcome.binding->lanes)
        if (lane.role.value == static_cast<std::uint32_t>(other)) {
            Selection selection;
            selection.rank = lane.rank;
            workspace_->view().select(selection);
            break;
        }
    settle();
    QCOMPARE(stages->currentIndex(), other);
    QVERIFY(!(*memory().curve() == fullest));
}

// Two lines of words have their place above the curve, however small the chart.
void TestBreakdownPanel::theWordsOfThePeakHideNothing()
{
    workspace_->document().edit({{"training.global_batch", "64"}, {"training.micro_batch", "4"}});
    settle(); // nearly full: no room is left by what is free
    for (const QSize& size : {QSize(1280, 800), QSize(1000, 560)}) {
        panel_->resize(size);
        QTest::qWait(20);
        QCustomPlot& plot = memory().chart();
        plot.replot();
        const MemoryCurve& curve = *memory().curve();
        const double peak = static_cast<double>(curve.points[curve.peak].bytes) / 1e9;
        QVERIFY(plot.yAxis->coordToPixel(peak) - plot.axisRect()->top() >=
                2 * plot.fontMetrics().height());
    }
}

void TestBreakdownPanel::theRooflineIsUnderItsRoofs()
{
    const QRect body = roofline().chart().axisRect()->rect();
    for (std::size_t i = 0; i < roofline().items(); ++i)
        if (roofline().classes()[i].flops.value() > 0)
            QVERIFY(body.contains(roofline().bounds_of(i).center().toPoint()));
    for (std::size_t i = 1; i < roofline().items(); ++i)
        QVERIFY(roofline().classes()[i - 1].time >= roofline().classes()[i].time);
}

void TestBreakdownPanel::layersZoomAndGoBack()
{
    panel_->enlarge(4);
    QTRY_VERIFY(layers().isVisible() && layers().chart().width() > 1000);
    QVERIFY(!bars().isVisible());
    const auto item_named = [&](const QString& name) {
        for (std::size_t i = 0; i < layers().items(); ++i)
            if (layers().parts()[layers().part_of(i)].name == name.toStdString())
                return i;
        return layers().items();
    };
    const std::size_t layer = item_named(QStringLiteral("layer 20"));
    QVERIFY(layer < layers().items());
    const QRectF before = layers().bounds_of(layer);
    QTest::mouseClick(&layers().chart(), Qt::LeftButton, {}, before.center().toPoint());
    const std::uint32_t focus = layers().focus();
    QCOMPARE(layers().parts()[focus].name, std::string("layer 20"));
    QVERIFY(layers().bounds_of(item_named(QStringLiteral("layer 20"))).width() > 1000);
    QVERIFY(layers().items() >= 5); // what it is in, itself, its ops
    key(layers(), Qt::Key_Escape);  // to its stage, then to the model, then to all charts
    QCOMPARE(layers().parts()[layers().focus()].level, IcicleLevel::stage);
    // By keys: down to what takes longest, into it, and out again.
    key(layers(), Qt::Key_Home);
    key(layers(), Qt::Key_Down);
    key(layers(), Qt::Key_Down);
    key(layers(), Qt::Key_Space);
    QCOMPARE(layers().parts()[layers().focus()].level, IcicleLevel::layer);
    key(layers(), Qt::Key_Backspace);
    key(layers(), Qt::Key_Escape);
    QCOMPARE(layers().focus(), 0U);
    QVERIFY(panel_->enlarged());
    key(layers(), Qt::Key_Escape);
    QVERIFY(!panel_->enlarged());
}

void TestBreakdownPanel::layersSayWhatChanged()
{
    workspace_->pin_baseline();
    panel_->enlarge(4);
    QVERIFY(!workspace_->document().set("training.sequence_length", "2048"));
    settle();
    const auto combos = layers().findChildren<QComboBox*>();
    QCOMPARE(combos.size(), 2);
    const QImage kinds = picture_of(layers(), {900, 500});
    combos[1]->setCurrentIndex(1);
    settle();
    QVERIFY(layers().parts().front().before);
    QVERIFY(*layers().parts().front().before > layers().parts().front().length);
    QVERIFY(layers().tip_of(0).contains(QStringLiteral("baseline")));
    QVERIFY(picture_of(layers(), {900, 500}) != kinds);
    combos[0]->setCurrentIndex(1); // the mean has both stages
    settle();
    QCOMPARE(std::ranges::count(layers().parts(), IcicleLevel::stage, &IciclePart::level), 2);
}

void TestBreakdownPanel::improvementsAreSortedByGain()
{
    const std::vector<WhatIf>& rows = tornado().rows();
    QVERIFY(rows.size() > 3);
    QVERIFY(std::ranges::is_sorted(rows, std::ranges::greater{}, &WhatIf::gain));
    QVERIFY(rows == *what_if(*workspace_->run()->outcome));
    QVERIFY(tornado().tip_of(0).contains(QString::fromStdString(rows[0].resource)));
}

void TestBreakdownPanel::improvementsAreSimulatedOnlyInSight()
{
    panel_->set_in_sight(false);
    const std::vector<WhatIf> before = tornado().rows();
    QVERIFY(!workspace_->document().set("training.global_batch", "64"));
    settle();
    QVERIFY(tornado().rows() == before);
    QVERIFY(tornado().stale());
    panel_->set_in_sight(true);
    settle();
    QVERIFY(!tornado().stale());
    QVERIFY(tornado().rows() != before);
}

void TestBreakdownPanel::improvementsOfASlowRunAreAskedFor()
{
    tornado().set_quick(0); // as no run is
    QVERIFY(!workspace_->document().set("training.global_batch", "64"));
    settle();
    QVERIFY(tornado().rows().empty());
    QVERIFY(!tornado().message().isEmpty());
    tornado().compute();
    settle();
    QVERIFY(tornado().rows().size() > 3);
    QVERIFY(tornado().message().isEmpty());
}

void TestBreakdownPanel::theBaselineHasBars()
{
    const std::size_t before = bars().bars().size();
    workspace_->pin_baseline();
    QVERIFY(std::ranges::count(bars().bars(), BarOf::baseline, &TimeBar::of) == 2);
    QVERIFY(bars().bars().size() >= before);
    workspace_->clear_baseline();
    QVERIFY(std::ranges::count(bars().bars(), BarOf::baseline, &TimeBar::of) == 0);
}

void TestBreakdownPanel::anInvalidScenarioLeavesPaleFigures()
{
    const std::vector<BarPiece> before = bars().pieces();
    QVERIFY(!workspace_->document().set("strategy.tp", "3"));
    QTRY_VERIFY_WITH_TIMEOUT(!workspace_->live().busy() && !workspace_->problems().empty(),
                             patience_ms);
    QTest::qWait(20);
    for (ChartPanel* const one : panel_->charts()) {
        QVERIFY2(one->stale(), qPrintable(one->key()));
        QVERIFY(one->items() > 0);
    }
    QVERIFY(bars().pieces() == before);
    workspace_->document().undo_stack().undo();
    settle();
    for (ChartPanel* const one : panel_->charts())
        QVERIFY2(!one->stale(), qPrintable(one->key()));
}

void TestBreakdownPanel::emptyChartsSayWhatIsMissing()
{
    Workspace nothing;
    BreakdownPanel empty(nothing);
    for (ChartPanel* const one : empty.charts()) {
        QVERIFY(one->message().contains("scenario"));
        QCOMPARE(one->items(), std::size_t{0});
        QVERIFY(one->table().rows.empty());
        QTest::keyClick(&one->chart(), Qt::Key_Right);
        QTest::keyClick(&one->chart(), Qt::Key_Space);
        QCOMPARE(one->marked(), std::nullopt);
        QVERIFY(!picture_of(*one, {400, 300}).isNull());
    }
}

void TestBreakdownPanel::everyChartIsExported()
{
    const QTemporaryDir folder;
    for (Panel* const part : panel_->parts())
        for (const char* ending : {".png", ".svg", ".csv"}) {
            const auto file = std::filesystem::path(folder.path().toStdString()) /
                              (part->key().toStdString() + ending);
            export_view(*part, {700, 450}, file);
            QVERIFY(std::filesystem::file_size(file) > 100);
        }
    // On screen it is as before.
    QVERIFY(bars().bounds_of(0).right() < bars().chart().width());
}

void TestBreakdownPanel::whatRunsIsToldAndCancelled()
{
    QSignalSpy changed(panel_.get(), &Panel::busyChanged);
    tornado().compute();
    QVERIFY(panel_->busy());
    QVERIFY(changed.count() > 0);
    panel_->cancel();
    QVERIFY(!panel_->busy());
    QCOMPARE(changed.count(), 2);
}

// While the new curve is being made the old one is painted, by the run that it is of.
void TestBreakdownPanel::aSmallerJobReplacesALargerOne()
{
    memory().findChild<QComboBox*>()->setCurrentIndex(1);
    QVERIFY(!workspace_->document().edit({{"strategy.pp", "1"}, {"strategy.tp", "1"}}));
    while (workspace_->live().busy() || panel_->busy()) {
        QVERIFY(!picture_of(memory(), {600, 400}).isNull());
        QTest::qWait(1);
    }
    settle();
    QCOMPARE(memory().findChild<QComboBox*>()->count(), 1);
    QVERIFY(!memory().stale());
}

void TestBreakdownPanel::darkAndLightDiffer()
{
    const QImage light = picture_of(*panel_, {900, 600});
    panel_->setPalette(palette_of(Theme::dark));
    QTest::qWait(20);
    QVERIFY(picture_of(*panel_, {900, 600}) != light);
}

TRAINYARD_WINDOW_TEST(TestBreakdownPanel, QApplication)
#include "test_breakdown_panel.moc"

// The explorer as people use it: keyboard and mouse, without a display.

#include "gui/explore/explore_panel.h"
#include "gui/explore/ranges_view.h"
#include "gui/explore/time_bars.h"
#include "gui/model/form.h"
#include "gui/tests/found_points.h"
#include "gui/tests/painted_picture.h"
#include "gui/widgets/theme.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

constexpr int patience_ms = 120'000;

} // namespace

class TestExplore : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();

    void rowsKeepTheirOrderWhileTheyGrow();
    void rowsAreSortedAndFiltered();
    void aSweepFindsWhatTheLibraryFinds();
    void axesAndColoursAreChosen();
    void aBrushMarksPointsAndRows();
    void keysWalkOpenAndPin();
    void aDoubleClickOpensAPoint();
    void aRightClickOffersToOpenAndToPin();
    void aPriceLeavesFilterAndSorting();
    void theBestComesFirst();
    void anotherScenarioMakesPointsStale();
    void aSweepIsPausedAndCancelled();
    void nothingFitsIsSaidPlainly();
    void aWrongScenarioIsSaidPlainly();
    void rangesAreChosenByBoxesAndSliders();
    void pinsAreCompared();
    void whatRunsIsToldAndCancelled();
    void pinsAreComparedOnlyInSight();
    void aSessionKeepsRangesAxesAndPins();
    void everyPictureHasItsSize();

private:
    void sweep();
    // Only these values of these fields.
    void choose(const std::vector<std::pair<std::string, std::vector<std::string>>>& axes);
    ScatterChart& chart() { return panel_->scatter().chart(); }
    QTableView& table() { return *panel_->findChild<QTableView*>(QStringLiteral("points")); }
    PointsModel& rows() { return *panel_->findChild<PointsModel*>(); }

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<ExplorePanel> panel_;
};

void TestExplore::init()
{
    workspace_ = std::make_unique<Workspace>();
    QVERIFY(workspace_->document().open("scenarios/gpt2-xl-fsdp-4.json").empty());
    panel_ = std::make_unique<ExplorePanel>(*workspace_);
    panel_->resize(1280, 800);
    panel_->show();
    QVERIFY(QTest::qWaitForWindowExposed(panel_.get()));
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->ranges().empty() && workspace_->current(), patience_ms);
}

void TestExplore::cleanup()
{
    panel_.reset();
    workspace_.reset();
}

void TestExplore::choose(const std::vector<std::pair<std::string, std::vector<std::string>>>& axes)
{
    std::vector<AxisRange> ranges = panel_->ranges();
    for (AxisRange& range : ranges) {
        range.swept = false;
        for (const auto& [field, values] : axes)
            if (range.field == field) {
                range.swept = true;
                for (std::size_t i = 0; i < range.values.size(); ++i)
                    range.chosen[i] =
                        std::find(values.begin(), values.end(), range.values[i]) != values.end();
            }
    }
    panel_->set_ranges(ranges);
}

void TestExplore::sweep()
{
    QSignalSpy swept(panel_.get(), &ExplorePanel::swept);
    for (QPushButton* const button : panel_->findChildren<QPushButton*>())
        if (button->text().startsWith(QStringLiteral("Sweep"))) {
            QVERIFY(button->isEnabled());
            QTest::mouseClick(button, Qt::LeftButton);
        }
    QTRY_COMPARE_WITH_TIMEOUT(swept.count(), 1, patience_ms);
}

void TestExplore::rowsKeepTheirOrderWhileTheyGrow()
{
    PointStore store;
    const Marks marks;
    PointsModel model(store, marks);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    store.reset(test::some_grid(10));
    model.restart(metrics_of(store.grid(), WorkUnit::tokens, {}), {});
    const int column = 4; // after the swept fields: step time
    QVERIFY(model.headerData(column, Qt::Horizontal, Qt::DisplayRole)
                .toString()
                .startsWith(QStringLiteral("Step time")));
    const std::vector<FoundPoint> points = test::some_points(store.grid());
    QPersistentModelIndex kept;
    std::uint32_t kept_point = 0;
    for (std::size_t from = 0; from < points.size(); from += 37) {
        const auto first = points.begin() + static_cast<std::ptrdiff_t>(from);
        const auto last =
            points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), from + 37));
        store.add({first, last});
        model.follow();
        QCOMPARE(model.rowCount(), static_cast<int>(store.size()));
        if (from == 0) {
            kept = model.index(5, 0);
            kept_point = model.point(5);
        }
    }
    QCOMPARE(model.point(kept.row()), kept_point);
    double before = 0;
    bool possible = true;
    for (int row = 0; row < model.rowCount(); ++row) {
        const std::uint32_t point = model.point(row);
        QVERIFY(possible || !store.feasible(point)); // what cannot be comes last
        possible = store.feasible(point);
        if (!possible)
            continue;
        QVERIFY(store.figure(point, Figure::step_time) >= before);
        before = store.figure(point, Figure::step_time);
    }
}

void TestExplore::rowsAreSortedAndFiltered()
{
    PointStore store;
    Marks marks;
    PointsModel model(store, marks);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    store.reset(test::some_grid(4));
    store.add(test::some_points(store.grid()));
    model.restart(metrics_of(store.grid(), WorkUnit::tokens, {}), {});
    for (int column = 0; column < model.columnCount(); ++column)
        for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder})
            model.sort(column, order);
    model.sort(0, Qt::DescendingOrder);
    QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("8"));
    QCOMPARE(model.set_filter(QStringLiteral("tp=2 full")), QString());
    QCOMPARE(model.rowCount(), 4 * 4);
    QVERIFY(!model.set_filter(QStringLiteral("nonsense=2")).isEmpty());
    model.set_filter({});
    model.set_shown(Shown::possible);
    QCOMPARE(model.rowCount(), static_cast<int>(store.feasible_count()));
    marks.mark({3, 1, 2});
    model.set_shown(Shown::marked);
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.table().rows.size(), std::size_t{3});
}

void TestExplore::aSweepFindsWhatTheLibraryFinds()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}},
            {"strategy.zero", {"0", "3"}},
            {"strategy.cp", {"1", "2", "4"}}});
    sweep();
    const PointStore& store = panel_->store();
    QVERIFY(store.size() > 10);
    QVERIFY(store.feasible_count() > 0);
    QCOMPARE(table().model()->rowCount(), static_cast<int>(store.size()));
    QVERIFY(!panel_->busy());
    // One of them by itself.
    const std::uint32_t point = rows().point(0);
    Document document;
    document.load(workspace_->document().json(), workspace_->document().file());
    document.reset("strategy.dp");
    for (const Override& change : store.grid().point(store.index(point)))
        QVERIFY(!document.set(change.field, change.value));
    Session session;
    const Outcome outcome = session.simulate(document.read().value()).value();
    QCOMPARE(store.figure(point, Figure::step_time), outcome.step_time.value.value());
    QCOMPARE(store.figure(point, Figure::memory),
             static_cast<double>(outcome.memory.peak().value()));
}

void TestExplore::axesAndColoursAreChosen()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.cp", {"1", "2", "4"}}});
    sweep();
    QVERIFY(!chart().front().points().empty());
    for (QComboBox* const box : panel_->scatter().findChildren<QComboBox*>())
        for (int i = 0; i < box->count(); ++i) {
            box->setCurrentIndex(i);
            QCOMPARE(chart().plotted(), std::size_t{panel_->store().size()});
        }
    for (QCheckBox* const log : panel_->scatter().findChildren<QCheckBox*>())
        log->toggle();
    ScatterChoice choice;
    choice.x = QStringLiteral("strategy.cp");
    choice.y = QStringLiteral("step_time");
    panel_->scatter().set_choice(choice);
    QVERIFY(!chart().front().drawn()); // a field has no better
    QCOMPARE(panel_->scatter().choice(), choice);
}

void TestExplore::aBrushMarksPointsAndRows()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.cp", {"1", "2", "4"}}});
    sweep();
    const QRect area = chart().axisRect(0)->rect();
    QTest::mousePress(&chart(), Qt::LeftButton, {}, area.topLeft() + QPoint(2, 2));
    QTest::mouseMove(&chart(), area.center());
    QTest::mouseMove(&chart(), area.bottomRight() - QPoint(2, 2));
    QTest::mouseRelease(&chart(), Qt::LeftButton, {}, area.bottomRight() - QPoint(2, 2));
    QCOMPARE(panel_->marks().points().size(), panel_->store().feasible_count());
    const QModelIndex first = table().model()->index(0, 0);
    QVERIFY(first.data(Qt::BackgroundRole).isValid());
    // Rows mark points the other way round.
    table().setFocus();
    table().selectRow(1);
    QTest::keyClick(&table(), Qt::Key_Down, Qt::ShiftModifier);
    const std::vector<std::uint32_t> expected{rows().point(1), rows().point(2)};
    QCOMPARE(panel_->marks().points(), expected);
    QTest::keyClick(&table(), Qt::Key_Escape);
    QVERIFY(panel_->marks().points().empty());
    // A click picks one.
    const std::uint32_t point = rows().point(0);
    QTest::mouseClick(&chart(), Qt::LeftButton, {}, chart().place_of(point).toPoint());
    QVERIFY(panel_->marks().current().has_value());
    QVERIFY(!chart().accessibleDescription().isEmpty());
}

void TestExplore::keysWalkOpenAndPin()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.cp", {"1", "2", "4"}}});
    sweep();
    chart().setFocus();
    QTest::keyClick(&chart(), Qt::Key_BracketRight);
    QVERIFY(panel_->marks().current().has_value());
    const std::uint32_t first = *panel_->marks().current();
    QCOMPARE(first, chart().front().points().front().point);
    QCOMPARE(table().currentIndex().row(), *rows().row_of(first));
    for (const Qt::Key key : {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_F})
        QTest::keyClick(&chart(), key);
    const std::uint32_t point = *panel_->marks().current();
    QVERIFY(panel_->store().feasible(point));
    QTest::keyClick(&chart(), Qt::Key_P);
    QCOMPARE(panel_->compare().pins().size(), std::size_t{1});
    QTest::keyClick(&chart(), Qt::Key_P);
    QVERIFY(panel_->compare().pins().empty());
    const Json before = workspace_->document().json();
    const int steps = workspace_->document().undo_stack().count();
    QTest::keyClick(&chart(), Qt::Key_Return);
    QCOMPARE(workspace_->document().undo_stack().count(), steps + 1);
    const std::string cp = panel_->store().value_name(point, 0);
    QCOMPARE(to_text(*workspace_->document().find("strategy.cp")), cp);
    QVERIFY(!panel_->stale()); // one of its own points
    QLabel* const state = panel_->findChild<QLabel*>(QStringLiteral("state"));
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms); // its run changes nothing of that
    QVERIFY(state->text().startsWith(QStringLiteral("Opened cp ")));
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().json() == before);
    QVERIFY(!state->text().startsWith(QStringLiteral("Opened")));
    QTest::keyClick(&chart(), Qt::Key_Escape);
    QVERIFY(!panel_->marks().current());
}

void TestExplore::aDoubleClickOpensAPoint()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}});
    sweep();
    const std::uint32_t point = rows().point(0);
    const QString value = QString::fromStdString(panel_->store().value_name(point, 0));
    QVERIFY(!workspace_->document().set("training.micro_batch", value == "1" ? "2" : "1"));
    QTest::mouseDClick(&chart(), Qt::LeftButton, {}, chart().place_of(point).toPoint());
    QCOMPARE(QString::fromStdString(to_text(*workspace_->document().find("training.micro_batch"))),
             value);
    workspace_->document().undo_stack().undo();
    emit table().doubleClicked(table().model()->index(0, 0));
    QCOMPARE(QString::fromStdString(to_text(*workspace_->document().find("training.micro_batch"))),
             value);
}

void TestExplore::aRightClickOffersToOpenAndToPin()
{
    choose({{"training.micro_batch", {"1", "2"}}});
    sweep();
    const std::uint32_t point = chart().front().points().front().point;
    const auto take = [&](int which) {
        QTimer::singleShot(0, [which] {
            auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            menu->setActiveAction(menu->actions().at(which));
            QTest::keyClick(menu, Qt::Key_Return);
        });
        QTest::mouseClick(&chart(), Qt::RightButton, {}, chart().place_of(point).toPoint());
    };
    take(1);
    QCOMPARE(panel_->compare().pins().size(), std::size_t{1});
    take(1);
    QVERIFY(panel_->compare().pins().empty());
    const int steps = workspace_->document().undo_stack().count();
    take(0);
    QCOMPARE(workspace_->document().undo_stack().count(), steps + 1);
}

void TestExplore::aPriceLeavesFilterAndSorting()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.cp", {"1", "2", "4"}}});
    sweep();
    const auto column = [this](const QString& title) {
        for (int i = 0; i < rows().columnCount(); ++i)
            if (rows().headerData(i, Qt::Horizontal, Qt::DisplayRole).toString().startsWith(title))
                return i;
        return -1;
    };
    table().sortByColumn(column(QStringLiteral("Peak memory")), Qt::DescendingOrder);
    auto* const filter = panel_->findChild<QLineEdit*>();
    filter->setText(QStringLiteral("micro_batch<4"));
    const std::size_t all = panel_->store().size();
    QTRY_VERIFY(rows().shown_count() < all);
    const std::size_t shown = rows().shown_count();
    QVERIFY(shown > 1);
    panel_->marks().set_current(rows().point(0));
    const std::uint32_t first = rows().point(0);
    workspace_->set_price({3.0, QStringLiteral("USD")});
    QVERIFY(column(QStringLiteral("Cost per day")) > 0);
    QCOMPARE(rows().shown_count(), shown);
    QCOMPARE(rows().point(0), first);
    QCOMPARE(rows().sort_column(), column(QStringLiteral("Peak memory")));
    QCOMPARE(table().horizontalHeader()->sortIndicatorSection(), rows().sort_column());
    QCOMPARE(table().horizontalHeader()->sortIndicatorOrder(), Qt::DescendingOrder);
    QCOMPARE(filter->text(), QStringLiteral("micro_batch<4"));
    QCOMPARE(table().currentIndex().row(), 0);
    // What the points are sorted by is gone with the price: the best come first again.
    table().sortByColumn(column(QStringLiteral("Cost per day")), Qt::AscendingOrder);
    workspace_->set_price({});
    QCOMPARE(rows().sort_column(), column(QStringLiteral("Step time")));
}

void TestExplore::theBestComesFirst()
{
    const std::string own = edit_text(*workspace_->document().find("training.global_batch"));
    choose({{"training.global_batch", {own, std::to_string(2 * std::stoll(own))}}});
    sweep();
    QCOMPARE(panel_->store().feasible_count(), std::size_t{2});
    QVERIFY(panel_->store().figure(rows().point(0), Figure::rate) >=
            panel_->store().figure(rows().point(1), Figure::rate));
    // The larger batch takes longer, and yet is the better one.
    QVERIFY(panel_->store().figure(rows().point(0), Figure::step_time) >
            panel_->store().figure(rows().point(1), Figure::step_time));
}

void TestExplore::anotherScenarioMakesPointsStale()
{
    choose({{"training.micro_batch", {"1", "2"}}});
    sweep();
    QVERIFY(!panel_->stale());
    QVERIFY(!workspace_->document().set("training.micro_batch", "4")); // what is swept
    QVERIFY(!panel_->stale());
    QVERIFY(!workspace_->document().set("training.sequence_length", "512"));
    QVERIFY(panel_->stale());
    const auto* const state = panel_->findChild<QLabel*>(QStringLiteral("state"));
    QTRY_VERIFY(state->text().contains(QStringLiteral("earlier scenario")));
    const std::uint32_t size = panel_->store().size(); // nothing is mixed
    QTest::qWait(200);
    QCOMPARE(panel_->store().size(), size);
    workspace_->document().undo_stack().undo();
    QVERIFY(!panel_->stale());
}

void TestExplore::aSweepIsPausedAndCancelled()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}},
            {"strategy.zero", {"0", "1", "2", "3"}},
            {"training.recompute", {"none", "selective", "full"}},
            {"strategy.bucket_cap", {"1 MiB", "5 MiB", "25 MiB", "100 MiB", "400 MiB"}},
            {"strategy.cp", {"1", "2", "4"}},
            {"training.sequence_length", {"256", "512", "1024"}}});
    QSignalSpy swept(panel_.get(), &ExplorePanel::swept);
    panel_->start();
    QTRY_VERIFY_WITH_TIMEOUT(panel_->store().size() > 0, patience_ms);
    QToolButton* pause = nullptr;
    QToolButton* cancel = nullptr;
    for (QToolButton* const button : panel_->findChildren<QToolButton*>()) {
        if (button->text() == QStringLiteral("Pause"))
            pause = button;
        if (button->isVisible() && button->text() == QStringLiteral("Cancel"))
            cancel = button;
    }
    QVERIFY(pause != nullptr && cancel != nullptr);
    QTest::mouseClick(pause, Qt::LeftButton);
    QVERIFY(panel_->job().paused());
    QTest::qWait(300); // what was under way comes to its end
    const std::uint32_t paused = panel_->store().size();
    QTest::qWait(300);
    QCOMPARE(panel_->store().size(), paused);
    QTest::mouseClick(pause, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(panel_->store().size() > paused, patience_ms);
    QTest::mouseClick(cancel, Qt::LeftButton);
    QCOMPARE(swept.count(), 1);
    QVERIFY(!panel_->busy());
    const std::uint32_t kept = panel_->store().size();
    QVERIFY(kept > 0);
    QTest::qWait(200);
    QCOMPARE(panel_->store().size(), kept);
    // Cancelled while paused, and begun again.
    panel_->start();
    panel_->job().set_paused(true);
    panel_->job().cancel();
    panel_->start();
    panel_->start();
    panel_->job().cancel();
    QVERIFY(!panel_->busy());
}

void TestExplore::nothingFitsIsSaidPlainly()
{
    QVERIFY(!workspace_->document().set("training.global_batch", "512"));
    QVERIFY(!workspace_->document().set("training.sequence_length", "1024"));
    QVERIFY(!workspace_->document().set("training.micro_batch", "128"));
    choose({{"strategy.zero", {"0", "1"}}, {"strategy.bucket_cap", {"5 MiB", "25 MiB"}}});
    sweep();
    QCOMPARE(panel_->store().feasible_count(), std::size_t{0});
    QString said;
    for (const QLabel* const label : panel_->findChildren<QLabel*>())
        if (label->isVisible() && label->text().contains(QStringLiteral("Nothing fits")))
            said = label->text();
    QVERIFY(said.contains(QStringLiteral("Nearest")));
    QVERIFY(said.contains(QStringLiteral("What would help")));
    QCOMPARE(table().model()->rowCount(), static_cast<int>(panel_->store().size()));
    QVERIFY(panel_->store().size() > 0);
}

void TestExplore::aWrongScenarioIsSaidPlainly()
{
    QVERIFY(!workspace_->document().set("topology", "no-such-cluster"));
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->busy(), patience_ms);
    bool said = false;
    for (const QLabel* const label : panel_->findChildren<QLabel*>())
        said = said || (label->isVisible() && label->text().contains("no-such-cluster"));
    QVERIFY(said);
    panel_->start(); // nothing to begin
    QVERIFY(!panel_->job().running());
}

void TestExplore::rangesAreChosenByBoxesAndSliders()
{
    choose({{"strategy.cp", {"1", "2", "4"}}});
    auto* const ranges = panel_->findChild<RangesView*>();
    QSignalSpy changed(ranges, &RangesView::changed);
    auto* const zero = ranges->findChild<QCheckBox*>(QStringLiteral("strategy.zero"));
    QVERIFY(zero != nullptr && !zero->isChecked());
    zero->setFocus();
    QTest::keyClick(zero, Qt::Key_Space);
    QCOMPARE(changed.count(), 1);
    const auto at = [&]() -> const AxisRange& {
        return *std::ranges::find(panel_->ranges(), "strategy.zero", &AxisRange::field);
    };
    QVERIFY(at().swept);
    QWidget* slider = nullptr;
    for (QWidget* const widget : ranges->findChildren<QWidget*>())
        if (widget->accessibleName() == QStringLiteral("range of ZeRO stage"))
            slider = widget;
    QVERIFY(slider != nullptr && slider->isVisible());
    QTest::keyClick(slider, Qt::Key_End);
    QTest::keyClick(slider, Qt::Key_Left);
    QTest::keyClick(slider, Qt::Key_Space);
    QTest::keyClick(slider, Qt::Key_Home);
    QTest::keyClick(slider, Qt::Key_Right);
    QCOMPARE(at().chosen_values(), (std::vector<std::string>{"1", "2"}));
    auto* const preset = panel_->findChild<QComboBox*>();
    preset->setFocus();
    QTest::keyClick(preset, Qt::Key_Down);
    QVERIFY(at().swept); // memory savers
    QCOMPARE(at().chosen_values().size(), std::size_t{4});
}

void TestExplore::pinsAreCompared()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.zero", {"1", "2", "3"}}});
    sweep();
    for (std::uint32_t row = 0; row < 5; ++row)
        panel_->pin(rows().point(static_cast<int>(row)));
    ComparePanel& compare = panel_->compare();
    QCOMPARE(compare.pins().size(), most_pins); // the first gave way
    QTRY_VERIFY_WITH_TIMEOUT(compare.table().rows.size() > 3, patience_ms);
    QTRY_VERIFY_WITH_TIMEOUT(!compare.busy(), patience_ms);
    const TableData table = compare.table();
    QCOMPARE(table.columns.size(), 6);                 // what, the scenario as it is, four pins
    QVERIFY(table.rows.front().front().contains('.')); // a field that differs comes first
    workspace_->pin_baseline();
    QTRY_COMPARE_WITH_TIMEOUT(compare.table().columns.size(), 7, patience_ms);
    QToolButton* out = nullptr;
    for (QToolButton* const button : compare.findChildren<QToolButton*>())
        if (button->text().startsWith(QStringLiteral("1:")))
            out = button;
    QVERIFY(out != nullptr);
    QTest::mouseClick(out, Qt::LeftButton);
    QTRY_COMPARE(compare.pins().size(), most_pins - 1);
    // Pins stay when another sweep begins.
    sweep();
    QCOMPARE(compare.pins().size(), most_pins - 1);
}

void TestExplore::whatRunsIsToldAndCancelled()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}},
            {"strategy.zero", {"0", "1", "2", "3"}},
            {"training.recompute", {"none", "selective", "full"}},
            {"strategy.bucket_cap", {"1 MiB", "5 MiB", "25 MiB", "100 MiB", "400 MiB"}},
            {"training.sequence_length", {"256", "512", "1024"}}});
    QSignalSpy told(panel_.get(), &Panel::busyChanged);
    const auto cancel = [&] {
        QVERIFY(panel_->busy());
        QVERIFY(told.count() > 0);
        told.clear();
        panel_->cancel();
        QVERIFY(!panel_->busy());
        QVERIFY(told.count() > 0);
        told.clear();
    };
    panel_->start();
    QTRY_VERIFY_WITH_TIMEOUT(panel_->store().feasible_count() > 0, patience_ms);
    cancel();
    QVERIFY(panel_->store().size() < 720); // what was found is kept
    // The comparison.
    ComparePanel& compare = panel_->compare();
    panel_->pin(rows().point(0));
    cancel();
    QTest::qWait(200);
    QVERIFY(compare.table().rows.empty());
    bool said = false;
    for (const QLabel* const label : compare.findChildren<QLabel*>())
        said = said || label->text().startsWith(QStringLiteral("Cancelled"));
    QVERIFY(said);
    workspace_->simulate_again();
    QTRY_VERIFY_WITH_TIMEOUT(compare.table().rows.size() > 3 && !panel_->busy(), patience_ms);
    // What there is to sweep.
    QVERIFY(!workspace_->document().set("training.sequence_length", "512"));
    workspace_->live().cancel();
    cancel();
    QTest::qWait(200);
    panel_->start(); // of what?
    QVERIFY(!panel_->job().running());
    workspace_->simulate_again();
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current() && !panel_->busy(), patience_ms);
    panel_->start();
    QVERIFY(panel_->job().running());
    panel_->cancel();
}

void TestExplore::pinsAreComparedOnlyInSight()
{
    choose({{"training.micro_batch", {"1", "2"}}});
    sweep();
    panel_->set_in_sight(false);
    panel_->pin(rows().point(0));
    QVERIFY(!panel_->busy());
    panel_->set_in_sight(true);
    QVERIFY(panel_->compare().busy());
    QTRY_VERIFY_WITH_TIMEOUT(panel_->compare().table().rows.size() > 3, patience_ms);
}

void TestExplore::aSessionKeepsRangesAxesAndPins()
{
    choose({{"training.micro_batch", {"2", "4"}}, {"strategy.cp", {"1", "4"}}});
    sweep();
    panel_->pin(rows().point(0));
    ScatterChoice axes;
    axes.x = QStringLiteral("bubble");
    axes.log_y = true;
    panel_->scatter().set_choice(axes);
    const ExploreState state = panel_->state();
    QCOMPARE(state.swept.size(), std::size_t{2});
    QCOMPARE(state.pins.size(), std::size_t{1});
    const Json json = to_json(state);
    QVERIFY(explore_state_from(json) == state);
    // Another window, which does not know yet what there is to sweep.
    ExplorePanel other(*workspace_);
    other.restore(explore_state_from(json));
    QVERIFY(other.state() == state);
    QTRY_VERIFY_WITH_TIMEOUT(!other.ranges().empty(), patience_ms);
    QVERIFY(other.state() == state);
    // What is no such thing is left out.
    QVERIFY(explore_state_from(Json("nonsense")) == ExploreState{});
    QVERIFY(explore_state_from(Json::Object{{"pins", 3}, {"swept", "x"}}).pins.empty());
}

void TestExplore::everyPictureHasItsSize()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.cp", {"1", "2", "4"}}});
    sweep();
    panel_->pin(rows().point(0));
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->busy(), patience_ms);
    for (const Theme theme : {Theme::light, Theme::dark}) {
        panel_->setPalette(palette_of(theme));
        for (Panel* const part : panel_->parts())
            for (const QSize size : {QSize(400, 300), QSize(2000, 1500)})
                QVERIFY2(test::fills_picture(*part, size), qPrintable(part->key()));
    }
}

QTEST_MAIN(TestExplore)
#include "test_explore.moc"

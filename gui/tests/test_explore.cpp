// The explorer as people use it: keyboard and mouse, without a display.

#include "gui/model/form.h"
#include "gui/tests/explore_fixture.h"
#include "gui/tests/found_points.h"
#include "gui/tests/painted_picture.h"
#include "gui/tests/window_test.h"
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
#include <QTimer>
#include <QToolButton>
#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;

class TestExplore : public test::ExploreFixture {
    Q_OBJECT

private slots:
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
    void everyPictureHasItsSize();
};

void TestExplore::rowsKeepTheirOrderWhileTheyGrow()
{
    PointStore store;
    const Marks marks;
    PointsModel model(store, marks);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    store.reset(test::some_grid(10));
    model.restart(metrics_of(store.grid(), WorkUnit::tokens, {}));
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
        QVERIFY(store.figure(point, "step_time_s") >= before);
        before = store.figure(point, "step_time_s");
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
    model.restart(metrics_of(store.grid(), WorkUnit::tokens, {}));
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
    const std::uint32_t point = first_point();
    Document document;
    document.load(workspace_->document().json(), workspace_->document().file());
    document.reset("strategy.dp");
    for (const Override& change : store.grid().point(store.index(point)))
        QVERIFY(!document.set(change.field, change.value));
    Session session;
    const Outcome outcome = session.simulate(document.read().value()).value();
    QCOMPARE(store.figure(point, "step_time_s"), outcome.step_time.value.value());
    QCOMPARE(store.figure(point, "peak_memory_bytes"),
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
    const std::uint32_t point = first_point();
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
    const std::uint32_t point = first_point();
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
    panel_->marks().set_current(first_point());
    const std::uint32_t first = first_point();
    workspace_->set_price({3.0, QStringLiteral("USD")});
    QVERIFY(column(QStringLiteral("Cost per day")) > 0);
    QCOMPARE(rows().shown_count(), shown);
    QCOMPARE(first_point(), first);
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
    QVERIFY(panel_->store().figure(first_point(), "tokens_per_s_per_gpu") >=
            panel_->store().figure(rows().point(1), "tokens_per_s_per_gpu"));
    // The larger batch takes longer, and yet is the better one.
    QVERIFY(panel_->store().figure(first_point(), "step_time_s") >
            panel_->store().figure(rows().point(1), "step_time_s"));
}

void TestExplore::everyPictureHasItsSize()
{
    choose({{"training.micro_batch", {"1", "2", "4", "8"}}, {"strategy.cp", {"1", "2", "4"}}});
    sweep();
    panel_->pin(first_point());
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->busy(), patience_ms);
    for (const Theme theme : {Theme::light, Theme::dark}) {
        panel_->setPalette(palette_of(theme));
        for (Panel* const part : panel_->parts())
            for (const QSize size : {QSize(400, 300), QSize(2000, 1500)})
                QVERIFY2(test::fills_picture(*part, size), qPrintable(part->key()));
    }
}

TRAINYARD_WINDOW_TEST(TestExplore, QApplication)
#include "test_explore.moc"

// The planner by keyboard and mouse: what is asked, answered and opened.

#include "gui/tests/plan_fixture.h"
#include "sim/base/field_values.h"
#include "sim/base/files.h"
#include "sim/base/units.h"

#include <QComboBox>
#include <QFileDialog>
#include <QMenu>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>

using namespace trainyard;
using namespace trainyard::gui;

class TestPlanPanel : public test::PlanFixture {
    Q_OBJECT

private slots:
    void theBestLayoutIsFoundAndOpenedAsOneChange();
    void whichOfTwoClustersIsCheaperIsAFewClicks();
    void aDotIsPickedAndOpened();
    void rowsAndDotsArePickedTogether();
    void aRowIsPinnedAndCompared();
    void theMenuOffersWhatCanBeDone();
    void rowsAreWrittenAsScenariosAndSettings();
    void filesAreNamedAfterWhatTheyHold();
    void theLegendTellsWhatIsBest();
    void priceAndTokensOfTheWindowStandInTheForm();
};

void TestPlanPanel::theBestLayoutIsFoundAndOpenedAsOneChange()
{
    plan();
    const ShownPlan& shown = *panel_->plan();
    QVERIFY(part<QLabel>("plan/headline").text().startsWith(QStringLiteral("Best: ")));
    auto& view = part<QTableView>("plan/rows");
    QCOMPARE(view.model()->rowCount(), static_cast<int>(shown.entries.size()));
    const Json before = workspace_->document().json();
    view.setFocus();
    view.setCurrentIndex(view.model()->index(0, 0));
    QTest::keyClick(&view, Qt::Key_Return);
    QVERIFY(!(workspace_->document().json() == before));
    QVERIFY(!panel_->stale()); // of what it was asked of, and of what it opened
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    // The step is the one that was told.
    QCOMPARE(workspace_->run()->summary.step_time.value.value(), *shown.entries.front().step_s);
    workspace_->document().undo_stack().undo();
    QVERIFY(workspace_->document().json() == before);
    QVERIFY(!workspace_->document().undo_stack().canUndo());
    // A double click does it too.
    const QRect cell = view.visualRect(view.model()->index(1, 0));
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, cell.center());
    QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, cell.center());
    QVERIFY(!(workspace_->document().json() == before));
}

void TestPlanPanel::whichOfTwoClustersIsCheaperIsAFewClicks()
{
    ask_for_clusters();
    QTest::keyClick(&part<QLineEdit>("plan/price/1"), Qt::Key_Tab);
    plan();
    const QString answer = part<QLabel>("plan/headline").text();
    QVERIFY2(answer.startsWith(QStringLiteral("Cheapest: ")), qPrintable(answer));
    QCOMPARE(panel_->plan()->entries.size(), std::size_t{2});
    QVERIFY(cell(0, "cost [$]").toDouble() < cell(1, "cost [$]").toDouble());
    QVERIFY(answer.contains(panel_->plan()->entries.front().name));
    // What was found is told in the currency of the prices.
    Price price = workspace_->price();
    price.currency = QStringLiteral("EUR");
    workspace_->set_price(price);
    QVERIFY(part<QLabel>("plan/headline").text().contains(QStringLiteral(", EUR ")));
    for (const QLabel* const label : panel_->findChildren<QLabel*>())
        QVERIFY2(!label->text().contains('$'), qPrintable(label->text()));
    QVERIFY(cell(0, "cost [EUR]").toDouble() < cell(1, "cost [EUR]").toDouble());
    // Opened, the scenario is of that cluster and model.
    panel_->open(0);
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->current(), patience_ms);
    QCOMPARE(workspace_->run()->summary.gpus,
             static_cast<int>(*panel_->plan()->entries.front().gpus));
    QCOMPARE(workspace_->run()->outcome->job.model.name, std::string("gpt2-xl"));
    QVERIFY(answer.contains(QStringLiteral(" more)")));
}

void TestPlanPanel::aDotIsPickedAndOpened()
{
    plan();
    auto* const chart = panel_->findChild<PlanChart*>(QStringLiteral("plan-chart"));
    QVERIFY(chart->isVisible());
    QTest::qWait(50); // painted, its axes are where they are
    const auto place = chart->place_of(0);
    QVERIFY(place);
    const Json before = workspace_->document().json();
    QTest::mouseClick(&chart->chart(), Qt::LeftButton, {}, place->toPoint());
    auto& view = part<QTableView>("plan/rows");
    QCOMPARE(view.currentIndex().row(), 0);
    QTest::keyClick(&chart->chart(), Qt::Key_Return);
    QVERIFY(!(workspace_->document().json() == before));
}

void TestPlanPanel::rowsAndDotsArePickedTogether()
{
    plan();
    auto* const chart = panel_->findChild<PlanChart*>(QStringLiteral("plan-chart"));
    auto& view = part<QTableView>("plan/rows");
    QSignalSpy picked(chart, &PlanChart::picked);
    chart->chart().setFocus();
    QTest::keyClick(&chart->chart(), Qt::Key_Right);
    QTest::keyClick(&chart->chart(), Qt::Key_Right);
    QCOMPARE(picked.count(), 2);
    const auto entry = picked.last().front().value<std::size_t>();
    const auto* const rows = panel_->findChild<PlanRows*>();
    QCOMPARE(rows->entry(view.currentIndex().row()), entry);
    // Sorted otherwise the same one stays picked.
    view.sortByColumn(1, Qt::DescendingOrder);
    QCOMPARE(rows->entry(view.currentIndex().row()), entry);
}

void TestPlanPanel::aRowIsPinnedAndCompared()
{
    plan();
    QSignalSpy compared(panel_.get(), &PlanPanel::compareWanted);
    auto& view = part<QTableView>("plan/rows");
    view.setFocus();
    view.setCurrentIndex(view.model()->index(1, 0));
    QTest::keyClick(&view, Qt::Key_P);
    QCOMPARE(compared.count(), 1);
    const Pin pin = compared.front().front().value<Pin>();
    QCOMPARE(pin.name, panel_->plan()->entries[1].name);
    QTest::keyClick(&view, Qt::Key_B);
    QTRY_VERIFY_WITH_TIMEOUT(workspace_->baseline() != nullptr, patience_ms);
    QVERIFY(workspace_->baseline()->file->json == pin.scenario);
    // The open scenario itself is nothing to open.
    const int own = view.model()->rowCount() - 1;
    view.setCurrentIndex(view.model()->index(own, 0));
    QVERIFY(panel_->plan()->entries.back().own);
    QTest::keyClick(&view, Qt::Key_Return);
    QVERIFY(!workspace_->document().undo_stack().canUndo());
}

void TestPlanPanel::theMenuOffersWhatCanBeDone()
{
    plan();
    panel_->show_menu(0, panel_->mapToGlobal(QPoint(10, 10)));
    auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QVERIFY(menu != nullptr);
    QStringList names;
    for (const QAction* const action : menu->actions())
        if (!action->isSeparator())
            names << action->text().section('\t', 0, 0);
    QVERIFY(names.contains(QStringLiteral("Open")));
    QVERIFY(names.contains(QStringLiteral("Export the settings of megatron ...")));
    QTest::keyClick(menu, Qt::Key_Down);
    QTest::keyClick(menu, Qt::Key_Return); // Open
    QVERIFY(workspace_->document().undo_stack().canUndo());
}

void TestPlanPanel::rowsAreWrittenAsScenariosAndSettings()
{
    plan();
    const QTemporaryDir folder;
    const std::string scenario = folder.filePath("best.json").toStdString();
    panel_->export_to(0, std::nullopt, scenario);
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->busy(), patience_ms);
    Document written;
    QVERIFY(written.open(scenario).empty());
    QVERIFY(written.read().has_value());
    const std::string settings = folder.filePath("best.sh").toStdString();
    panel_->export_to(0, JobKind::megatron, settings);
    QTRY_VERIFY_WITH_TIMEOUT(!panel_->busy(), patience_ms);
    QVERIFY(read_file(settings).find("--tensor-model-parallel-size") != std::string::npos);
    // A folder that is not there.
    QSignalSpy told(panel_.get(), &PlanPanel::told);
    panel_->export_to(0, std::nullopt, folder.filePath("none/best.json").toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, patience_ms);
}

void TestPlanPanel::filesAreNamedAfterWhatTheyHold()
{
    plan();
    panel_->show_menu(0, panel_->mapToGlobal(QPoint(10, 10)));
    auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QVERIFY(menu != nullptr);
    QStringList proposed;
    for (QAction* const action : menu->actions())
        if (action->text().startsWith(QStringLiteral("Export"))) {
            QTimer::singleShot(0, [&] {
                auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
                proposed << QFileInfo(dialog->selectedFiles().value(0)).fileName();
                dialog->reject();
            });
            action->trigger();
        }
    menu->close();
    const QString name = QString::fromStdString(panel_->plan()->entries.front().scenario->name);
    QVERIFY(!name.isEmpty() && !name.endsWith(QStringLiteral(".json")));
    QCOMPARE(proposed.front(), name + ".json");
    QVERIFY(proposed.contains(name + "-megatron"));
    // One for each format, none twice.
    QCOMPARE(proposed.size(), qsizetype(FieldValue<JobKind>::names().size() + 1));
    QCOMPARE(proposed.removeDuplicates(), 0);
}

void TestPlanPanel::theLegendTellsWhatIsBest()
{
    auto& chart = panel_->findChild<PlanChart*>(QStringLiteral("plan-chart"))->chart();
    QVERIFY(!chart.legend->visible()); // there is no plan yet
    plan();
    QVERIFY(chart.legend->visible());
    QStringList names;
    for (int i = 0; i < chart.legend->itemCount(); ++i)
        names << qobject_cast<QCPPlottableLegendItem*>(chart.legend->item(i))->plottable()->name();
    QCOMPARE(names.last(), QStringLiteral("best"));
    QCOMPARE(names.removeDuplicates(), 0);
    // A ring, as around the dot that it tells of.
    const auto* const best = qobject_cast<QCPGraph*>(
        qobject_cast<QCPPlottableLegendItem*>(chart.legend->item(int(names.size()) - 1))
            ->plottable());
    QCOMPARE(best->scatterStyle().shape(), QCPScatterStyle::ssCircle);
    QCOMPARE(best->scatterStyle().brush().style(), Qt::NoBrush);
    QVERIFY(best->data()->isEmpty());
}

void TestPlanPanel::priceAndTokensOfTheWindowStandInTheForm()
{
    const auto notes = [&] {
        int count = 0;
        for (const QLabel* const one : panel_->findChildren<QLabel*>("plan/as-in-headline"))
            count += one->isVisible() ? 1 : 0;
        return count;
    };
    QCOMPARE(notes(), 0);
    workspace_->set_price({2.5, "USD", 2.5e12});
    QCOMPARE(part<QLineEdit>("plan/price").text(), QString("2.5/h"));
    QCOMPARE(part<QLineEdit>("plan/tokens").text(), QString("2.5T"));
    QCOMPARE(notes(), 2);
    // A text of one's own stays, and says that it is.
    type("plan/price", "3/h");
    QCOMPARE(notes(), 1);
    workspace_->set_price({4, "USD", 2e12});
    QCOMPARE(part<QLineEdit>("plan/price").text(), QString("3/h"));
    QCOMPARE(part<QLineEdit>("plan/tokens").text(), QString("2T"));
    type("plan/tokens", ""); // a step alone
    workspace_->set_price({4, "USD", 3e12});
    QVERIFY(part<QLineEdit>("plan/tokens").text().isEmpty());
    type("plan/tokens", "20B");
    // The price of the scenario's devices is no other cluster's.
    auto& kind = part<QComboBox>("plan/kind");
    kind.setFocus();
    QTest::keyClick(&kind, Qt::Key_Down);
    QCOMPARE(part<QLineEdit>("plan/cluster/0").text(), QString("this"));
    QCOMPARE(part<QLineEdit>("plan/price/0").text(), QString("4/h"));
    QCOMPARE(notes(), 1);
    type("plan/cluster/0", "16xa100");
    QCOMPARE(notes(), 0);
}

TRAINYARD_WINDOW_TEST(TestPlanPanel, QApplication)
#include "test_plan_panel.moc"

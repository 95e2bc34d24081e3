// What new users come for, from the start page to the answer: every click, choice and typed field
// counts.

#include "gui/new/model_list.h"
#include "gui/new/new_job_page.h"
#include "gui/plan/plan_panel.h"
#include "gui/tests/clicks.h"
#include "gui/tests/window_fixture.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <algorithm>

using namespace trainyard;
using namespace trainyard::gui;

class TestJourneys : public test::WindowFixture {
    Q_OBJECT

private slots:
    void aClusterIsPlannedFromNothing();
    void theCheaperOfTwoClustersIsFound();

private:
    NewJobPage& page() { return *window_->findChild<NewJobPage*>(); }
    PlanPanel& planner() { return *window_->findChild<PlanPanel*>(); }
    template <class Widget>
    Widget* part(const char* name)
    {
        return window_->findChild<Widget*>(QLatin1String(name));
    }
    bool all_settled()
    {
        return QTest::qWaitFor(
            [&] {
                const auto* const page = window_->findChild<NewJobPage*>();
                return (page == nullptr || !page->busy()) && !window_->busy();
            },
            patience_ms);
    }
    // The best of what was found.
    bool open_first(test::Clicks& clicks)
    {
        auto* const rows = part<QTableView>("plan/rows");
        if (!QTest::qWaitFor([&] { return !rows->visibleRegion().isEmpty(); }, patience_ms))
            return false;
        const QString first = rows->model()->index(0, 0).data().toString();
        if (!clicks.pick(rows, first))
            return false;
        QTest::keyClick(rows, Qt::Key_Return);
        return settled();
    }
};

// 128 H100 for Llama 3.1 70B, with the best layout there is, without a file of one's own.
void TestJourneys::aClusterIsPlannedFromNothing()
{
    test::Clicks clicks;
    QVERIFY(clicks.click("Plan a cluster"));
    QVERIFY(all_settled());
    QVERIFY(clicks.pick(&page().model().list(), "llama-3.1-70b"));
    QVERIFY(clicks.type(page().findChild<QLineEdit*>("nodes"), "16"));
    QVERIFY(all_settled());
    QVERIFY(clicks.click("Create"));
    QVERIFY(all_settled());
    QVERIFY(window_->workspace().current());
    QVERIFY(window_->panel("plan")->in_sight());
    QTRY_VERIFY_WITH_TIMEOUT(planner().checked(), patience_ms);
    const double first = window_->workspace().run()->summary.step_time.value.value();
    QVERIFY(clicks.click(part<QPushButton>("plan/start")));
    QVERIFY(all_settled());
    QVERIFY(planner().plan() != nullptr);
    QVERIFY(open_first(clicks));
    const RunFigures& best = window_->workspace().run()->summary;
    QCOMPARE(best.gpus, 128);
    QVERIFY(best.fits);
    QVERIFY(best.step_time.value.value() <= first);
    QVERIFY2(clicks.count() <= 12, qPrintable(QString::number(clicks.count())));
}

// Which is cheaper for 2 T tokens, 256 H100 or 144 GB200?
void TestJourneys::theCheaperOfTwoClustersIsFound()
{
    open("scenarios/llama3-8b-h100-8.json");
    test::Clicks clicks;
    window_->show_panel(QStringLiteral("plan"));
    QVERIFY(clicks.choose(part<QComboBox>("plan/kind"), part<QComboBox>("plan/kind")->itemText(1)));
    QVERIFY(clicks.type(part<QLineEdit>("plan/tokens"), "2T"));
    QVERIFY(clicks.type(part<QLineEdit>("plan/cluster/0"), "256xh100"));
    QVERIFY(clicks.type(part<QLineEdit>("plan/price/0"), "2.5/h"));
    QVERIFY(clicks.click(part<QToolButton>("plan/add")));
    QVERIFY(clicks.type(part<QLineEdit>("plan/cluster/1"), "144xgb200"));
    QVERIFY(clicks.type(part<QLineEdit>("plan/price/1"), "4.5/h"));
    QTRY_VERIFY_WITH_TIMEOUT(planner().checked(), patience_ms);
    QVERIFY(clicks.click(part<QPushButton>("plan/start")));
    QVERIFY(all_settled());
    QVERIFY(planner().plan() != nullptr);
    const QString answer = part<QLabel>("plan/headline")->text();
    QVERIFY2(answer.startsWith(QStringLiteral("Cheapest: ")), qPrintable(answer));
    QCOMPARE(planner().plan()->entries.size(), std::size_t{2});
    for (const PlanEntry& entry : planner().plan()->entries)
        QVERIFY(entry.cost && entry.days && *entry.cost > 0);
    QVERIFY(open_first(clicks));
    const auto& entries = planner().plan()->entries;
    const PlanEntry& cheapest = *std::ranges::min_element(entries, {}, &PlanEntry::cost);
    // The layout may leave some of its GPUs idle.
    const Outcome& outcome = *window_->workspace().run()->outcome;
    QVERIFY(outcome.job.world() <= static_cast<int>(*cheapest.gpus));
    const std::string& device = outcome.cost->profile().hardware.device.name;
    QCOMPARE(device.find("GB200") != std::string::npos, *cheapest.gpus == 144);
    QVERIFY2(clicks.count() <= 12, qPrintable(QString::number(clicks.count())));
}

TRAINYARD_WINDOW_TEST(TestJourneys, QApplication)
#include "test_journeys.moc"

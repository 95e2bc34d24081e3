// The report: what the command line prints, made only while it is in sight.

#include "gui/model/qt_text.h"
#include "gui/report/report_panel.h"
#include "gui/tests/window_test.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::gui;

class TestReport : public QObject {
    Q_OBJECT

private slots:
    void itIsWhatSimulatePrints();
    void outOfSightNothingIsSimulated();

private:
    static constexpr auto scenario = "scenarios/llama2-7b-tp2-pp2-dp2.json";
    static constexpr auto perturbations = R"([{"device": 5, "slowdown": 1.4}])";
};

namespace {

// Without the last line, which says how long the engine took.
QString lasting(const QString& report)
{
    const qsizetype end = report.lastIndexOf(QStringLiteral("alpha-beta"));
    return report.left(end);
}

} // namespace

void TestReport::itIsWhatSimulatePrints()
{
    Workspace workspace;
    ReportPanel panel(workspace);
    panel.resize(1000, 700);
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel));
    QVERIFY(workspace.document().open(scenario).empty());
    QVERIFY(!workspace.document().set("perturbations", perturbations));
    QTRY_VERIFY_WITH_TIMEOUT(!panel.text().isEmpty(), patience_ms);
    Session session;
    const auto printed = simulate_scenario(*workspace.run()->file, {}, session);
    QVERIFY(printed);
    const auto& step = std::get<Simulation>(*printed);
    // Who sets the pace and how it scales are part of it.
    for (const char* const said : {"Rank 5 sets the pace", "scaling efficiency from", "Memory"})
        QVERIFY2(panel.text().contains(QString::fromLatin1(said)), said);
    // As wide as the view.
    bool same = false;
    for (std::size_t width = 80; width < 200 && !same; ++width)
        same = lasting(panel.text()) == lasting(text_of(report_text(step, width)));
    QVERIFY2(same, qPrintable(panel.text()));
    // Its table has the figures.
    const TableData table = panel.table();
    const auto found = std::ranges::find_if(
        table.rows, [](const QStringList& row) { return row[0] == QStringLiteral("step_time_s"); });
    QVERIFY(found != table.rows.end());
    QVERIFY(qFuzzyCompare((*found)[1].toDouble(), step.summary.step_time.value.value()));
}

void TestReport::outOfSightNothingIsSimulated()
{
    Workspace workspace;
    ReportPanel panel(workspace);
    panel.set_in_sight(false);
    QVERIFY(workspace.document().open(scenario).empty());
    QTRY_VERIFY_WITH_TIMEOUT(workspace.current(), patience_ms);
    QVERIFY(!panel.busy());
    panel.set_in_sight(true);
    QVERIFY(panel.busy());
    panel.cancel();
    QVERIFY(!panel.busy());
    QVERIFY(panel.text().isEmpty());
}

TRAINYARD_WINDOW_TEST(TestReport, QApplication)
#include "test_report.moc"

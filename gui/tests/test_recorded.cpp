// Traces of a job that ran, beside the simulated step of the same job.

#include "gui/recorded/recorded_panel.h"
#include "gui/recorded/recorded_rows.h"
#include "gui/tests/clicks.h"
#include "gui/tests/file_answers.h"
#include "gui/tests/window_fixture.h"
#include "sim/base/files.h"

#include <QDir>
#include <QDockWidget>
#include <QDropEvent>
#include <QLabel>
#include <QMimeData>
#include <QTableView>
#include <fstream>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const std::string trace_folder = "tests/golden/data/traces/";
// Of the job that rank0.json and rank1.json were recorded of.
constexpr const char* same_job =
    R"({"format": "trainyard.scenario/1", "model": "llama-3.2-1b", "strategy": {"dp": 2},
 "topology": {"format": "trainyard.topology/1", "generator": "cluster", "nodes": 1,
              "node": {"preset": "hgx-h100-4", "gpus": 2}},
 "training": {"sequence_length": 128, "micro_batch": 1, "global_batch": 2}})";

// The first row of the table whose second cell reads so.
QStringList row_about(const TableData& table, const QString& what)
{
    for (const QStringList& row : table.rows)
        if (row.value(1) == what)
            return row;
    return {};
}

} // namespace

class TestRecorded : public test::WindowFixture {
    Q_OBJECT

private slots:
    void aTraceIsOpenedWithoutAScenario();
    void theRanksOfOneGestureAreOneJob();
    void theSimulatedStepLiesBelowTheRecordedOne();
    void theJobOfAnotherScenarioStandsAloneAndSaysWhy();
    void aFolderIsOpenedWhole();
    void anExecutionTraceHasTablesOnly();
    void whatCannotBeReadChangesNothing();
    void readingIsCancelledByEscape();
    void theReportIsWrittenAsTheCommandWritesIt();
    void aSessionFindsItsTraces();
    void fromATraceToASideBySideByMouseAndKeyboard();

private:
    RecordedPanel& panel()
    {
        return *static_cast<RecordedPanel*>(window_->panel(QStringLiteral("recorded")));
    }
    const RecordedView& view() { return *panel().recording().view(); }
    void open_job()
    {
        write_file(path("job.json"), same_job);
        open(path("job.json"));
        QVERIFY(window_->workspace().current());
    }
    void open_ranks()
    {
        QVERIFY(window_->open({trace_folder + "rank0.json", trace_folder + "rank1.json"}));
        QVERIFY(settled());
    }
    Panel* part(const QString& key)
    {
        for (Panel* const one : panel().parts())
            if (one->key() == key)
                return one;
        return nullptr;
    }
};

void TestRecorded::aTraceIsOpenedWithoutAScenario()
{
    QVERIFY(panel().recording().view() == nullptr);
    open(trace_folder + "rank0.json");
    QVERIFY(panel().isVisible());
    QVERIFY(panel().in_sight());
    QVERIFY(!view().sides);
    QVERIFY(view().alone.empty()); // nothing to be compared with
    QVERIFY(panel().headline().contains(QStringLiteral("Recorded 1 rank of 2")));
    QCOMPARE(panel().table().rows.size(), std::size_t{1});
    // 1 ms from the beginning of the annotated step, on the axis from 0.
    QVERIFY(panel().canvas().model() != nullptr);
    QCOMPARE(panel().canvas().model()->data.origin, SimTime(0));
    QCOMPARE(panel().canvas().model()->data.whole.to, SimTime(1'000'000'000));
    QVERIFY(!window_->workspace().document().modified());
}

void TestRecorded::theRanksOfOneGestureAreOneJob()
{
    open_ranks();
    QCOMPARE(view().recorded->job.ranks.size(), std::size_t{2});
    QCOMPARE(panel().table().rows.size(), std::size_t{2});
    // What is opened later takes its place; what is added does not.
    open(trace_folder + "rank1.json");
    QCOMPARE(view().recorded->files.size(), std::size_t{1});
    panel().recording().add({trace_folder + "rank0.json", trace_folder + "rank1.json"});
    QVERIFY(settled());
    QCOMPARE(view().recorded->files.size(), std::size_t{2});
    // A drop is one gesture, too.
    panel().recording().close();
    QVERIFY(panel().recording().view() == nullptr);
    QMimeData data;
    QList<QUrl> urls;
    for (const char* name : {"rank0.json", "rank1.json"})
        urls << QUrl::fromLocalFile(
            QDir::current().absoluteFilePath(QString::fromStdString(trace_folder) + name));
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(20, 20), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(window_.get(), &enter);
    QDropEvent dropped(QPointF(20, 20), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(window_.get(), &dropped);
    QVERIFY(settled());
    QCOMPARE(view().recorded->job.ranks.size(), std::size_t{2});
}

void TestRecorded::theSimulatedStepLiesBelowTheRecordedOne()
{
    open_job();
    open_ranks();
    QVERIFY(view().sides.has_value());
    const TimelineModel& model = *panel().canvas().model();
    const TimelineData& data = model.data;
    // rank 0 recorded, rank 0 simulated, rank 1 recorded: each with its streams below.
    std::vector<std::string> ranks;
    SimTime first_recorded = data.whole.to;
    for (const Track& track : data.tracks) {
        if (track.kind == TrackKind::rank)
            ranks.push_back(track.name + " " + track.detail.substr(0, track.detail.find(',')));
        else
            QVERIFY(track.parent != nothing && data.tracks[track.parent].run == track.run);
        if (track.row == nothing)
            continue;
        const SliceRow& row = data.rows[track.row];
        QCOMPARE(&data.tracks[row.track], &track);
        if (track.run == recorded_run)
            first_recorded = std::min(first_recorded, data.slices.start[row.first]);
        for (std::uint32_t s = row.first + 1; s < row.end(); ++s)
            QVERIFY(data.slices.start[s] >= data.slices.end[s - 1]);
    }
    QVERIFY(ranks.size() >= 3);
    QCOMPARE(ranks[0], std::string("rank 0 recorded"));
    QCOMPARE(ranks[1], std::string("rank 0 simulated"));
    QCOMPARE(ranks[2], std::string("rank 1 recorded"));
    // Both begin together: the recorded step's beginning is the simulated one's.
    QCOMPARE(first_recorded, data.origin);
    QCOMPARE(data.origin, model.runs.front()->origin);
    // A simulated op knows its causes, a recorded one its kernel.
    const QStringList step = row_about(panel().table(), QStringLiteral("step"));
    QCOMPARE(step.value(2), QStringLiteral("1.000"));
    QVERIFY(std::abs(step.value(3).toDouble() - view().sides->simulated.value() * 1e3) < 1e-3);
    QVERIFY(step.value(4).toDouble() > 0);
    QVERIFY(!row_about(panel().table(), QStringLiteral("all_reduce, DP")).isEmpty());
    // Another scenario, another simulated step; the recorded one stays.
    const double before = step.value(3).toDouble();
    QVERIFY(!window_->workspace().document().set("training.sequence_length", "256"));
    QVERIFY(settled());
    const QStringList longer = row_about(panel().table(), QStringLiteral("step"));
    QCOMPARE(longer.value(2), step.value(2));
    QVERIFY(longer.value(3).toDouble() > before);
}

void TestRecorded::theJobOfAnotherScenarioStandsAloneAndSaysWhy()
{
    open(eight);
    open_ranks();
    QVERIFY(!view().sides);
    QVERIFY(has_errors(view().alone));
    for (const char* words : {"2 ranks", "8"})
        QVERIFY2(panel().headline().contains(QLatin1String(words)), qPrintable(panel().headline()));
    QVERIFY(panel().canvas().model() != nullptr);
    QVERIFY(panel().canvas().model()->runs.empty());
    QVERIFY(!has_errors(window_->workspace().problems())); // the scenario is not wrong
}

void TestRecorded::aFolderIsOpenedWhole()
{
    std::filesystem::create_directory(path("run"));
    for (const char* name : {"rank0.json", "rank1.json"})
        std::filesystem::copy(trace_folder + name, path("run") + "/" + name);
    write_file(path("run") + "/notes.txt", "not a trace\n");
    write_file(path("run") + "/job.json", same_job);
    open(path("run"));
    QCOMPARE(view().recorded->job.ranks.size(), std::size_t{2});
    std::filesystem::create_directory(path("none"));
    QVERIFY(!window_->open(path("none")));
    QVERIFY(has_errors(window_->refused()));
    QVERIFY(panel().recording().view() != nullptr);
}

void TestRecorded::anExecutionTraceHasTablesOnly()
{
    open(trace_folder + "graph.0.et");
    QVERIFY(view().timeline == nullptr);
    QVERIFY(panel().canvas().model() == nullptr);
    QCOMPARE(panel().table().rows.size(), std::size_t{1});
    open(trace_folder + "report.sqlite");
    QVERIFY(view().timeline != nullptr);
    open(trace_folder + "jsonizer.json");
    QVERIFY(view().timeline == nullptr);
}

void TestRecorded::whatCannotBeReadChangesNothing()
{
    open(trace_folder + "rank0.json");
    const auto before = panel().recording().view();
    std::string cut = read_file(trace_folder + "rank1.json");
    write_file(path("cut.json"), cut.substr(0, cut.size() / 2));
    QVERIFY(window_->open(path("cut.json"))); // it is known to be a trace
    QVERIFY(settled());
    QVERIFY(has_errors(window_->refused()));
    QVERIFY(window_->refused().front().file.ends_with("cut.json"));
    QCOMPARE(panel().recording().view(), before);
    QVERIFY(!window_->open(path("missing.json")));
    QCOMPARE(panel().recording().view(), before);
}

void TestRecorded::readingIsCancelledByEscape()
{
    {
        std::ofstream out(path("long.json"));
        out << R"({"schemaVersion": 1, "traceEvents": [)";
        for (int i = 0; i < 400'000; ++i)
            out << R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" << i
                << R"(, "dur": 1, "args": {"device": 0, "stream": 7, "correlation": )" << i
                << "}},\n";
        out << R"({"ph": "M", "name": "process_name"}]})";
    }
    QVERIFY(window_->open(path("long.json")));
    QVERIFY(panel().recording().busy());
    QTest::keyClick(window_.get(), Qt::Key_Escape);
    QVERIFY(!panel().recording().busy());
    QTest::qWait(50);
    QVERIFY(panel().recording().view() == nullptr);
    open(trace_folder + "rank0.json"); // the thread is free again
    QVERIFY(panel().recording().view() != nullptr);
}

void TestRecorded::theReportIsWrittenAsTheCommandWritesIt()
{
    open_job();
    open_ranks();
    panel().recording().save(path("run.json"));
    QVERIFY(settled());
    const Checked<Json> json = read_json_file(path("run.json"));
    QVERIFY(json.has_value());
    QCOMPARE(json->find("format")->as_string(), std::string("trainyard.recorded_run/1"));
    QVERIFY(json->find("beside")->is_object());
    panel().recording().save(path("run.html"));
    QVERIFY(settled());
    QVERIFY(read_file(path("run.html")).find("Beside the simulated step") != std::string::npos);
    panel().recording().save("/nowhere/at/all.json");
    QVERIFY(settled());
    QVERIFY(has_errors(window_->refused()));
    for (Panel* const one : panel().parts())
        for (const char* ending : {".png", ".svg", ".csv"})
            QVERIFY(window_->export_to(*one, path("part") + ending));
    QVERIFY(part(QStringLiteral("recorded-kernels"))->table().rows.size() > 1);
}

void TestRecorded::aSessionFindsItsTraces()
{
    open_job();
    open_ranks();
    QVERIFY(window_->save_session(path("s.trainyard.json")));
    restart();
    open(path("s.trainyard.json"));
    QCOMPARE(view().recorded->job.ranks.size(), std::size_t{2});
    QTRY_VERIFY_WITH_TIMEOUT(view().sides.has_value(), patience_ms);
}

// With the scenario open: the view's tab, its button, the names, Return.
void TestRecorded::fromATraceToASideBySideByMouseAndKeyboard()
{
    open_job();
    test::Clicks clicks;
    QVERIFY(clicks.tab(panel().title()));
    QVERIFY(panel().in_sight());
    const QDir here = QDir::current();
    const test::TypesIntoFileDialog answer(
        QStringLiteral("\"%1\" \"%2\"")
            .arg(here.absoluteFilePath(QString::fromStdString(trace_folder + "rank0.json")),
                 here.absoluteFilePath(QString::fromStdString(trace_folder + "rank1.json"))));
    QVERIFY(clicks.click(panel().findChild<QWidget*>("recorded/open")));
    QVERIFY(answer.answered());
    QVERIFY(settled());
    QVERIFY(view().sides.has_value());
    QCOMPARE(clicks.count(), 2);
    // An operation is pinned by a click and told; a row of the table is reached by its tab.
    TimelineCanvas& canvas = panel().canvas();
    std::uint32_t kernel = nothing;
    const TimelineData& data = canvas.model()->data;
    for (const SliceRow& row : data.rows)
        if (data.tracks[row.track].run == recorded_run &&
            data.tracks[row.track].kind == TrackKind::stream && kernel == nothing)
            kernel = row.first;
    QVERIFY(kernel != nothing);
    canvas.go_to(kernel);
    QCOMPARE(canvas.pinned(), kernel);
    QTest::keyClick(canvas.viewport(), Qt::Key_Right);
    QVERIFY(canvas.pinned() != nothing);
}

TRAINYARD_WINDOW_TEST(TestRecorded, QApplication)
#include "test_recorded.moc"

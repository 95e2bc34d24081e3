// The timeline's repaint and how long a large run takes to open. Run in the root of the source
// tree.

#include "gui/tests/random_rows.h"
#include "gui/timeline/scene.h"

#include <benchmark/benchmark.h>

#include <QApplication>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const QSize screen(1920, 1080);

// All of the picture, into memory.
void paint(const Scene& scene, QImage& image, PaintCache& cache)
{
    QPainter painter(&image);
    paint_scene(painter, scene, screen, cache);
}

// Another stretch of time, a little beside the one before: no row is known from the last repaint.
void move_in_time(Scene& scene)
{
    static int side = 1;
    side = -side;
    scene.range.from += SimTime(side * 1000);
    scene.range.to += SimTime(side * 1000);
}

// A million slices in `lanes` rows that fill the screen; the middle 1/zoom of them in sight.
void repaint(benchmark::State& state)
{
    const auto lanes = static_cast<std::uint32_t>(state.range(0));
    const TimelineModel model(test::random_rows(lanes, 1'000'000 / lanes, 1));
    TrackLayout layout(model.data);
    Scene scene;
    scene.model = &model;
    scene.layout = &layout;
    scene.path = true;
    layout.set_line_height(frame_of(scene, screen).body.height() / static_cast<int>(lanes));
    const TimeRange& whole = model.data.whole;
    const SimTime length = whole.length() / state.range(1);
    scene.range.from = whole.from + (whole.length() - length) / 2;
    scene.range.to = scene.range.from + length;
    QImage image(screen, QImage::Format_RGB32);
    PaintCache cache;
    for (auto _ : state) {
        move_in_time(scene);
        paint(scene, image, cache);
    }
    state.counters["slices"] = static_cast<double>(model.data.slices.size());
}
BENCHMARK(repaint)
    ->ArgsProduct({{64, 256}, {1, 30, 1'000, 30'000}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Repetitions(9)
    ->ReportAggregatesOnly();

// The same stretch of time again, as hovering, scrolling and the cursor repaint it.
void repaint_same(benchmark::State& state)
{
    const auto lanes = static_cast<std::uint32_t>(state.range(0));
    const TimelineModel model(test::random_rows(lanes, 1'000'000 / lanes, 1));
    TrackLayout layout(model.data);
    Scene scene;
    scene.model = &model;
    scene.layout = &layout;
    scene.path = true;
    scene.range = model.data.whole;
    layout.set_line_height(frame_of(scene, screen).body.height() / static_cast<int>(lanes));
    QImage image(screen, QImage::Format_RGB32);
    PaintCache cache;
    for (auto _ : state)
        paint(scene, image, cache);
}
BENCHMARK(repaint_same)
    ->Arg(64)
    ->Arg(256)
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(9)
    ->ReportAggregatesOnly();

// Llama-3.1-405B on `ranks` H100, each at a lane of its own, all ops of the last step recorded.
std::shared_ptr<const Outcome> large_run(std::int64_t ranks)
{
    ScenarioFile file = read_scenario_file("scenarios/llama3-405b-h100-16k.json").value();
    Scenario scenario = file.scenario;
    scenario.strategy.dp = static_cast<int>(ranks / 128);
    scenario.training.global_batch = 16 * ranks / 128;
    scenario.run.fold = false;
    scenario.run.steps = 2;
    file = scenario_in_memory(std::move(scenario), file.base, "bench");
    SimulateRequest request;
    request.record = RecordRequest{[](LaneId) { return true; }, 1};
    request.memory = AllocatorView::fullest_stage;
    Session session;
    return std::make_shared<const Outcome>(session.simulate(file, request).value());
}

// 128 ranks, a rank to a line, with the critical path and the messages in sight.
void repaint_run(benchmark::State& state)
{
    static const TimelineModel model({large_run(128)});
    TrackLayout layout(model.data);
    layout.set_all_open(TrackKind::group, true);
    Scene scene;
    scene.model = &model;
    scene.layout = &layout;
    scene.path = true;
    layout.set_line_height(frame_of(scene, screen).body.height() /
                           static_cast<int>(layout.lines().size()));
    const TimeRange& whole = model.data.whole;
    const SimTime length = whole.length() / state.range(0);
    scene.range.from = whole.from + (whole.length() - length) / 2;
    scene.range.to = scene.range.from + length;
    QImage image(screen, QImage::Format_RGB32);
    PaintCache cache;
    for (auto _ : state) {
        move_in_time(scene);
        paint(scene, image, cache);
    }
    state.counters["slices"] = static_cast<double>(model.data.slices.size());
    state.counters["lines"] = static_cast<double>(layout.lines().size());
}
BENCHMARK(repaint_run)
    ->Arg(1)
    ->Arg(30)
    ->Arg(1'000)
    ->Unit(benchmark::kMillisecond)
    ->Repetitions(9)
    ->ReportAggregatesOnly();

// From a run's records to its first picture.
void open(benchmark::State& state)
{
    const auto outcome = large_run(state.range(0));
    double slices = 0;
    double bytes = 0;
    for (auto _ : state) {
        const TimelineModel model({outcome});
        TrackLayout layout(model.data);
        Scene scene;
        scene.model = &model;
        scene.layout = &layout;
        scene.range = model.data.whole;
        scene.path = true;
        QImage image(screen, QImage::Format_RGB32);
        PaintCache cache;
        paint(scene, image, cache);
        slices = static_cast<double>(model.data.slices.size());
        bytes = 0;
        for (const RowPyramid& pyramid : model.pyramids)
            bytes += static_cast<double>(pyramid.buckets.size() * sizeof(Bucket));
    }
    state.counters["records"] = static_cast<double>(outcome->result->records.size());
    state.counters["slices"] = slices;
    state.counters["pyramid bytes per slice"] = bytes / slices;
}
BENCHMARK(open)
    ->Arg(128)
    ->Arg(1'536)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1)
    ->Repetitions(5)
    ->ReportAggregatesOnly();

} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}

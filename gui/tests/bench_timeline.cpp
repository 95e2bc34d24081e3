// The timeline's repaint and how long a large run takes to open. Run in the root of the source
// tree.

#include "gui/tests/random_rows.h"
#include "gui/timeline/scene.h"

#include <benchmark/benchmark.h>

#include <QApplication>
#include <ctime>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

const QSize screen(1920, 1080);

// CPU time of the painting thread by part, and of all threads.
class Parts {
public:
    // All of the picture, into memory.
    void paint(const Scene& scene, QImage& image, PaintCache& cache)
    {
        const double all_before = seconds(CLOCK_PROCESS_CPUTIME_ID);
        const SceneFrame frame = frame_of(scene, screen);
        QPainter painter(&image);
        painter.setFont(scene.font);
        at_ = seconds(CLOCK_THREAD_CPUTIME_ID);
        const std::vector<Line> lines = lines_in_sight(scene, frame).all();
        cache.rows.fill(*scene.model, scene.range, cells_of(frame, 1), lines);
        end(0);
        paint_rows(painter, scene, frame, cache);
        end(1);
        paint_overlays(painter, scene, frame);
        end(2);
        paint_counters(painter, scene, frame);
        paint_frame(painter, scene, frame);
        painter.end();
        end(3);
        all_ += seconds(CLOCK_PROCESS_CPUTIME_ID) - all_before;
    }

    void tell(benchmark::State& state) const
    {
        const auto mean = [](double sum) {
            return benchmark::Counter(1e3 * sum, benchmark::Counter::kAvgIterations);
        };
        for (std::size_t i = 0; i < sums_.size(); ++i)
            state.counters[names[i]] = mean(sums_[i]);
        state.counters["all threads"] = mean(all_);
    }

private:
    static constexpr std::array names{"1 cells", "2 rows", "3 overlays", "4 frame"};

    static double seconds(clockid_t clock)
    {
        timespec time{};
        clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    }

    void end(std::size_t part)
    {
        const double now = seconds(CLOCK_THREAD_CPUTIME_ID);
        sums_[part] += now - at_;
        at_ = now;
    }

    double at_ = 0;
    double all_ = 0;
    std::array<double, names.size()> sums_{};
};

// What changes from one repaint to the next.
enum class Change : std::uint8_t {
    zoom, // a little: no row is known from the last repaint
    pan,  // by 40 pixels
    none  // hovering, the cursor
};

void change(Scene& scene, Change what, std::int64_t turn)
{
    const SimTime length = scene.range.length();
    const std::int64_t side = turn % 2 == 0 ? 1 : -1;
    if (what == Change::zoom)
        scene.range.to += SimTime(side * std::max<std::int64_t>(1, length.value() / 1000));
    if (what == Change::pan) {
        const TimeScale scale = frame_of(scene, screen).scale(scene.range);
        scene.range = scale.panned(static_cast<double>(40 * side));
    }
}

void repeat(benchmark::State& state, Scene& scene, Change what)
{
    QImage image(screen, QImage::Format_RGB32);
    PaintCache cache;
    Parts().paint(scene, image, cache); // what is made once
    Parts parts;
    std::int64_t turn = 0;
    for (auto _ : state) {
        change(scene, what, turn++);
        parts.paint(scene, image, cache);
    }
    parts.tell(state);
    state.counters["slices"] = static_cast<double>(scene.model->data.slices.size());
}

void show_middle(Scene& scene, std::int64_t part)
{
    const TimeRange& whole = scene.model->data.whole;
    const SimTime length = whole.length() / part;
    scene.range.from = whole.from + (whole.length() - length) / 2;
    scene.range.to = scene.range.from + length;
}

// A million slices in `lanes` rows that fill the screen; the middle 1/zoom of them in sight.
void repaint(benchmark::State& state, Change what)
{
    const auto lanes = static_cast<std::uint32_t>(state.range(0));
    const TimelineModel model(test::random_rows(lanes, 1'000'000 / lanes, 1));
    TrackLayout layout(model.data);
    Scene scene;
    scene.model = &model;
    scene.layout = &layout;
    scene.path = true;
    layout.set_line_height(frame_of(scene, screen).body.height() / static_cast<int>(lanes));
    show_middle(scene, state.range(1));
    repeat(state, scene, what);
}
BENCHMARK_CAPTURE(repaint, zoom, Change::zoom)
    ->ArgsProduct({{64, 256}, {1, 30, 1'000, 30'000}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Repetitions(9)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(repaint, pan, Change::pan)
    ->ArgsProduct({{64, 256}, {30, 1'000}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Repetitions(9)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(repaint, same, Change::none)
    ->ArgsProduct({{64, 256}, {1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
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
    show_middle(scene, state.range(0));
    repeat(state, scene, Change::zoom);
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
        Parts().paint(scene, image, cache);
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

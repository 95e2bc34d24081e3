// How long the window is held up while 100,000 points arrive from a running sweep, and what one
// repaint, sort and filter of them cost. Run in the root of the source tree, on an idle machine.

#include "gui/explore/explore_panel.h"
#include "gui/widgets/theme.h"

#include <fmt/core.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QTimer>
#include <algorithm>
#include <functional>
#include <numeric>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

constexpr std::size_t wanted = 100'000;

double milliseconds(const QElapsedTimer& timer)
{
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

// Beats as often as the event loop lets it; what lies between two beats is how long the window did
// not answer.
class Heart : public QObject {
public:
    Heart()
    {
        connect(&timer_, &QTimer::timeout, this, [this] {
            gaps_.push_back(milliseconds(since_));
            since_.start();
        });
        timer_.setTimerType(Qt::PreciseTimer);
        timer_.setInterval(1);
    }
    void start()
    {
        gaps_.clear();
        since_.start();
        timer_.start();
    }
    void tell(const char* what)
    {
        timer_.stop();
        std::ranges::sort(gaps_);
        const std::size_t rare = gaps_.size() - 1 - gaps_.size() / 1000;
        fmt::print("{}: {} beats, longest gap {:.1f} ms, 99.9th percentile {:.1f} ms\n", what,
                   gaps_.size(), gaps_.back(), gaps_[rare]);
    }

private:
    QTimer timer_;
    QElapsedTimer since_;
    std::vector<double> gaps_;
};

void wait_until(const std::function<bool()>& done)
{
    while (!done())
        QApplication::processEvents(QEventLoop::WaitForMoreEvents); // sleeps, unlike with a limit
}

template <class What>
void time_it(const char* name, What what)
{
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
        QElapsedTimer timer;
        timer.start();
        what();
        times.push_back(milliseconds(timer));
    }
    std::ranges::sort(times);
    fmt::print("{}: median {:.1f} ms, longest {:.1f} ms\n", name, times[4], times.back());
}

// Fields whose values make at least that many points of a small model; each is simulated.
std::vector<AxisRange> many_points()
{
    const auto axis = [](const std::string& field, int count, auto value) {
        AxisRange range;
        range.field = field;
        range.name = short_name(field);
        range.swept = true;
        for (int i = 1; i <= count; ++i)
            range.values.push_back(value(i));
        range.chosen.assign(range.values.size(), true);
        return range;
    };
    return {axis("training.micro_batch", 5, [](int i) { return std::to_string(4 << i); }),
            axis("training.global_batch", 100, [](int i) { return std::to_string(256 * i); }),
            axis("strategy.bucket_cap", 210, [](int i) { return fmt::format("{} KiB", 40 * i); })};
}

int run()
{
    Workspace workspace;
    workspace.document().open("scenarios/mlp-2-cpu-gloo.json");
    ExplorePanel panel(workspace);
    panel.resize(1280, 800);
    panel.show();
    wait_until([&] { return workspace.current() && !panel.busy(); });
    panel.set_ranges(many_points());
    Heart heart;
    QElapsedTimer whole;
    whole.start();
    heart.start();
    panel.start();
    wait_until([&] { return panel.store().size() >= wanted || !panel.job().running(); });
    heart.tell("while the sweep ran");
    panel.job().cancel();
    fmt::print("{} points, {} of them possible, in {:.1f} s\n", panel.store().size(),
               panel.store().feasible_count(), milliseconds(whole) / 1000);

    auto& rows = *panel.findChild<PointsModel*>();
    ScatterChart& chart = panel.scatter().chart();
    time_it("repaint of the chart", [&] {
        chart.resize(chart.width() ^ 1, chart.height()); // all points are stamped again
        chart.replot(QCustomPlot::rpImmediateRefresh);
    });
    time_it("other axes", [&] {
        ScatterChoice choice = panel.scatter().choice();
        std::swap(choice.x, choice.y);
        panel.scatter().set_choice(choice);
        chart.replot(QCustomPlot::rpImmediateRefresh);
    });
    int column = 0;
    time_it("sort by another column", [&] {
        rows.sort(column++ % rows.columnCount(), Qt::DescendingOrder);
        QApplication::processEvents();
    });
    time_it("filter", [&] {
        rows.set_filter(column++ % 2 == 0 ? "micro_batch<50 step<1" : "global_batch>5000");
        QApplication::processEvents();
    });
    rows.set_filter({});
    time_it("brush of all", [&] {
        panel.marks().mark({});
        std::vector<std::uint32_t> all(panel.store().size());
        std::iota(all.begin(), all.end(), 0U);
        panel.marks().mark(std::move(all));
        chart.replot(QCustomPlot::rpImmediateRefresh);
        QApplication::processEvents();
    });
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    apply_theme(application, Theme::light);
    return run();
}

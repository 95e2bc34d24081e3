// From a slider to the new headline, as a person sees it: in a whole window, without a display. Run
// in the root of the source tree, on an idle machine; other scenarios may be named, and a view in
// sight with --view=KEY.
//
// Every state of the walk is new, so that nothing is answered from memory. `blocked` is the longest
// that the window handled one event: no key or click is answered during it. `at work` is the same
// in CPU time of the window's thread, with the event: so much is left of it on an idle machine.

#include "gui/app/main_window.h"
#include "gui/model/choices.h"
#include "gui/scenario/headline_bar.h"
#include "gui/tests/answer_times.h"
#include "sim/base/freed_memory.h"

#include <fmt/core.h>

#include <QApplication>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QSlider>
#include <QTemporaryDir>
#include <algorithm>
#include <array>
#include <optional>

using namespace trainyard;
using namespace trainyard::gui;

namespace {

double milliseconds(const QElapsedTimer& timer)
{
    return static_cast<double>(timer.nsecsElapsed()) * 1e-6;
}

// When the headline has been painted first since the run was answered.
class PaintWatch : public QObject {
public:
    explicit PaintWatch(const Workspace& workspace) : workspace_(workspace) {}

    void begin()
    {
        timer_.start();
        painted.reset();
    }
    bool eventFilter(QObject*, QEvent* event) override
    {
        if (event->type() == QEvent::Paint && workspace_.current() && !painted)
            painted = milliseconds(timer_);
        return false;
    }

    std::optional<double> painted; // ms

private:
    const Workspace& workspace_;
    QElapsedTimer timer_;
};

struct Move {
    std::size_t slider = 0;
    int position = 0;
};

// Through all combinations of `values`, one slider at a time, none twice.
std::vector<Move> walk_over(const std::vector<std::vector<int>>& values)
{
    std::vector<Move> moves;
    std::vector<std::size_t> at(values.size(), 0);
    std::vector<int> toward(values.size(), 1);
    for (std::size_t slider = 0; slider < values.size();) {
        const auto next = static_cast<std::ptrdiff_t>(at[slider]) + toward[slider];
        if (next < 0 || next >= static_cast<std::ptrdiff_t>(values[slider].size())) {
            toward[slider] = -toward[slider];
            ++slider;
            continue;
        }
        at[slider] = static_cast<std::size_t>(next);
        moves.push_back({slider, values[slider][at[slider]]});
        slider = 0;
    }
    return moves;
}

enum class Next : std::uint8_t {
    opened,  // no change: the scenario itself, until all is shown
    settled, // the next change once all views show the last one
    at_once, // as soon as its headline is there
    at_pace  // a person's: 150 ms after it
};

constexpr int pace_ms = 150;

struct Measured {
    std::vector<double> times; // ms
    double blocked = 0;        // ms
    double at_work = 0;        // ms of CPU
    QByteArray of;             // that event
    int refused = 0;           // combinations that cannot run
};

class Bench {
public:
    // `view`: beside the scenario; empty: none.
    Bench(Timed<QApplication>& application, const std::string& file, const QString& view)
        : application_(application), window_({autosave_.path().toStdString(), false})
    {
        window_.resize(1600, 1000);
        window_.show();
        application_.times().forget();
        const bool opened = window_.open(file);
        for (QDockWidget* const dock : window_.findChildren<QDockWidget*>())
            if (dock->objectName() != QStringLiteral("scenario"))
                dock->setVisible(dock->objectName() == view);
        settle();
        if (!opened || !window_.workspace().current())
            throw std::runtime_error(file + " does not run");
        window_.findChild<HeadlineBar*>()->installEventFilter(&watch_);
    }

    Measured measure(Next next)
    {
        Measured out;
        if (next == Next::opened) {
            look(out, 0);
            return out;
        }
        for (const Move& move : walk())
            make(move, next, out);
        settle();
        return out;
    }

private:
    static constexpr const char* fields[]{"strategy.bucket_cap", "training.micro_batch",
                                          "strategy.tp"};

    QSlider* slider(std::size_t index)
    {
        return window_.findChild<QWidget*>(QString::fromLatin1(fields[index]))
            ->findChild<QSlider*>();
    }

    // The start among them, first.
    std::vector<Move> walk()
    {
        std::vector<std::vector<int>> positions;
        for (std::size_t i = 0; i < std::size(fields); ++i) {
            const int now = slider(i)->value();
            const int steps = i == 0 ? 4 : 3;
            std::vector<int> list;
            for (int k = 0; k < steps; ++k)
                list.push_back(now + k);
            positions.push_back(std::move(list));
        }
        return walk_over(positions);
    }

    void make(const Move& move, Next next, Measured& out)
    {
        Workspace& workspace = window_.workspace();
        application_.times().forget();
        QElapsedTimer timer;
        timer.start();
        watch_.begin();
        slider(move.slider)->setValue(move.position);
        const double asked = milliseconds(timer);
        while (!workspace.current() && workspace.live().busy())
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        if (!workspace.current()) {
            ++out.refused;
            return;
        }
        while (!watch_.painted)
            QApplication::processEvents(QEventLoop::WaitForMoreEvents);
        out.times.push_back(*watch_.painted);
        if (next == Next::settled)
            settle();
        if (next == Next::at_pace)
            pause();
        look(out, asked);
    }

    void look(Measured& out, double asked)
    {
        out.blocked = std::max({out.blocked, asked, application_.times().longest_ms()});
        if (application_.times().longest_cpu_ms() > out.at_work) {
            out.at_work = application_.times().longest_cpu_ms();
            out.of = application_.times().of_cpu();
        }
    }

    void settle()
    {
        while (window_.busy())
            QApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
        QApplication::processEvents();
    }

    static void pause()
    {
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < pace_ms)
            QApplication::processEvents(QEventLoop::WaitForMoreEvents, pace_ms);
    }

    Timed<QApplication>& application_;
    QTemporaryDir autosave_;
    MainWindow window_;
    PaintWatch watch_{window_.workspace()};
};

void print(const std::string& file, const QString& view, Next next, Measured measured)
{
    std::vector<double>& times = measured.times;
    std::sort(times.begin(), times.end());
    constexpr std::array names{"opened", "settled", "at once", "at pace"};
    fmt::print("{:38} {:9} {:8} {:5} {:8.1f} {:8.1f} {:8.1f} {:8.1f} {:8}  {}\n", file,
               view.isEmpty() ? "none" : view.toStdString(), names[static_cast<std::size_t>(next)],
               times.size(), times.empty() ? 0.0 : times[times.size() / 2],
               times.empty() ? 0.0 : times.back(), measured.blocked, measured.at_work,
               measured.refused, measured.of.toStdString());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    keep_freed_memory(); // as the program does
    qputenv("QT_QPA_PLATFORM", "offscreen");
    Timed<QApplication> application(argc, argv);
    constexpr std::string_view option = "--view=";
    std::vector<std::string> files;
    std::vector<std::string> views;
    for (const std::string_view given : std::vector<std::string_view>(argv + 1, argv + argc))
        if (given.starts_with(option))
            views.emplace_back(given.substr(option.size()));
        else
            files.emplace_back(given);
    if (views.empty())
        views = {"", "timeline", "topology", "breakdown"};
    if (files.empty())
        files = {"scenarios/llama3-70b-h100-64.json", "scenarios/llama3-405b-h100-16k.json"};
    fmt::print("{:38} {:9} {:8} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n", "scenario", "in sight",
               "next", "moves", "median", "worst", "blocked", "at work", "refused",
               "longest event");
    for (const std::string& file : files)
        for (const std::string& key : views)
            for (const Next next : {Next::opened, Next::settled, Next::at_once, Next::at_pace}) {
                const QString view = QString::fromStdString(key);
                print(file, view, next, Bench(application, file, view).measure(next));
            }
}

#include "sim/api/grid_sweep.h"
#include "sim/base/fields.h"
#include "sim/base/files.h"
#include "sim/base/parallel.h"
#include "sim/cli/command.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <mutex>

namespace trainyard {
namespace {

struct SweepCommand {
    std::string scenario;
    ScenarioOptions changes;
    std::vector<std::string> axes; // --grid
    int threads = 0;
    std::string best_by = "throughput";
    std::size_t top = 20;
    double headroom = 100 * usual_headroom; // per cent of a device's memory
    bool nearest_batch = false;
    std::string csv;
    bool json = false;
};

// Where the points of a sweep go: the best to the table, all of them to the files asked for, in the
// order of the grid. For several threads.
class SweepResults {
public:
    SweepResults(const SweepCommand& command, const SweepTitle& title,
                 const std::optional<std::vector<std::size_t>>& points)
        : grid_(title.grid),
          json_(command.json),
          best_(title.measure, command.top, command.headroom / 100),
          in_order_([this](const PointRow& row) { write(row); }, points)
    {
        if (!command.csv.empty()) {
            csv_.emplace(command.csv);
            csv_->append(sweep_csv_head(grid_));
        }
        if (json_)
            print_data(sweep_json_head(title, best_.headroom()));
    }

    void add(PointRow row)
    {
        const std::lock_guard lock(mutex_);
        best_.add(row);
        if (json_ || csv_)
            in_order_.add(std::move(row));
    }

    // Writes what is left and puts the file in place.
    void finish()
    {
        in_order_.finish();
        if (csv_)
            csv_->publish();
    }

    const SweepBest& best() const { return best_; }

private:
    void write(const PointRow& row)
    {
        if (csv_)
            csv_->append(sweep_csv_line(grid_, row, best_.headroom()));
        if (!json_)
            return;
        print_data((first_ ? "" : ",\n") +
                   to_text(to_json(grid_, row, best_.headroom()), JsonStyle::compact));
        first_ = false;
    }

    const SweepGrid& grid_;
    bool json_ = false;
    bool first_ = true;
    std::optional<FileInParts> csv_;
    SweepBest best_;
    GridOrder in_order_;
    std::mutex mutex_;
};

SweepMeasure measure_of(const SweepCommand& command)
{
    for (const auto& [value, name] : enum_names<SweepMeasure>())
        if (name == command.best_by)
            return value;
    return SweepMeasure::throughput;
}

Checked<GridTask> task_of(const SweepCommand& command)
{
    const Checked<ScenarioFile> own = read_scenario(command.scenario, command.changes);
    if (!own)
        return tl::unexpected(own.error());
    ProgressBar bar;
    return grid_task(
        *own, command.scenario,
        {command.axes, command.nearest_batch, measure_of(command), command.headroom / 100},
        bar.control());
}

SweepEnd simulate_all(const SweepCommand& command, const GridTask& task, SweepResults& results)
{
    Session session;
    ProgressBar bar;
    return sweep(task.base, task.title.grid, session, {command.threads, bar.control(), task.points},
                 [&](SweepPoint&& point) { results.add(row_of(point)); });
}

void say_end(const SweepCommand& command, const SweepEnd& end, Seconds time)
{
    print_talk(speed_text(end.done, time) + "\n");
    if (!command.csv.empty())
        print_talk(fmt::format(
            "wrote {}{}\n", command.csv,
            end.cancelled ? fmt::format(" with {} of {}", end.done, points_text(end.points)) : ""));
    if (end.cancelled)
        print_talk("interrupted; what was done is shown\n");
}

int run_sweep(const SweepCommand& command)
{
    Checked<GridTask> task = task_of(command);
    if (!task)
        return refuse(task.error(), "nothing was run.");
    if (task->combinations)
        print_talk(fmt::format("{} of {} combinations make a layout that may fit\n",
                               task->points->size(), *task->combinations));
    SweepTitle& title = task->title;
    const KeepsWhatIsDone keeps;
    SweepResults results(command, title, task->points);
    const auto began = std::chrono::steady_clock::now();
    title.end = simulate_all(command, *task, results);
    results.finish();
    const Seconds time(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    print_data(command.json
                   ? sweep_json_tail(title, results.best())
                   : sweep_text(title, results.best(),
                                Paint(use_colour_on_stdout() ? Colour::ansi : Colour::none),
                                width_of_stdout()));
    say_end(command, title.end, time);
    if (title.end.cancelled)
        return interrupted_exit();
    return results.best().feasible_count() > 0 ? exit_ok : exit_no;
}

} // namespace

void add_sweep(CLI::App& program, Command& chosen)
{
    CLI::App* const sub =
        program.add_subcommand("sweep", "Simulate a grid over any fields of a scenario");
    auto command = std::make_shared<SweepCommand>();
    sub->add_option("scenario", command->scenario, "scenario file")->required()->type_name("FILE");
    sub->add_option("--grid", command->axes,
                    "values of a field: 1,2,4, a range (1..8, 2..10+2, 1..64*2), or lists and "
                    "quoted texts between commas; once per field. auto alone: the values that plan "
                    "would look at, in combinations that make a layout (tp, cp, pp, vpp, ep, etp, "
                    "zero, schedule, recompute, micro_batch, global_batch); of dp and stage_layers "
                    "what follows from the other sizes")
        ->required()
        ->type_name("FIELD=VALUES")
        ->take_all();
    add_scenario_options(*sub, command->changes);
    sub->add_option("--threads", command->threads, "points simulated at once; else all cores")
        ->check(CLI::Range(1, 1024));
    sub->add_option("--best-by", command->best_by, "what is best")
        ->check(CLI::IsMember(FieldValue<SweepMeasure>::names()))
        ->capture_default_str()
        ->type_name("");
    sub->add_option("--top", command->top, "points to show")->check(CLI::Range(1, 100000));
    sub->add_option("--headroom", command->headroom,
                    "per cent of a device's memory that a point must leave free to be recommended")
        ->check(CLI::Range(0.0, 99.0))
        ->capture_default_str()
        ->type_name("PERCENT");
    sub->add_flag("--nearest-batch", command->nearest_batch,
                  "where micro_batch x dp does not divide the global batch, take the nearest batch "
                  "that it divides; the row says so");
    sub->add_option("--csv", command->csv, "write every point, in the order of the grid")
        ->type_name("FILE");
    sub->add_flag("--json", command->json, "print every point as JSON");
    sub->footer("Example: trainyard sweep scenarios/llama3-70b-h100-64.json --grid "
                "strategy.tp=1,2,4,8 --grid training.micro_batch=1,2,4 --csv out.csv\n"
                "The last field changes fastest. Ctrl-C keeps what is done. Exit code 1 means that "
                "no point is possible.");
    sub->callback([&chosen, command] { chosen = [command] { return run_sweep(*command); }; });
}

} // namespace trainyard

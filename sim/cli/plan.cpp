#include "sim/base/files.h"
#include "sim/cli/command.h"
#include "sim/cli/job_files.h"
#include "sim/cli/plan_search.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/report/plan/plan_report.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {
namespace {

struct PlanCommand {
    std::string scenario;
    ScenarioOptions changes;
    std::vector<std::string> axes; // --grid
    std::size_t top = 10;
    double headroom = 5; // per cent of a device's memory
    int threads = 0;
    std::string output; // a scenario
    std::string csv;
    bool json = false;
    PlanSearchOptions search;
};

Checked<SearchSpace> space_of(const PlanCommand& command, const SearchBase& base)
{
    SearchSpace space = usual_space(base.file.scenario, base.facts);
    Problems problems;
    for (const std::string& text : command.axes) {
        const Checked<SweepAxis> axis = parse_axis(text);
        const Problems more = axis ? restrict(space, *axis) : axis.error();
        problems.insert(problems.end(), more.begin(), more.end());
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return space;
}

// A file that a scenario in `from` names, as one in `to` does.
std::string moved(const std::string& path, const std::filesystem::path& from,
                  const std::filesystem::path& to)
{
    const std::filesystem::path file = from / path;
    return !path.empty() && std::filesystem::exists(file)
               ? std::filesystem::relative(file, to.empty() ? "." : to).string()
               : path;
}

void move(Source& source, const std::filesystem::path& from, const std::filesystem::path& to)
{
    source.path = moved(source.path, from, to);
    Json* const config = source.value.find("hf_config");
    if (config != nullptr && config->is_string())
        *config = moved(config->as_string(), from, to);
}

// The scenario with the best layout.
void write_best(const PlanCommand& command, const SearchBase& base, const SearchResult& result)
{
    Scenario scenario = kept_scenario(result.best.front().choice, base);
    const std::filesystem::path to = folder_of(command.output);
    move(scenario.model, base.file.base, to);
    move(scenario.topology, base.file.base, to);
    scenario.profile = moved(scenario.profile, base.file.base, to);
    write_file(command.output, to_text(to_json(scenario)) + "\n");
    print_talk(fmt::format("wrote {}\n", command.output));
}

void print_report(const PlanCommand& command, const PlanReport& report)
{
    print_data(command.json
                   ? to_text(to_json(report)) + "\n"
                   : plan_text(report, Paint(use_colour_on_stdout() ? Colour::ansi : Colour::none),
                               width_of_stdout()));
    if (!command.csv.empty())
        write_file(command.csv, plan_csv(report));
}

struct PlanTask {
    SearchBase base;
    SearchRequest request;
};

// `threads`: where the command does not say.
Checked<PlanTask> task_of(const PlanCommand& command, int threads)
{
    const Checked<ScenarioFile> file = read_scenario(command.scenario, command.changes);
    Checked<SearchBase> base = file ? search_base(*file) : tl::unexpected(file.error());
    if (!base)
        return tl::unexpected(base.error());
    Checked<SearchSpace> space = space_of(command, *base);
    if (!space)
        return tl::unexpected(space.error());
    SearchRequest request;
    request.space = std::move(*space);
    request.top = command.top;
    request.headroom = command.headroom / 100;
    request.threads = command.threads > 0 ? command.threads : threads;
    return PlanTask{std::move(*base), std::move(request)};
}

int tell_shard(PlanSearch& search, const SearchResult& result, bool interrupted)
{
    search.finish(result, "");
    print_data(search.shard_text(result));
    if (!interrupted)
        return exit_ok;
    print_talk(search.kept_text());
    return interrupted_exit();
}

int tell_plan(const PlanCommand& command, const PlanTask& task, PlanSearch& search,
              const SearchResult& result, Session& session)
{
    const bool interrupted = interrupt_flag().cancelled();
    if (search.is_shard())
        return tell_shard(search, result, interrupted);
    const std::vector<Outcome> outcomes = outcomes_of(result, task.base, session);
    const Checked<Outcome> own = session.simulate(task.base.file);
    const PlanReport report = plan_report(task.base, result, outcomes, own, task.request.headroom);
    search.finish(result, to_text(to_json(report), JsonStyle::compact));
    if (!command.output.empty() && !result.best.empty())
        write_best(command, task.base, result);
    print_report(command, report);
    if (!interrupted)
        return report.rows.empty() ? exit_no : exit_ok;
    print_talk(search.kept_text());
    return interrupted_exit();
}

// `ranks`: null where this process is the only one; else it is rank 0.
int lead_plan(const PlanCommand& command, Ranks* ranks)
{
    std::optional<Crew> crew;
    if (ranks != nullptr)
        crew.emplace(*ranks);
    const Checked<PlanTask> task = task_of(command, ranks != nullptr ? ranks->threads() : 0);
    if (!task)
        return refuse(task.error(), "nothing was run.");
    if (!command.output.empty())
        require_writable(command.output);
    if (!command.csv.empty())
        require_writable(command.csv);
    PlanSearch search(command.search, task->base, task->request, command.scenario,
                      crew ? &*crew : nullptr);
    if (const Problems problems = search.prepare(); !problems.empty())
        return refuse(problems, "nothing was run.");
    const KeepsWhatIsDone keeps;
    Session session;
    SearchResult result;
    {
        ProgressBar bar;
        result = search.run(session, bar.control());
    }
    crew.reset(); // the others need not wait for what is told
    return tell_plan(command, *task, search, result, session);
}

// What keeps another rank from its task rank 0 finds too, and tells; else it tells that the ranks
// differ.
std::optional<PlanTask> task_of_other(const PlanCommand& command, const Ranks& ranks)
{
    try {
        Checked<PlanTask> task = task_of(command, ranks.threads());
        if (task)
            return std::move(*task);
    } catch (const WorldError&) {
    }
    return {};
}

// Says nothing: rank 0 does. So is the exit code rank 0's.
int follow_plan(const PlanCommand& command, Ranks& ranks)
{
    const KeepsWhatIsDone keeps;
    std::optional<PlanTask> task = task_of_other(command, ranks);
    if (task) {
        task->request.work.cancel = &interrupt_flag();
        serve_crew(ranks, crew_task(command.search, task->base, task->request), &task->base,
                   task->request, share_of(command.search));
    } else {
        serve_crew(ranks, {}, nullptr, {}, {});
    }
    return interrupt_flag().cancelled() ? interrupted_exit() : exit_ok;
}

int run_plan(const PlanCommand& command)
{
    const std::optional<LaunchedRank> launched = launched_rank();
    if (!launched || launched->ranks == 1)
        return lead_plan(command, nullptr);
    Ranks ranks(*launched);
    if (ranks.rank() == 0)
        return lead_plan(command, &ranks);
    try {
        return follow_plan(command, ranks);
    } catch (const WorldError& error) {
        print_talk(fmt::format("error: rank {}: {}\n", ranks.rank(), error.message));
        ranks.abort(exit_input_output);
    }
}

} // namespace

void add_plan(CLI::App& program, Command& chosen)
{
    CLI::App* const sub = program.add_subcommand(
        "plan", "The best layouts of a scenario's model on its cluster, proven");
    auto command = std::make_shared<PlanCommand>();
    sub->add_option("scenario", command->scenario, "scenario file")->required()->type_name("FILE");
    sub->add_option("--grid", command->axes,
                    fmt::format("values of a field in place of the usual ones: 1,2,4, a range "
                                "(1..8, 1..64*2), schedules, or full:4 of training.recompute; "
                                "fields: {}",
                                fmt::join(searched_fields(), ", ")))
        ->type_name("FIELD=VALUES")
        ->take_all();
    add_scenario_options(*sub, command->changes);
    sub->add_option("--top", command->top, "layouts to show")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    sub->add_option("--headroom", command->headroom,
                    "per cent of a device's memory that a layout must leave free")
        ->check(CLI::Range(0.0, 99.0))
        ->capture_default_str()
        ->type_name("PERCENT");
    sub->add_option("--threads", command->threads, "layouts simulated at once; else all cores")
        ->check(CLI::Range(1, 1024));
    sub->add_option("-o,--output", command->output, "write the scenario with the best layout")
        ->type_name("FILE");
    sub->add_option("--csv", command->csv, "write the layouts that are shown")->type_name("FILE");
    sub->add_flag("--json", command->json, "print them as JSON");
    add_plan_search_options(*sub, command->search);
    sub->footer("Example: trainyard plan scenarios/llama3-70b-h100-64.json --grid "
                "strategy.cp=1 -o best.json\n"
                "Points are simulated in the order of what they take at least, until none that is "
                "left can be quicker. Ctrl-C keeps what was found. mpirun and srun start it on "
                "many processes that share the work. Exit code 1 means that no layout fits.");
    sub->callback([&chosen, command] { chosen = [command] { return run_plan(*command); }; });
}

} // namespace trainyard

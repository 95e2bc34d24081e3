#include "sim/cli/command.h"
#include "sim/cli/plan_capacity.h"
#include "sim/cli/plan_output.h"
#include "sim/cli/plan_search.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/terminal.h"
#include "sim/report/plan/plan_html.h"
#include "sim/report/plan/plan_report.h"
#include "sim/study/capacity/capacity_plan.h"
#include "sim/study/capacity/longest_context.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace trainyard {
namespace {

struct PlanCommand {
    std::string scenario;
    ScenarioOptions changes;
    std::vector<std::string> axes; // --grid
    std::size_t top = 10;
    bool top_given = false;
    bool front = false;
    double headroom = 5; // per cent of a device's memory
    int threads = 0;
    bool longest_context = false;
    PlanOutput output;
    CapacityQuestion capacity;
    PlanSearchOptions search;
};

// Which cluster, and how many of it.
int plan_size(const PlanCommand& command)
{
    std::optional<ScenarioFile> scenario;
    if (!command.scenario.empty()) {
        Checked<ScenarioFile> file = read_scenario(command.scenario, command.changes);
        if (!file)
            return refuse(file.error(), "nothing was run.");
        scenario = std::move(*file);
    }
    if (!scenario && command.changes != ScenarioOptions{})
        return refuse(one_problem("--set and other options of a scenario change none here",
                                  "a scenario in place of --model"),
                      "nothing was run.");
    if (command.top_given)
        return refuse(one_problem("--top has nothing to count: of each cluster the best is shown",
                                  "--top with the scenario that -o writes"),
                      "nothing was run.");
    if (command.front)
        return refuse(one_problem("--front is about the layouts of one cluster; the front of "
                                  "clusters is always told",
                                  "--objectives days,cost says of what"),
                      "nothing was run.");
    const Checked<std::vector<SweepAxis>> axes = search_axes(command.axes);
    Checked<CapacityRequest> request = axes
                                           ? capacity_request(command.capacity, std::move(scenario))
                                           : tl::unexpected(axes.error());
    if (!request)
        return refuse(as_options(request.error(), command.capacity), "nothing was run.");
    request->axes = *axes;
    request->headroom = command.headroom / 100;
    request->threads = command.threads;
    return run_capacity(command.capacity, std::move(*request), command.output);
}

LayoutQuestion question_of(const PlanCommand& command)
{
    return {command.axes, command.top, command.front, command.headroom / 100, command.threads};
}

// `threads`: where the command does not say.
Checked<LayoutTask> task_of(const PlanCommand& command, int threads)
{
    const Checked<ScenarioFile> file = read_scenario(command.scenario, command.changes);
    if (!file)
        return tl::unexpected(file.error());
    const Checked<WholeTrainingRequest> training = training_request(command.capacity);
    if (!training)
        return tl::unexpected(as_options(training.error(), command.capacity));
    LayoutQuestion question = question_of(command);
    if (question.threads == 0)
        question.threads = threads;
    return layout_task(*file, question, *training);
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

Paint paint_of_stdout()
{
    return Paint(use_colour_on_stdout() ? Colour::ansi : Colour::none);
}

// All but what is printed.
PlanTexts files_of(const PlanOutput& output, const PlanReport& report,
                   std::vector<PlannedScenario> planned, const LongestContext* context)
{
    PlanTexts texts;
    if (!output.csv.empty())
        texts.csv = plan_csv(report);
    if (!output.html.empty())
        texts.html = plan_html(report, context);
    if (!planned.empty())
        texts.best = planned.front();
    texts.planned = std::move(planned);
    return texts;
}

int tell_plan(const PlanCommand& command, const LayoutTask& task, PlanSearch& search,
              const SearchResult& result, Session& session)
{
    bool interrupted = interrupt_flag().cancelled();
    if (search.is_shard())
        return tell_shard(search, result, interrupted);
    const Checked<std::vector<SweepAxis>> axes = search_axes(command.axes);
    if (!axes)
        return refuse(axes.error(), "nothing was printed.");
    Checked<PlanReport> report = tl::unexpected(Problems{});
    {
        ProgressBar bar;
        report = layout_report(task, *axes, result, false, session, bar.control());
    }
    if (!report)
        return refuse(report.error(), "nothing was printed.");
    interrupted = interrupt_flag().cancelled();
    search.finish(result, to_text(to_json(*report), JsonStyle::compact));
    PlanTexts texts =
        files_of(command.output, *report, planned_layouts(result, task.base), nullptr);
    texts.data = command.output.json ? to_text(to_json(*report)) + "\n"
                                     : plan_text(*report, paint_of_stdout(), width_of_stdout());
    deliver(command.output, texts);
    if (!interrupted)
        return report->rows.empty() ? exit_no : exit_ok;
    print_talk(search.kept_text());
    return interrupted_exit();
}

// `ranks`: null where this process is the only one; else it is rank 0.
int lead_plan(const PlanCommand& command, Ranks* ranks)
{
    std::optional<Crew> crew;
    if (ranks != nullptr)
        crew.emplace(*ranks);
    const Checked<LayoutTask> task = task_of(command, ranks != nullptr ? ranks->threads() : 0);
    if (!task)
        return refuse(task.error(), "nothing was run.");
    require_writable(command.output);
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

// The longest sequences, and the layouts for them.
int plan_context(const PlanCommand& command)
{
    const Checked<ScenarioFile> file = read_scenario(command.scenario, command.changes);
    const Checked<std::vector<SweepAxis>> axes = search_axes(command.axes);
    const Checked<WholeTrainingRequest> training = training_request(command.capacity);
    Problems problems = file ? Problems{} : file.error();
    append(problems, axes ? Problems{} : axes.error());
    append(problems, training ? Problems{} : as_options(training.error(), command.capacity));
    if (!problems.empty())
        return refuse(problems, "nothing was run.");
    require_writable(command.output);
    const KeepsWhatIsDone keeps;
    Session session;
    Checked<ContextPlan> plan = tl::unexpected(Problems{});
    {
        ProgressBar bar;
        plan = plan_context(*file, question_of(command), session, bar.control(), *training);
    }
    if (!plan)
        return refuse(plan.error(), "nothing was printed.");
    PlanTexts texts;
    if (plan->layouts)
        texts =
            files_of(command.output, plan->layouts->report, plan->layouts->planned, &plan->lengths);
    texts.data = command.output.json
                     ? to_text(to_json(*plan)) + "\n"
                     : context_plan_text(*plan, paint_of_stdout(), width_of_stdout());
    if (plan->layouts)
        deliver(command.output, texts);
    else
        print_data(texts.data);
    if (interrupt_flag().cancelled())
        return interrupted_exit();
    return plan->layouts && !plan->layouts->report.rows.empty() ? exit_ok : exit_no;
}

// What keeps another rank from its task rank 0 finds too, and tells; else it tells that the ranks
// differ.
std::optional<LayoutTask> task_of_other(const PlanCommand& command, const Ranks& ranks)
{
    try {
        Checked<LayoutTask> task = task_of(command, ranks.threads());
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
    std::optional<LayoutTask> task = task_of_other(command, ranks);
    if (task) {
        task->request.work.cancel = &interrupt_flag();
        serve_crew(ranks, crew_task(command.search, task->base, task->request), &task->base,
                   task->request, share_of(command.search));
    } else {
        serve_crew(ranks, {}, nullptr, {}, {});
    }
    return interrupt_flag().cancelled() ? interrupted_exit() : exit_ok;
}

Problems one_cluster_alone()
{
    return one_problem(
        "stores, shards and ranks are for the plan of one cluster, not for a choice of them",
        "plan that cluster's scenario (-o writes it)");
}

int run_context(const PlanCommand& command, bool alone)
{
    const CapacityQuestion& capacity = command.capacity;
    if (command.scenario.empty() || !capacity.clusters.empty() || !capacity.model.empty() ||
        !capacity.budget.empty())
        return refuse(one_problem("--longest-context is of a scenario's cluster",
                                  "a scenario, with --tokens and --within where it has to be "
                                  "trained in time"),
                      "nothing was run.", exit_usage);
    if (!alone || command.search.is_used())
        return refuse(one_problem("stores, shards and ranks are for the plan of one length, not "
                                  "for a choice of them",
                                  "--set training.sequence_length=N"),
                      "nothing was run.", exit_usage);
    Problems problems = as_options(unused_fields(capacity), capacity);
    if (!capacity.within.empty() && capacity.tokens.empty() && capacity.assumptions.empty())
        append(problems, one_problem("--within says nothing of a step",
                                     "with --tokens, how much is to be learned"));
    return problems.empty() ? plan_context(command) : refuse(problems, "nothing was run.");
}

int run_plan(const PlanCommand& command)
{
    if (command.scenario.empty() && command.capacity.model.empty()) {
        print_talk("error: a scenario, or --model with --on, is needed\n");
        return exit_usage;
    }
    if (const Problems problems = repeated_axes(command.axes); !problems.empty())
        return refuse(problems, "nothing was run.");
    if (const Problems problems = problems_of(command.output, {{"the scenario", command.scenario},
                                                               {"--store", command.search.store}});
        !problems.empty())
        return refuse(problems, "nothing was run.");
    const std::optional<LaunchedRank> launched = launched_rank();
    const bool alone = !launched || launched->ranks == 1;
    if (command.longest_context)
        return run_context(command, alone);
    if (command.capacity.asks_for_size())
        return alone && !command.search.is_used()
                   ? plan_size(command)
                   : refuse(one_cluster_alone(), "nothing was run.", exit_usage);
    if (const Problems problems = unused_fields(command.capacity); !problems.empty())
        return refuse(as_options(problems, command.capacity), "nothing was run.");
    if (alone)
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
    sub->add_option("scenario", command->scenario, "scenario file")->type_name("FILE");
    sub->add_option("--grid", command->axes,
                    fmt::format("values of a field in place of the usual ones: 1,2,4, a range "
                                "(1..8, 1..64*2), schedules, or full:4 of training.recompute; "
                                "fields: {}",
                                fmt::join(searched_fields(), ", ")))
        ->type_name("FIELD=VALUES")
        ->take_all();
    add_scenario_options(*sub, command->changes);
    add_capacity_options(*sub, command->capacity);
    CLI::Option* const top = sub->add_option("--top", command->top, "layouts to show")
                                 ->check(CLI::Range(1, 1000))
                                 ->capture_default_str();
    sub->add_flag("--front", command->front,
                  "of one cluster: also the layouts that none is both quicker and smaller than");
    sub->add_option("--headroom", command->headroom,
                    "per cent of a device's memory that a layout must leave free")
        ->check(CLI::Range(0.0, 99.0))
        ->capture_default_str()
        ->type_name("PERCENT");
    sub->add_option("--threads", command->threads, "layouts simulated at once; else all cores")
        ->check(CLI::Range(1, 1024));
    sub->add_flag(
        "--longest-context", command->longest_context,
        "find the longest sequences that fit, at about the scenario's tokens a step; with "
        "--tokens and --within also trained in time");
    sub->add_option("-o,--output", command->output.scenario,
                    "write the scenario with the best layout")
        ->type_name("FILE");
    sub->add_option("--csv", command->output.csv, "write the layouts that are shown")
        ->type_name("FILE");
    sub->add_option("--html", command->output.html,
                    "write a page with charts that needs no network")
        ->type_name("FILE");
    sub->add_flag("--json", command->output.json, "print them as JSON");
    add_plan_export_options(*sub, command->output.exports);
    add_plan_search_options(*sub, command->search);
    sub->footer("Example: trainyard plan scenarios/llama3-70b-h100-64.json --grid "
                "strategy.cp=1 -o best.json\n"
                "Points are simulated in the order of what they take at least, until none that is "
                "left can be quicker. Ctrl-C keeps what was found. mpirun and srun start it on "
                "many processes that share the work. Exit code 1 means that no layout fits.");
    sub->callback([&chosen, command, top] {
        command->top_given = top->count() > 0;
        chosen = [command] { return run_plan(*command); };
    });
}

} // namespace trainyard

#include "sim/cli/plan_capacity.h"

#include "sim/base/field_values.h"
#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/report/capacity/capacity_html.h"
#include "sim/study/capacity/capacity_plan.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trainyard {

void add_capacity_options(CLI::App& app, CapacityQuestion& options)
{
    app.add_option("--model", options.model,
                   "in place of a scenario: a shipped model, or a config.json");
    app.add_option("--on", options.clusters,
                   "clusters to plan: a GPU (h100), so many of them (256xh100), a topology file "
                   "whose nodes may be more, or the scenario's (this)")
        ->delimiter(',')
        ->type_name("CLUSTER,...");
    app.add_option("--tokens", options.tokens, "to train on: 2T, 500B")->type_name("COUNT");
    app.add_option("--within", options.within, "how long the training may take: 30d")
        ->type_name("TIME");
    app.add_option("--budget", options.budget, "what it may cost: 5M")->type_name("MONEY");
    app.add_option("--price", options.prices, "of a GPU and hour: h100=2.5/h, 20/h/node")
        ->delimiter(',')
        ->type_name("PRICE,...");
    app.add_option("--mtbf", options.mtbf, "mean time between failures: 50000h/gpu, 2000h/node")
        ->type_name("TIME/WHAT");
    app.add_option("--checkpoint", options.checkpoint, "what writing one takes: 5min")
        ->type_name("TIME");
    app.add_option("--batch", options.batch, "tokens of a step, fitted to each cluster: 4M..16M")
        ->type_name("RANGE");
    app.add_option("--sequence-length", options.sequence_length, "with --model: tokens")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
    app.add_option("--scaling", options.scaling,
                   "also how each cluster scales over these numbers of GPUs: 8..1024")
        ->type_name("RANGE");
    app.add_option("--guide", options.guide,
                   "also which strategy to take for these numbers of GPUs, and why: 8..512")
        ->type_name("RANGE");
    app.add_option("--objectives", options.objectives,
                   fmt::format("two or three that the front of clusters is about, in place of the "
                               "usual ones: {}",
                               fmt::join(FieldValue<Objective>::names(), ", ")))
        ->delimiter(',')
        ->type_name("NAME,...");
    app.add_option("--assume", options.assumptions,
                   "a JSON file with more of the training: failures, checkpoints, power, ...")
        ->type_name("FILE")
        ->check(CLI::ExistingFile);
}

namespace {

struct GivenOption {
    std::string field; // of the question
    std::string name;
    std::string text; // empty: not given
};

std::vector<GivenOption> given_options(const CapacityQuestion& question)
{
    std::vector<GivenOption> out{
        {"/model", "--model", question.model},
        {"/tokens", "--tokens", question.tokens},
        {"/within", "--within", question.within},
        {"/budget", "--budget", question.budget},
        {"/mtbf", "--mtbf", question.mtbf},
        {"/checkpoint", "--checkpoint", question.checkpoint},
        {"/batch", "--batch", question.batch},
        {"/sequence_length", "--sequence-length", fmt::format("{}", question.sequence_length)},
        {"/scaling", "--scaling", question.scaling},
        {"/guide", "--guide", question.guide},
        {"/objectives", "--objectives", fmt::format("{}", fmt::join(question.objectives, ","))},
        {"/assumptions", "--assume", question.assumptions},
        {"/clusters", "--on", ""},
        {"/prices", "--price", ""}};
    for (std::size_t i = 0; i < question.clusters.size(); ++i)
        out.push_back({fmt::format("/clusters/{}", i), "--on", question.clusters[i]});
    for (std::size_t i = 0; i < question.prices.size(); ++i)
        out.push_back({fmt::format("/prices/{}", i), "--price", question.prices[i]});
    return out;
}

PlanTexts texts_of(const PlanOutput& output, const CapacityRequest& request,
                   const CapacityPlan& plan, const CapacityReport& report)
{
    PlanTexts texts;
    const Paint paint(use_colour_on_stdout() ? Colour::ansi : Colour::none);
    texts.data = output.json ? to_text(to_json(report)) + "\n"
                             : capacity_text(report, paint, width_of_stdout());
    if (!output.csv.empty())
        texts.csv = capacity_csv(report);
    if (!output.html.empty())
        texts.html = capacity_html(report);
    if (plan.best)
        texts.best = planned_cluster(request, plan.clusters[*plan.best]);
    texts.planned = planned_clusters(request, plan);
    return texts;
}

} // namespace

Problems as_options(Problems problems, const CapacityQuestion& question)
{
    const std::vector<GivenOption> options = given_options(question);
    for (Diagnostic& problem : problems) {
        const auto option = std::ranges::find(options, problem.pointer, &GivenOption::field);
        if (!problem.file.empty() || option == options.end())
            continue;
        problem.file =
            option->text.empty() ? option->name : fmt::format("{} {}", option->name, option->text);
        problem.pointer.clear();
    }
    return problems;
}

int run_capacity(const CapacityQuestion& question, CapacityRequest request,
                 const PlanOutput& output)
{
    if (!request.has_goal() && (!output.scenario.empty() || output.exports.is_used()))
        return refuse(one_problem("without a goal there is no best cluster to write",
                                  "--tokens 2T, or without -o and --export"),
                      "nothing was run.");
    require_writable(output);
    const KeepsWhatIsDone keeps;
    Session session;
    Checked<CapacityAnswer> answer = tl::unexpected(Problems{});
    {
        ProgressBar bar;
        request.work = bar.control();
        answer = plan_clusters(request, session);
    }
    if (!answer)
        return refuse(as_options(answer.error(), question), "nothing was run.");
    deliver(output, texts_of(output, request, answer->plan, answer->report));
    if (answer->interrupted())
        return interrupted_exit();
    return answer->answers(request) ? exit_ok : exit_no;
}

} // namespace trainyard

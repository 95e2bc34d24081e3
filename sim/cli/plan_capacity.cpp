#include "sim/cli/plan_capacity.h"

#include "sim/base/field_values.h"
#include "sim/base/fields.h"
#include "sim/base/spelling.h"
#include "sim/base/units.h"
#include "sim/cli/command.h"
#include "sim/cli/terminal.h"
#include "sim/report/capacity/capacity_html.h"
#include "sim/study/capacity/capacity_plan.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"
#include "sim/study/training/training_values.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

// Reads options one after the other; problems name them.
class OptionReader {
public:
    template <class T>
    std::optional<T> read(const char* option, const std::string& text,
                          Parsed<T> (*parse)(std::string_view))
    {
        if (text.empty())
            return std::nullopt;
        Parsed<T> value = parse(text);
        if (value)
            return *value;
        add(option, text, value.error().message, value.error().hint);
        return std::nullopt;
    }

    void add(const char* option, const std::string& text, std::string why, std::string hint = {})
    {
        problems_.push_back({fmt::format("{} {}", option, text), 0, "", std::move(why),
                             std::move(hint), Severity::error});
    }

    Problems take() { return std::move(problems_); }

private:
    Problems problems_;
};

// "4M..16M", "8M" (about that): tokens.
Parsed<TokenRange> parse_token_range(std::string_view text)
{
    const std::size_t dots = text.find("..");
    const Parsed<double> least = parse_count(text.substr(0, dots));
    const Parsed<double> most =
        dots == std::string_view::npos ? least : parse_count(text.substr(dots + 2));
    if (!least || !most)
        return tl::unexpected(least ? most.error() : least.error());
    return TokenRange{*least, *most};
}

// "8..1024": GPUs.
Parsed<GpuRange> parse_gpu_range(std::string_view text)
{
    const Parsed<TokenRange> range = parse_token_range(text);
    if (!range)
        return tl::unexpected(UnitError{fmt::format("\"{}\" is no range of numbers of GPUs", text),
                                        "from 1 GPU on, the fewest first: 8..1024"});
    if (range->least < 1 || range->most < range->least || range->most > 1e6)
        return tl::unexpected(UnitError{"no numbers of GPUs, the fewest first", "8..1024"});
    return GpuRange{static_cast<int>(range->least), static_cast<int>(range->most)};
}

// The rest of a training: failures, checkpoints, power, evaluation, ...
Problems read_assumptions(const std::string& path, WholeTrainingRequest& request)
{
    const Checked<Json> file = read_json_file(path);
    if (!file)
        return file.error();
    Json whole = *file;
    Problems problems;
    if (whole.is_object()) {
        for (const char* name : {"batch_tokens", "step_time", "gpus", "gpus_per_node", "device"})
            if (whole.find(name) != nullptr)
                problems.push_back({path, 0, std::string("/") + name, "the plan finds this itself",
                                    "leave it out", Severity::error});
        whole["batch_tokens"] = whole["gpus"] = 1; // in place of what it finds
        whole["step_time"] = "1 s";
        if (file->find("tokens") == nullptr)
            whole["tokens"] = 1;
    }
    fields_of<WholeTrainingRequest>().read(Reader(whole, path, problems), request);
    if (file->find("tokens") == nullptr)
        request.tokens = 0;
    return problems;
}

// Of the kinds that it names.
void set_price(const std::string& text, std::vector<ClusterKind>& clusters, OptionReader& options)
{
    const Parsed<HourlyPrice> price =
        parse_hourly_price(text); // training_request says what is wrong
    if (!price || price->device.empty())
        return;
    bool known = false;
    for (ClusterKind& kind : clusters)
        if (plain_name(price->device) == plain_name(kind.name)) {
            set(kind.prices, *price); // in place of what is for all
            known = true;
        }
    if (!known)
        options.add("--price", text, "no cluster of --on has that name");
}

// Two prices of one device, or of all, would leave it to their order which holds.
Problems repeated_prices(const std::vector<std::string>& prices)
{
    Problems problems;
    std::map<std::string, std::string> first; // by device
    for (const std::string& text : prices) {
        const Parsed<HourlyPrice> price = parse_hourly_price(text);
        if (!price)
            continue;
        const auto [entry, fresh] = first.try_emplace(plain_name(price->device), text);
        if (!fresh)
            problems.push_back(
                {fmt::format("--price {}", text), 0, "",
                 fmt::format("{} has the price {} already",
                             price->device.empty() ? "every device" : price->device, entry->second),
                 "one price for each", Severity::error});
    }
    return problems;
}

Checked<std::vector<Objective>> objectives_of(const CapacityOptions& options)
{
    constexpr std::size_t most = 3;
    std::vector<Objective> out;
    for (const std::string& name : options.objectives) {
        const std::optional<Objective> objective = from_name<Objective>(name);
        if (!objective)
            return tl::unexpected(
                one_problem(fmt::format("--objectives: \"{}\" is nothing clusters differ in", name),
                            suggestion(name, FieldValue<Objective>::names())));
        if (std::ranges::find(out, *objective) != out.end())
            return tl::unexpected(
                one_problem(fmt::format("--objectives: {} is given twice", name), "each one once"));
        out.push_back(*objective);
    }
    if (out.size() == 1 || out.size() > most)
        return tl::unexpected(one_problem(
            fmt::format("--objectives: {} of them make no front that can be shown", out.size()),
            "two or three"));
    return out;
}

} // namespace

void add_capacity_options(CLI::App& app, CapacityOptions& options)
{
    app.add_option("--model", options.model,
                   "in place of a scenario: a shipped model, or a config.json");
    app.add_option("--on", options.clusters,
                   "clusters to plan: a GPU (h100), so many of them (256xh100), or a topology file "
                   "whose nodes may be more")
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

// Options that say something of a training, where it is only asked for steps.
Problems goalless_options(const CapacityOptions& options)
{
    Problems problems;
    const auto say = [&](const char* option, bool given) {
        if (given)
            problems.push_back({option, 0, "", "says nothing of steps",
                                "with --tokens, how much is to be learned", Severity::error});
    };
    say("--price", !options.prices.empty());
    say("--mtbf", !options.mtbf.empty());
    say("--checkpoint", !options.checkpoint.empty());
    say("--assume", !options.assumptions.empty());
    say("--objectives", !options.objectives.empty());
    return problems;
}

} // namespace

Problems unused_options(const CapacityOptions& options)
{
    Problems problems;
    const auto say = [&](const char* option, bool given, const char* hint) {
        if (given)
            problems.push_back({option, 0, "", "says nothing of a step", hint, Severity::error});
    };
    const bool nothing_learned = options.tokens.empty() && options.assumptions.empty();
    const char* const tokens = "with --tokens, how much is to be learned";
    say("--price", !options.prices.empty() && nothing_learned, tokens);
    for (const std::string& price : options.prices)
        if (price.find('=') != std::string::npos)
            problems.push_back({fmt::format("--price {}", price), 0, "",
                                "a scenario's devices need no name", "--price 2.5/h",
                                Severity::error});
    say("--mtbf", !options.mtbf.empty() && nothing_learned, tokens);
    say("--checkpoint", !options.checkpoint.empty() && nothing_learned, tokens);
    say("--batch", !options.batch.empty(), "--set training.global_batch=N, or --grid");
    say("--objectives", !options.objectives.empty(), "--front for one cluster's layouts");
    say("--sequence-length", options.sequence_length > 0, "--set training.sequence_length=N");
    return problems;
}

Checked<WholeTrainingRequest> training_request(const CapacityOptions& options)
{
    WholeTrainingRequest request;
    if (!options.assumptions.empty())
        if (Problems problems = read_assumptions(options.assumptions, request); !problems.empty())
            return tl::unexpected(std::move(problems));
    OptionReader reader;
    const auto refuse_two_goals = [&](const char* option, const std::string& text,
                                      const char* field, bool in_file) {
        if (in_file && !text.empty())
            reader.add(option, text,
                       fmt::format("{} has a goal of its own at {}", options.assumptions, field),
                       "one of them");
    };
    refuse_two_goals("--tokens", options.tokens, "/tokens", request.tokens > 0);
    refuse_two_goals("--within", options.within, "/deadline", request.deadline.has_value());
    if (const auto tokens = reader.read<double>("--tokens", options.tokens, parse_count))
        request.tokens = *tokens;
    if (const auto within = reader.read<Seconds>("--within", options.within, parse_seconds))
        request.deadline = *within;
    if (const auto mtbf =
            reader.read<FailureInterval>("--mtbf", options.mtbf, parse_failure_interval))
        set(request.failures, *mtbf);
    if (const auto time = reader.read<Seconds>("--checkpoint", options.checkpoint, parse_seconds))
        request.checkpoints.time = *time;
    for (const std::string& text : options.prices) // of whichever device
        if (const auto price = reader.read<HourlyPrice>("--price", text, parse_hourly_price);
            price && price->device.empty())
            set(request.prices, *price);
    Problems problems = reader.take();
    append(problems, repeated_prices(options.prices));
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return request;
}

Checked<CapacityRequest> capacity_request(const CapacityOptions& options,
                                          std::optional<ScenarioFile> scenario)
{
    CapacityRequest request;
    Problems problems;
    Checked<WholeTrainingRequest> training = training_request(options);
    if (training)
        request.training = std::move(*training);
    else
        append(problems, training.error());
    const auto take_kind = [&](Checked<ClusterKind> kind) {
        if (kind)
            request.clusters.push_back(std::move(*kind));
        else
            append(problems, kind.error());
    };
    for (const std::string& text : options.clusters)
        take_kind(cluster_kind(text, ""));
    if (options.clusters.empty() && scenario)
        take_kind(cluster_kind(*scenario));
    OptionReader reader;
    for (ClusterKind& kind : request.clusters)
        kind.prices = request.training.prices;
    for (const std::string& text : options.prices)
        set_price(text, request.clusters, reader);
    request.budget = reader.read<double>("--budget", options.budget, parse_count);
    request.scaling = reader.read<GpuRange>("--scaling", options.scaling, parse_gpu_range);
    request.guide = reader.read<GpuRange>("--guide", options.guide, parse_gpu_range);
    request.batch = reader.read<TokenRange>("--batch", options.batch, parse_token_range);
    if (scenario && !options.model.empty())
        reader.add("--model", options.model, "the scenario has a model already",
                   "--set model=NAME");
    if (scenario && options.sequence_length > 0)
        reader.add("--sequence-length", fmt::format("{}", options.sequence_length),
                   "the scenario has its own", "--set training.sequence_length=N");
    append(problems, reader.take());
    if (problems.empty() && !request.has_goal() && (request.scaling || request.guide))
        problems = goalless_options(options);
    if (Checked<std::vector<Objective>> objectives = objectives_of(options); objectives)
        request.objectives = std::move(*objectives);
    else
        append(problems, objectives.error());
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    request.scenario = std::move(scenario);
    request.model = source_from(options.model, request.folder);
    if (options.sequence_length > 0)
        request.sequence_length = options.sequence_length;
    return request;
}

TrainingReport training_report(const WholeTraining& training)
{
    TrainingReport report{training, training_sensitivities(training), {}};
    if (training.process.rate() > 0) {
        constexpr std::size_t trainings = 1000;
        report.simulated = simulate_trainings(
            training.process, {.count = affordable_trainings(training.time.failures, trainings)});
    }
    return report;
}

namespace {

PlannedScenario planned(const CapacityRequest& request, const ClusterAnswer& answer)
{
    const SizedCluster& sized = answer.sizes[*answer.chosen];
    const std::string kind = std::filesystem::path(answer.kind.name).stem().string();
    return {fmt::format("{}-{}", kind, sized.gpus), *sized.scenario,
            request.scenario ? request.scenario->base : request.folder};
}

// The answers.
std::vector<PlannedScenario> planned(const CapacityRequest& request, const CapacityPlan& plan)
{
    std::vector<PlannedScenario> out;
    for (const ClusterAnswer& answer : plan.clusters)
        if (answer.chosen) {
            PlannedScenario one = planned(request, answer);
            if (std::ranges::find(out, one.name, &PlannedScenario::name) != out.end())
                one.name += fmt::format("-{}", out.size() + 1); // another file of that name
            out.push_back(std::move(one));
        }
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
        texts.best = planned(request, plan.clusters[*plan.best]);
    texts.planned = planned(request, plan);
    return texts;
}

} // namespace

int run_capacity(CapacityRequest request, const PlanOutput& output)
{
    if (!request.has_goal() && (!output.scenario.empty() || output.exports.is_used()))
        return refuse(one_problem("without a goal there is no best cluster to write",
                                  "--tokens 2T, or without -o and --export"),
                      "nothing was run.");
    require_writable(output);
    const KeepsWhatIsDone keeps;
    Session session;
    Checked<CapacityPlan> plan;
    std::vector<ScalingReport> scaling;
    std::vector<GuideReport> guides;
    {
        ProgressBar bar;
        request.work = bar.control();
        plan = capacity_plan(request, session);
        if (plan && request.scaling)
            for (const ClusterKind& kind : request.clusters)
                scaling.push_back(
                    scaling_report(cluster_scaling(request, kind, session), plan->model));
        if (plan && request.guide)
            for (const ClusterKind& kind : request.clusters)
                guides.push_back(guide_report(strategy_guide(request, kind, session), plan->model));
    }
    if (!plan)
        return refuse(plan.error(), "nothing was run.");
    std::optional<TrainingReport> details;
    if (plan->best) {
        const ClusterAnswer& best = plan->clusters[*plan->best];
        const SizedCluster& sized = best.sizes[*best.chosen];
        details = training_report(*sized.training);
    }
    CapacityReport report = capacity_report(request, *plan, std::move(details));
    report.scaling = std::move(scaling);
    report.guides = std::move(guides);
    deliver(output, texts_of(output, request, *plan, report));
    if (plan->interrupted || std::ranges::any_of(report.scaling, &ScalingReport::interrupted) ||
        std::ranges::any_of(report.guides, &GuideReport::interrupted))
        return interrupted_exit();
    const bool scales = std::ranges::any_of(
        report.scaling, [](const ScalingReport& one) { return !one.strong.rows.empty(); });
    const bool guides_to_one = std::ranges::any_of(report.guides, [](const GuideReport& guide) {
        return std::ranges::any_of(
            guide.sizes, [](const GuideSizeReport& size) { return size.advised.has_value(); });
    });
    return plan->best || (!request.has_goal() && (scales || guides_to_one)) ? exit_ok : exit_no;
}

} // namespace trainyard

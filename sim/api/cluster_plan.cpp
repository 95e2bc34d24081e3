#include "sim/api/cluster_plan.h"

#include "sim/base/field_values.h"
#include "sim/base/fields.h"
#include "sim/base/spelling.h"
#include "sim/base/units.h"
#include "sim/study/capacity/capacity_plan.h"
#include "sim/study/jobs/job_import.h"
#include "sim/study/problems.h"
#include "sim/study/session.h"
#include "sim/study/training/training_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

// Reads fields one after the other; problems name them.
class QuestionReader {
public:
    template <class T>
    std::optional<T> read(std::string_view field, const std::string& text,
                          Parsed<T> (*parse)(std::string_view))
    {
        if (text.empty())
            return std::nullopt;
        Parsed<T> value = parse(text);
        if (value)
            return *value;
        add(field, value.error().message, value.error().hint);
        return std::nullopt;
    }

    void add(std::string_view field, std::string why, std::string hint = {})
    {
        append(problems_, placed(one_problem(std::move(why), std::move(hint)), field));
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

std::string price_field(std::size_t i)
{
    return fmt::format("/prices/{}", i);
}

// Of the kinds that it names.
void set_price(const std::string& text, std::string_view field, std::vector<ClusterKind>& clusters,
               QuestionReader& reader)
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
        reader.add(field, "no cluster has that name");
}

// Two prices of one device, or of all, would leave it to their order which holds.
Problems repeated_prices(const std::vector<std::string>& prices)
{
    Problems problems;
    std::map<std::string, std::string> first; // by device
    for (std::size_t i = 0; i < prices.size(); ++i) {
        const Parsed<HourlyPrice> price = parse_hourly_price(prices[i]);
        if (!price)
            continue;
        const auto [entry, fresh] = first.try_emplace(plain_name(price->device), prices[i]);
        if (!fresh)
            append(problems, placed(one_problem(fmt::format("{} has the price {} already",
                                                            price->device.empty() ? "every device"
                                                                                  : price->device,
                                                            entry->second),
                                                "one price for each"),
                                    price_field(i)));
    }
    return problems;
}

Checked<std::vector<Objective>> objectives_of(const CapacityQuestion& question)
{
    constexpr std::size_t most = 3;
    const auto refused = [](std::string why, std::string hint) {
        return tl::unexpected(placed(one_problem(std::move(why), std::move(hint)), "/objectives"));
    };
    std::vector<Objective> out;
    for (const std::string& name : question.objectives) {
        const std::optional<Objective> objective = from_name<Objective>(name);
        if (!objective)
            return refused(fmt::format("\"{}\" is nothing clusters differ in", name),
                           suggestion(name, FieldValue<Objective>::names()));
        if (std::ranges::find(out, *objective) != out.end())
            return refused(fmt::format("{} is given twice", name), "each one once");
        out.push_back(*objective);
    }
    if (out.size() == 1 || out.size() > most)
        return refused(fmt::format("{} of them make no front that can be shown", out.size()),
                       "two or three");
    return out;
}

constexpr std::string_view learned_hint = "with tokens, how much is to be learned";

// What says something of a training, where it is only asked for steps.
Problems goalless(const CapacityQuestion& question)
{
    QuestionReader reader;
    const auto say = [&](std::string_view field, bool given) {
        if (given)
            reader.add(field, "says nothing of steps", std::string(learned_hint));
    };
    say("/prices", !question.prices.empty());
    say("/mtbf", !question.mtbf.empty());
    say("/checkpoint", !question.checkpoint.empty());
    say("/assumptions", !question.assumptions.empty());
    say("/objectives", !question.objectives.empty());
    return reader.take();
}

} // namespace

Problems unused_fields(const CapacityQuestion& question)
{
    QuestionReader reader;
    const auto say = [&](std::string_view field, bool given, std::string_view hint) {
        if (given)
            reader.add(field, "says nothing of a step", std::string(hint));
    };
    const bool nothing_learned = question.tokens.empty() && question.assumptions.empty();
    say("/prices", !question.prices.empty() && nothing_learned, learned_hint);
    for (std::size_t i = 0; i < question.prices.size(); ++i)
        if (question.prices[i].find('=') != std::string::npos)
            reader.add(price_field(i), "a scenario's devices need no name", "2.5/h");
    say("/mtbf", !question.mtbf.empty() && nothing_learned, learned_hint);
    say("/checkpoint", !question.checkpoint.empty() && nothing_learned, learned_hint);
    say("/batch", !question.batch.empty(), "training.global_batch of the scenario, or an axis");
    say("/objectives", !question.objectives.empty(), "the front of one cluster's layouts");
    say("/sequence_length", question.sequence_length > 0,
        "training.sequence_length of the scenario");
    return reader.take();
}

Checked<WholeTrainingRequest> training_request(const CapacityQuestion& question)
{
    WholeTrainingRequest request;
    if (!question.assumptions.empty())
        if (Problems problems = read_assumptions(question.assumptions, request); !problems.empty())
            return tl::unexpected(std::move(problems));
    QuestionReader reader;
    const auto refuse_two_goals = [&](std::string_view field, const std::string& text,
                                      const char* in_file, bool is_there) {
        if (is_there && !text.empty())
            reader.add(field,
                       fmt::format("{} has a goal of its own at {}", question.assumptions, in_file),
                       "one of them");
    };
    refuse_two_goals("/tokens", question.tokens, "/tokens", request.tokens > 0);
    refuse_two_goals("/within", question.within, "/deadline", request.deadline.has_value());
    if (const auto tokens = reader.read<double>("/tokens", question.tokens, parse_count))
        request.tokens = *tokens;
    if (const auto within = reader.read<Seconds>("/within", question.within, parse_seconds))
        request.deadline = *within;
    refuse_two_goals("/budget", question.budget, "/budget", request.budget.has_value());
    if (const auto budget = reader.read<double>("/budget", question.budget, parse_count))
        request.budget = *budget;
    if (const auto mtbf =
            reader.read<FailureInterval>("/mtbf", question.mtbf, parse_failure_interval))
        set(request.failures, *mtbf);
    if (const auto time = reader.read<Seconds>("/checkpoint", question.checkpoint, parse_seconds))
        request.checkpoints.time = *time;
    for (std::size_t i = 0; i < question.prices.size(); ++i) // of whichever device
        if (const auto price =
                reader.read<HourlyPrice>(price_field(i), question.prices[i], parse_hourly_price);
            price && price->device.empty())
            set(request.prices, *price);
    Problems problems = reader.take();
    append(problems, repeated_prices(question.prices));
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return request;
}

namespace {

Checked<ClusterKind> asked_kind(const std::string& text, const ScenarioFile* own)
{
    if (text.empty())
        return tl::unexpected(one_problem("no cluster is named", "h100, or 256xh100 of them"));
    if (text != own_cluster)
        return cluster_kind(text, "");
    return own != nullptr
               ? cluster_kind(*own)
               : tl::unexpected(one_problem("there is no scenario whose cluster this could be",
                                            "h100, or 256xh100 of them"));
}

} // namespace

Checked<CapacityRequest> capacity_request(const CapacityQuestion& question,
                                          std::optional<ScenarioFile> scenario,
                                          const ScenarioFile* own)
{
    if (own == nullptr && scenario)
        own = &*scenario;
    CapacityRequest request;
    Problems problems;
    Checked<WholeTrainingRequest> training = training_request(question);
    if (training)
        request.training = std::move(*training);
    else
        append(problems, training.error());
    const auto take_kind = [&](Checked<ClusterKind> kind, const std::string& field) {
        if (kind)
            request.clusters.push_back(std::move(*kind));
        else
            append(problems, placed(kind.error(), field));
    };
    for (std::size_t i = 0; i < question.clusters.size(); ++i)
        take_kind(asked_kind(question.clusters[i], own), fmt::format("/clusters/{}", i));
    if (question.clusters.empty() && scenario)
        take_kind(cluster_kind(*scenario), "/clusters");
    QuestionReader reader;
    for (ClusterKind& kind : request.clusters)
        kind.prices = request.training.prices;
    const bool all_kinds = request.clusters.size() >= question.clusters.size();
    for (std::size_t i = 0; all_kinds && i < question.prices.size(); ++i)
        set_price(question.prices[i], price_field(i), request.clusters, reader);
    request.scaling = reader.read<GpuRange>("/scaling", question.scaling, parse_gpu_range);
    request.guide = reader.read<GpuRange>("/guide", question.guide, parse_gpu_range);
    request.batch = reader.read<TokenRange>("/batch", question.batch, parse_token_range);
    if (scenario && !question.model.empty())
        reader.add("/model", "the scenario has a model already", "change its field model");
    if (scenario && question.sequence_length > 0)
        reader.add("/sequence_length", "the scenario has its own",
                   "change its field training.sequence_length");
    append(problems, reader.take());
    if (problems.empty() && !request.has_goal() && (request.scaling || request.guide))
        problems = goalless(question);
    if (Checked<std::vector<Objective>> objectives = objectives_of(question); objectives)
        request.objectives = std::move(*objectives);
    else
        append(problems, objectives.error());
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    request.scenario = std::move(scenario);
    request.model = source_from(question.model, request.folder);
    if (question.sequence_length > 0)
        request.sequence_length = question.sequence_length;
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

bool CapacityAnswer::interrupted() const
{
    return plan.interrupted || std::ranges::any_of(report.scaling, &ScalingReport::interrupted) ||
           std::ranges::any_of(report.guides, &GuideReport::interrupted);
}

bool CapacityAnswer::answers(const CapacityRequest& request) const
{
    const bool scales = std::ranges::any_of(
        report.scaling, [](const ScalingReport& one) { return !one.strong.rows.empty(); });
    const bool guides_to_one = std::ranges::any_of(report.guides, [](const GuideReport& guide) {
        return std::ranges::any_of(
            guide.sizes, [](const GuideSizeReport& size) { return size.advised.has_value(); });
    });
    return plan.best || (!request.has_goal() && (scales || guides_to_one));
}

Checked<CapacityAnswer> plan_clusters(const CapacityRequest& request, Session& session)
{
    Checked<CapacityPlan> plan = capacity_plan(request, session);
    if (!plan)
        return tl::unexpected(std::move(plan.error()));
    std::vector<ScalingReport> scaling;
    std::vector<GuideReport> guides;
    for (const ClusterKind& kind : request.clusters) {
        if (request.scaling)
            scaling.push_back(scaling_report(cluster_scaling(request, kind, session), plan->model));
    }
    for (const ClusterKind& kind : request.clusters) {
        if (request.guide)
            guides.push_back(guide_report(strategy_guide(request, kind, session), plan->model));
    }
    std::optional<TrainingReport> details;
    if (plan->best) {
        const ClusterAnswer& best = plan->clusters[*plan->best];
        details = training_report(*best.sizes[*best.chosen].training);
    }
    CapacityReport report = capacity_report(request, *plan, std::move(details));
    report.scaling = std::move(scaling);
    report.guides = std::move(guides);
    return CapacityAnswer{std::move(*plan), std::move(report)};
}

PlannedScenario planned_size(const CapacityRequest& request, const ClusterKind& kind,
                             const SizedCluster& sized)
{
    const std::string name = std::filesystem::path(kind.name).stem().string();
    return {fmt::format("{}-{}", name, sized.gpus), *sized.scenario,
            request.scenario ? request.scenario->base : request.folder};
}

PlannedScenario planned_cluster(const CapacityRequest& request, const ClusterAnswer& answer)
{
    return planned_size(request, answer.kind, answer.sizes[*answer.chosen]);
}

std::vector<PlannedScenario> planned_clusters(const CapacityRequest& request,
                                              const CapacityPlan& plan)
{
    std::vector<PlannedScenario> out;
    for (const ClusterAnswer& answer : plan.clusters)
        if (answer.chosen) {
            PlannedScenario one = planned_cluster(request, answer);
            if (std::ranges::find(out, one.name, &PlannedScenario::name) != out.end())
                one.name += fmt::format("-{}", out.size() + 1); // another file of that name
            out.push_back(std::move(one));
        }
    return out;
}

} // namespace trainyard

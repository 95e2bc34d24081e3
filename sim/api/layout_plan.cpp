#include "sim/api/layout_plan.h"

#include "sim/api/cluster_plan.h"
#include "sim/cost/kernel_time.h"
#include "sim/report/flops.h"
#include "sim/report/plan/context_report.h"
#include "sim/study/capacity/smallest_cluster.h"
#include "sim/study/jobs/layout_text.h"
#include "sim/study/problems.h"
#include "sim/study/search/search_space.h"
#include "sim/study/session.h"
#include "sim/study/sweep_space.h"

#include <fmt/core.h>

#include <set>

namespace trainyard {
namespace {

// Of part of each NVLink domain all devices are paid.
WholeTrainingRequest on_all_devices(WholeTrainingRequest training, const SearchBase& base)
{
    Scenario whole = base.file.scenario;
    whole.strategy.gpus_per_domain = 0;
    const Checked<SweepFacts> facts =
        sweep_facts(scenario_in_memory(std::move(whole), base.file.base, base.file.file));
    if (facts && facts->devices > training.gpus) {
        training.gpus_per_node = training.gpus_per_node * facts->devices / training.gpus;
        training.gpus = facts->devices;
    }
    return training;
}

Checked<WholeTraining> training_with(const Outcome& outcome, const LayoutTask& task)
{
    return whole_training(on_all_devices(with_step_of(outcome, task.training), task.base));
}

// Of each layout; one that never ends, for its failures, has none.
void tell_trainings(const LayoutTask& task, const PlanOutcomes& outcomes, PlanReport& report)
{
    const auto tell = [&](PlanRow& row, const Outcome& outcome) {
        if (const Checked<WholeTraining> whole = training_with(outcome, task))
            row.training = *whole;
    };
    for (std::size_t i = 0; i < report.rows.size(); ++i)
        tell(report.rows[i], outcomes.best[i]);
    for (std::size_t i = 0; i < report.front.size(); ++i)
        tell(report.front[i], outcomes.front[i]);
    if (report.own)
        tell(*report.own, *outcomes.own);
}

// Of nodes such as the scenario's, where there can be more or fewer of them.
std::optional<SmallestFit> smallest_for(const LayoutTask& task, const std::vector<SweepAxis>& axes,
                                        const SearchResult& result, Session& session,
                                        const WorkControl& work)
{
    CapacityRequest request;
    request.scenario = task.asked;
    request.headroom = task.request.headroom;
    request.threads = task.request.threads;
    request.axes = axes;
    request.work = work;
    Checked<ClusterKind> kind = cluster_kind(task.asked);
    if (!kind || kind->nodes)
        return std::nullopt;
    kind->nodes = task.base.facts.devices / kind->gpus_per_node;
    const auto least =
        result.nearest ? std::optional(result.nearest->memory) : std::optional<Bytes>();
    try {
        const std::optional<SizedCluster> found =
            smallest_cluster(request, std::move(*kind), least, session);
        return found ? std::optional(smallest_fit(*found)) : std::nullopt;
    } catch (const Cancelled&) { // the answer does without it
        return std::nullopt;
    }
}

// Where the scenario does not run or fit as it stands, of its sizes the quickest with any
// micro-batch and any recompute of the space.
void look_for_own_fitting(const LayoutTask& task, const PlanOutcomes& outcomes, Session& session,
                          const WorkControl& work, PlanReport& report)
{
    if (report.rows.empty() || (outcomes.own && outcomes.own->memory.fits()))
        return;
    SearchRequest request = task.request;
    request.space = own_space(task.base.file.scenario);
    request.space.micro_batches = task.request.space.micro_batches;
    request.space.recompute = task.request.space.recompute;
    request.top = 1;
    request.front = false;
    request.work = work;
    request.listener = {};
    const SearchResult found = search(task.base, request, session);
    if (found.open == 0 && !found.best.empty())
        tell_own_fitting(task.base, found.best.front().choice,
                         outcomes_of(found, task.base, session).front(), report);
}

} // namespace

Problems repeated_axes(const std::vector<std::string>& axes)
{
    Problems problems;
    std::set<std::string> fields;
    for (const std::string& text : axes)
        if (const std::string field = text.substr(0, text.find('=')); !fields.insert(field).second)
            problems.push_back({fmt::format("--grid {}", field), 0, "", "is given twice",
                                "all its values in one", Severity::error});
    return problems;
}

Checked<std::vector<SweepAxis>> search_axes(const std::vector<std::string>& axes)
{
    std::vector<SweepAxis> out;
    Problems problems = repeated_axes(axes);
    for (const std::string& text : axes) {
        const Checked<SweepAxis> axis = parse_axis(text);
        if (axis)
            out.push_back(*axis);
        else
            append(problems, axis.error());
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    return out;
}

Checked<LayoutTask> layout_task(const ScenarioFile& file, const LayoutQuestion& question,
                                const WholeTrainingRequest& training)
{
    Checked<SearchBase> base = search_base(file);
    if (!base)
        return tl::unexpected(std::move(base.error()));
    SearchRequest request;
    request.space = usual_space(base->file.scenario, base->facts);
    Problems problems = repeated_axes(question.axes);
    for (const std::string& text : question.axes) {
        const Checked<SweepAxis> axis = parse_axis(text);
        append(problems, axis ? restrict(request.space, *axis) : axis.error());
    }
    if (!problems.empty())
        return tl::unexpected(std::move(problems));
    request.top = question.top;
    request.front = question.front;
    request.headroom = question.headroom;
    request.threads = question.threads;
    return LayoutTask{file, std::move(*base), std::move(request), training};
}

Checked<PlanReport> layout_report(const LayoutTask& task, const std::vector<SweepAxis>& axes,
                                  const SearchResult& result, bool context, Session& session,
                                  const WorkControl& work)
{
    PlanOutcomes outcomes{
        outcomes_of(result, task.base, session), {}, session.simulate(task.base.file)};
    if (result.front)
        outcomes.front = outcomes_of(*result.front, task.base, session);
    PlanReport report = plan_report(task.base, result, outcomes, task.request.headroom);
    if (task.training.tokens > 0)
        tell_trainings(task, outcomes, report);
    if (!context && result.open == 0)
        look_for_own_fitting(task, outcomes, session, work, report);
    tell_changes_from(task.asked.scenario, task.base, report);
    report.tells_own = !context;
    if (result.best.empty() && result.open == 0)
        report.smallest = smallest_for(task, axes, result, session, work);
    if (task.training.tokens > 0 && !outcomes.best.empty()) {
        const Checked<WholeTraining> whole = training_with(outcomes.best.front(), task);
        if (!whole)
            return tl::unexpected(whole.error());
        report.training = training_report(*whole);
    }
    return report;
}

std::vector<PlannedScenario> planned_layouts(const SearchResult& result, const SearchBase& base)
{
    std::vector<PlannedScenario> out;
    for (const RankedLayout& layout : result.best)
        out.push_back({fmt::format("{}", out.size() + 1), kept_scenario(layout.choice, base),
                       base.file.base});
    return out;
}

std::vector<PlannedScenario> planned_front(const SearchResult& result, const SearchBase& base)
{
    std::vector<PlannedScenario> out;
    if (result.front)
        for (const FrontLayout& layout : result.front->layouts)
            out.push_back({fmt::format("front-{}", out.size() + 1),
                           kept_scenario(layout.choice, base), base.file.base});
    return out;
}

LayoutNews news_of(const RankedLayout& best, const SearchBase& base)
{
    Scenario scenario = kept_scenario(best.choice, base);
    scenario.strategy.dp = replicas_of(best.choice, base.facts);
    Job job = base.parts.job;
    job.training = scenario.training;
    const Training& training = job.training;
    const double sequence =
        job.model.is_transformer() ? static_cast<double>(training.sequence_length) : 1;
    const Device& device = base.parts.cost->profile().hardware.device;
    LayoutNews news;
    news.layout = described(scenario);
    news.step_time = best.step_time;
    news.work_per_s =
        static_cast<double>(training.global_batch) * sequence / best.step_time.value();
    news.mfu = flops_utilization(model_flops_per_step(job), best.step_time,
                                 device.peak.at(executed_precision(training.precision, device)),
                                 base.facts.devices);
    return news;
}

Checked<LayoutAnswer> plan_layouts(const LayoutTask& task, const std::vector<SweepAxis>& axes,
                                   Session& session)
{
    const SearchResult result = search(task.base, task.request, session);
    Checked<PlanReport> report =
        layout_report(task, axes, result, false, session, task.request.work);
    if (!report)
        return tl::unexpected(std::move(report.error()));
    std::optional<PlannedScenario> smallest;
    if (report->smallest)
        smallest = {fmt::format("{}", report->smallest->gpus), report->smallest->scenario,
                    task.asked.base};
    return LayoutAnswer{std::move(*report), planned_layouts(result, task.base),
                        planned_front(result, task.base), std::move(smallest)};
}

Checked<LayoutAnswer> plan_layouts(const ScenarioFile& file, const LayoutQuestion& question,
                                   Session& session, const WorkControl& work,
                                   const WholeTrainingRequest& training)
{
    Checked<LayoutTask> task = layout_task(file, question, training);
    const Checked<std::vector<SweepAxis>> axes = search_axes(question.axes);
    if (!task)
        return tl::unexpected(std::move(task.error()));
    task->request.work = work;
    return plan_layouts(*task, *axes, session);
}

Checked<ContextPlan> plan_context(const ScenarioFile& file, const LayoutQuestion& question,
                                  Session& session, const WorkControl& work,
                                  const WholeTrainingRequest& training)
{
    const Checked<std::vector<SweepAxis>> axes = search_axes(question.axes);
    if (!axes)
        return tl::unexpected(axes.error());
    ContextRequest request{file, *axes, {}, training};
    request.search.top = question.top;
    request.search.front = question.front;
    request.search.headroom = question.headroom;
    request.search.threads = question.threads;
    request.search.work = work;
    Checked<LongestContext> found = longest_context(request, session);
    if (!found)
        return tl::unexpected(std::move(found.error()));
    ContextPlan plan{std::move(*found), {}};
    if (!plan.lengths.answer)
        return plan;
    const ContextAnswer& answer = *plan.lengths.answer;
    Checked<PlanReport> report = layout_report({file, answer.base, answer.request, training}, *axes,
                                               answer.result, true, session, work);
    if (!report)
        return tl::unexpected(std::move(report.error()));
    plan.layouts = {std::move(*report),
                    planned_layouts(answer.result, answer.base),
                    planned_front(answer.result, answer.base),
                    {}};
    return plan;
}

Json to_json(const ContextPlan& plan)
{
    Json json = plan.layouts ? to_json(plan.layouts->report) : Json::object();
    json["context"] = to_json(plan.lengths);
    return json;
}

std::string context_plan_text(const ContextPlan& plan, const Paint& paint, std::size_t width)
{
    const std::string lengths = context_text(plan.lengths, paint, width);
    return plan.layouts ? lengths + "\n" + plan_text(plan.layouts->report, paint, width) : lengths;
}

} // namespace trainyard

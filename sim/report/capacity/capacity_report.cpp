#include "sim/report/capacity/capacity_report.h"

#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/summary.h"
#include "sim/report/text/describe.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

namespace {

std::string goal_text(const CapacityRequest& request)
{
    const WholeTrainingRequest& training = request.training;
    std::string out = training.tokens > 0
                          ? fmt::format("{} {}", to_display_count(training.tokens), training.unit)
                          : fmt::format("as many {} as can be", training.unit);
    if (training.deadline)
        out += fmt::format(" within {}", wall_text(*training.deadline));
    if (training.budget)
        out += fmt::format(" for {}", money_text(*training.budget));
    if (training.deadline || training.budget)
        out += fmt::format(", {}with a chance of {:.4g} %",
                           training.deadline && training.budget ? "each " : "",
                           100 * training.certainty);
    return out;
}

// Why no layout runs: what the model or cluster cannot do, or what leaves nothing.
std::string refusal_of(const SizedCluster& sized)
{
    if (!sized.problems.empty()) {
        const Diagnostic& first = sized.problems.front();
        return first.pointer.empty() ? first.message : first.message + " at " + first.pointer;
    }
    if (sized.unproven)
        return "interrupted before a layout was found that fits";
    if (sized.least_memory)
        return fmt::format("does not fit: the fullest device needs at least {}",
                           to_display(*sized.least_memory));
    return "no layout divides devices and batch";
}

bool is_in_time(const CapacityRow& row)
{
    return row.training && row.training->meets_deadline();
}

std::vector<std::string> misses_of(const CapacityRequest& request, const WholeTraining& training)
{
    std::vector<std::string> out;
    if (request.training.deadline && training.time.mean() > *request.training.deadline)
        out.push_back(fmt::format("{} too long",
                                  wall_text(training.time.mean() - *request.training.deadline)));
    else if (!training.meets_deadline())
        out.push_back(fmt::format("in time with {} only", percent(*training.in_time)));
    const std::optional<double>& budget = training.request.budget;
    if (budget && training.cost.money && *training.cost.money > *budget)
        out.push_back(fmt::format("{} too much", money_text(*training.cost.money - *budget)));
    else if (!training.meets_budget())
        out.push_back(fmt::format("in budget with {} only", percent(*training.in_budget)));
    return out;
}

CapacityRow row_of(const CapacityRequest& request, const ClusterAnswer& answer, std::size_t i)
{
    const SizedCluster& sized = answer.sizes[i];
    CapacityRow row;
    row.cluster = answer.kind.name;
    row.nodes = sized.nodes;
    row.gpus = sized.gpus;
    row.chosen = answer.chosen == i;
    row.training = sized.training;
    row.unproven = sized.unproven;
    if (sized.training)
        row.misses = misses_of(request, *sized.training);
    if (sized.outcome) {
        row.figures = run_figures(*sized.outcome);
        row.layout = layout_words(*sized.scenario, *sized.outcome);
        row.global_batch = sized.outcome->job.training.global_batch;
    }
    if (!sized.training)
        row.refusal = refusal_of(sized);
    return row;
}

void add_scaling(std::vector<CapacityRow>& rows)
{
    const auto first =
        std::ranges::find_if(rows, [](const CapacityRow& row) { return row.figures.has_value(); });
    for (CapacityRow& row : rows)
        if (row.figures)
            row.scaling = row.figures->work_per_s() / row.figures->gpus /
                          (first->figures->work_per_s() / first->figures->gpus);
}

} // namespace

const CapacityRow* CapacityReport::told_of(std::size_t kind) const
{
    if (const CapacityRow* const chosen = chosen_of(kind))
        return chosen;
    const bool by_cost = budget && (!deadline || std::ranges::any_of(clusters[kind], is_in_time));
    const CapacityRow* nearest = nullptr;
    const auto less = [&](const CapacityRow& a, const CapacityRow& b) {
        return by_cost && a.training->cost.money && b.training->cost.money
                   ? *a.training->cost.money < *b.training->cost.money
                   : a.training->time.mean() < b.training->time.mean();
    };
    for (const CapacityRow& row : clusters[kind])
        if (row.training && (!by_cost || is_in_time(row)) &&
            (nearest == nullptr || less(row, *nearest)))
            nearest = &row;
    return nearest;
}

const CapacityRow* CapacityReport::cheaper_of(std::size_t kind) const
{
    constexpr double worth_saying = 0.99; // of what the fewest cost
    const CapacityRow* const chosen = chosen_of(kind);
    const CapacityRow* cheapest = nullptr;
    if (chosen == nullptr || !has_tokens)
        return cheapest;
    const auto money = [](const CapacityRow& row) { return row.training->cost.money; };
    for (const CapacityRow& row : clusters[kind])
        if (is_in_time(row) && money(row) && money(*chosen) &&
            *money(row) < worth_saying * *money(*chosen) &&
            (cheapest == nullptr || *money(row) < *money(*cheapest)))
            cheapest = &row;
    return cheapest;
}

const CapacityRow* CapacityReport::chosen_of(std::size_t kind) const
{
    const auto found = std::ranges::find_if(clusters[kind], &CapacityRow::chosen);
    return found == clusters[kind].end() ? nullptr : &*found;
}

CapacityReport capacity_report(const CapacityRequest& request, const CapacityPlan& plan,
                               std::optional<TrainingReport> details)
{
    CapacityReport report;
    report.goal = request.has_goal() ? goal_text(request) : "";
    report.model = plan.model;
    report.unpriced = plan.unpriced;
    report.unit = request.training.unit;
    report.has_tokens = request.training.tokens > 0;
    report.tolerance = request.tolerance;
    report.headroom = request.headroom;
    report.interrupted = plan.interrupted;
    report.best = plan.best;
    report.training = std::move(details);
    report.deadline = request.training.deadline;
    report.budget = request.training.budget;
    for (const ClusterAnswer& answer : plan.clusters) {
        std::vector<CapacityRow>& rows = report.clusters.emplace_back();
        for (std::size_t i = 0; i < answer.sizes.size(); ++i) {
            rows.push_back(row_of(request, answer, i));
            report.points += answer.sizes[i].points;
            report.simulated += answer.sizes[i].simulated;
        }
        report.smallest.push_back(answer.smallest ? std::optional(smallest_fit(*answer.smallest))
                                                  : std::nullopt);
        add_scaling(rows);
    }
    const ClusterFront front = cluster_front(plan, request.objectives);
    for (const ClusterFront::Place& place : front.places)
        report.clusters[place.kind][place.size].on_front = true;
    if (!front.places.empty())
        report.front = front.objectives;
    if (plan.best) {
        const ClusterAnswer& best = plan.clusters[*plan.best];
        report.reasons = best.sizes[*best.chosen].reasons;
    }
    return report;
}

} // namespace trainyard

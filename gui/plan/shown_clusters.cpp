// Clusters for a training as they are shown.

#include "gui/model/qt_text.h"
#include "gui/plan/plan_words.h"
#include "gui/plan/shown_plan.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"

#include <algorithm>

namespace trainyard::gui {

namespace {

constexpr double day_s = 86'400;
constexpr double hundred = 100;
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

QString size_name(const CapacityRow& row)
{
    return QStringLiteral("%1 × %2").arg(row.gpus).arg(text_of(row.cluster));
}

struct SizeColumns {
    bool costs = false;
    bool chances = false;
    bool learned = false; // the goal leaves open how much
    std::optional<double> now;
    QString unit;
};

SizeColumns size_columns(const CapacityReport& report, std::optional<double> now)
{
    SizeColumns out;
    out.learned = !report.has_tokens;
    out.now = now;
    out.unit = text_of(report.unit);
    for (const std::vector<CapacityRow>& rows : report.clusters)
        for (const CapacityRow& row : rows)
            if (row.training) {
                out.costs = out.costs || row.training->cost.money;
                out.chances = out.chances || row.training->in_time;
            }
    return out;
}

std::vector<PlanColumn> headings(const SizeColumns& shown)
{
    std::vector<PlanColumn> out{{plan_words("cluster"), of_words},
                                {plan_words("GPUs"), of_whole_numbers},
                                {plan_words("days"), 4},
                                {plan_words("from [days]"), 4},
                                {plan_words("to [days]"), 4}};
    if (shown.costs)
        out.push_back({plan_words("cost [$]"), of_whole_numbers});
    if (shown.chances)
        out.push_back({plan_words("in time [%]"), 3});
    if (shown.learned)
        out.push_back({shown.unit, of_whole_numbers});
    out.insert(out.end(), {{plan_words("step [s]"), 4},
                           {plan_words("from [s]"), 4},
                           {plan_words("to [s]"), 4},
                           {plan_words("%1/s").arg(shown.unit), of_whole_numbers},
                           {plan_words("MFU [%]"), 3},
                           {plan_words("memory [%]"), 3},
                           {plan_words("memory from [%]"), 3},
                           {plan_words("memory to [%]"), 3},
                           {plan_words("per GPU [%]"), 3}});
    if (shown.now)
        out.push_back({plan_words("rate against the scenario [%]"), 3});
    out.insert(out.end(),
               {{plan_words("layout"), of_words}, {plan_words("what is missing"), of_words}});
    return out;
}

std::vector<PlanCell> size_cells(const CapacityRow& row, const SizeColumns& shown)
{
    const auto number = [](double value) { return PlanCell{{}, value}; };
    const WholeTraining* const training = row.training ? &*row.training : nullptr;
    const StepFigures* const step = row.figures ? &*row.figures : nullptr;
    const auto of_training = [&](auto value) {
        return number(training != nullptr ? value(*training) : not_known);
    };
    const auto of_step = [&](auto value) {
        return number(step != nullptr ? value(*step) : not_known);
    };
    using Whole = const WholeTraining&;
    using Step = const StepFigures&;
    std::vector<PlanCell> out{{text_of(row.cluster), not_known},
                              number(row.gpus),
                              of_training([](Whole of) { return of.time.mean().value() / day_s; }),
                              of_training([](Whole of) { return of.wall.low.value() / day_s; }),
                              of_training([](Whole of) { return of.wall.high.value() / day_s; })};
    if (shown.costs)
        out.push_back(of_training([](Whole of) { return of.cost.money.value_or(not_known); }));
    if (shown.chances)
        out.push_back(
            of_training([](Whole of) { return hundred * of.in_time.value_or(not_known); }));
    if (shown.learned)
        out.push_back(of_training([](Whole of) { return of.request.tokens; }));
    out.insert(out.end(), {of_step([](Step of) { return of.step_time.value.value(); }),
                           of_step([](Step of) { return of.step_time.low.value(); }),
                           of_step([](Step of) { return of.step_time.high.value(); }),
                           of_step([](Step of) { return of.work_per_s(); }),
                           of_step([](Step of) { return hundred * of.mfu; }), of_step([](Step of) {
                               return of.capacity > Bytes(0)
                                          ? hundred * (of.peak_memory / of.capacity)
                                          : not_known;
                           }),
                           of_step([](Step of) { return share_of_device(of, of.peak.low); }),
                           of_step([](Step of) { return share_of_device(of, of.peak.high); }),
                           number(row.scaling ? hundred * *row.scaling : not_known)});
    if (shown.now)
        out.push_back(
            of_step([&](Step of) { return hundred * (of.work_per_s() / *shown.now - 1); }));
    QStringList missing;
    for (const std::string& one : row.misses)
        missing << text_of(one);
    out.push_back({text_of(row.layout), not_known});
    out.push_back({row.refusal.empty() ? missing.join(QStringLiteral(", ")) : text_of(row.refusal),
                   not_known});
    return out;
}

// What one wants to hear of two clusters: which costs less, else which needs fewer GPUs.
QString headline_of_clusters(const CapacityReport& report)
{
    if (!report.best)
        return {};
    const CapacityRow& best = *report.chosen_of(*report.best);
    const std::optional<double>& cost = best.training->cost.money;
    std::size_t priced = 0;
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind)
        if (const CapacityRow* const row = report.chosen_of(kind))
            priced += row->training->cost.money ? 1 : 0;
    const QString what = !report.has_tokens   ? plan_words("Most is learned by %1")
                         : cost && priced > 1 ? plan_words("Cheapest: %1")
                                              : plan_words("Best: %1");
    QString out = what.arg(size_name(best)) + QStringLiteral(": ") + training_words(*best.training);
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind) {
        const CapacityRow* const other = report.chosen_of(kind);
        if (kind == *report.best || other == nullptr)
            continue;
        out += QStringLiteral("; %1: %2").arg(size_name(*other), training_words(*other->training));
        if (const std::optional<double>& more = other->training->cost.money; cost && more)
            out += plan_words(" (%1 more)").arg(text_of(percent(*more / *cost - 1)));
    }
    return out + QStringLiteral(".");
}

PlanEntry size_entry(const CapacityRow& row, const SizeColumns& columns)
{
    PlanEntry entry;
    entry.name = size_name(row);
    entry.cells = size_cells(row, columns);
    entry.chosen = row.chosen;
    entry.on_front = row.on_front;
    entry.gpus = row.gpus;
    if (row.training) {
        entry.days = row.training->time.mean().value() / day_s;
        entry.cost = row.training->cost.money;
    }
    if (row.figures) {
        entry.step_s = row.figures->step_time.value.value();
        if (row.figures->capacity > Bytes(0))
            entry.memory = row.figures->peak_memory / row.figures->capacity;
    }
    return entry;
}

QStringList verdicts_of(const CapacityReport& report)
{
    QStringList out;
    for (const std::string& text : capacity_verdicts(report))
        out << text_of(text);
    if (!report.front.empty())
        out << text_of(front_text(report));
    if (!report.interrupted)
        out << text_of(searched_text(report));
    for (const std::string& reason : report.reasons)
        out << text_of(reason);
    return out;
}

// Kind by kind as asked for, the best kind and its chosen size first.
void sort_best_first(ShownPlan& shown, std::optional<std::size_t> best)
{
    std::ranges::stable_sort(shown.entries, std::ranges::less{}, [&](const PlanEntry& entry) {
        return std::pair(!entry.chosen, best && entry.series != *best);
    });
}

} // namespace

ShownPlan shown_clusters(const CapacityRequest& request, const CapacityAnswer& answer,
                         std::optional<double> now)
{
    const CapacityReport& report = answer.report;
    ShownPlan shown;
    shown.kind = PlanKind::clusters;
    shown.interrupted = answer.interrupted();
    shown.headline = headline_of_clusters(report);
    shown.verdicts = verdicts_of(report);
    if (shown.headline.isEmpty() && !shown.verdicts.isEmpty())
        shown.headline = shown.verdicts.takeFirst();
    const SizeColumns columns = size_columns(report, now);
    shown.columns = headings(columns);
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind) {
        const ClusterAnswer& sizes = answer.plan.clusters[kind];
        shown.kinds.push_back(text_of(sizes.kind.name));
        for (std::size_t i = 0; i < report.clusters[kind].size(); ++i) {
            PlanEntry entry = size_entry(report.clusters[kind][i], columns);
            entry.series = kind;
            if (sizes.sizes[i].scenario)
                entry.scenario = planned_size(request, sizes.kind, sizes.sizes[i]);
            shown.entries.push_back(std::move(entry));
        }
    }
    sort_best_first(shown, report.best);
    return shown;
}

} // namespace trainyard::gui

// The best layouts of a cluster as they are shown.

#include "gui/model/qt_text.h"
#include "gui/plan/plan_words.h"
#include "gui/plan/shown_plan.h"
#include "sim/base/units.h"
#include "sim/report/figures.h"
#include "sim/report/kinds.h"

#include <algorithm>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr double seconds_of_day = 86'400;
constexpr double per_cent = 100;

// Some of the columns stand only where a row knows them.
class LayoutRows {
public:
    explicit LayoutRows(const PlanReport& report)
        : report_(report),
          trained_(std::ranges::any_of(report.rows, knows_training)),
          priced_(std::ranges::any_of(report.rows, knows_cost))
    {}

    std::vector<PlanColumn> columns() const
    {
        const bool tokens = report_.rows.front().work() == WorkUnit::tokens;
        std::vector<PlanColumn> out{
            {plan_words("layout"), of_words},
            {plan_words("micro-batch"), of_whole_numbers},
            {plan_words("step [s]"), 4},
            {plan_words("from [s]"), 4},
            {plan_words("to [s]"), 4},
            {tokens ? plan_words("tokens/s") : plan_words("samples/s"), of_whole_numbers},
            {plan_words("MFU [%]"), 3},
            {plan_words("memory [%]"), 3},
            {plan_words("memory from [%]"), 3},
            {plan_words("memory to [%]"), 3}};
        if (trained_)
            out.push_back({plan_words("days"), 4});
        if (priced_)
            out.push_back({plan_words("cost [$]"), of_whole_numbers});
        if (report_.own)
            out.push_back({plan_words("against the scenario [%]"), 3});
        out.push_back({plan_words("loses in"), of_words});
        return out;
    }

    PlanEntry entry(const PlanRow& row) const
    {
        PlanEntry out;
        out.name = text_of(row.layout);
        out.step_s = row.step_time.value.value();
        if (row.capacity > Bytes(0))
            out.memory = row.peak_memory / row.capacity;
        out.gpus = row.gpus;
        if (row.training)
            out.days = row.training->time.mean().value() / seconds_of_day;
        if (knows_cost(row))
            out.cost = *row.training->cost.money;
        out.cells = cells(row, out);
        return out;
    }

private:
    static bool knows_training(const PlanRow& row) { return row.training.has_value(); }
    static bool knows_cost(const PlanRow& row)
    {
        return row.training && row.training->cost.money.has_value();
    }

    std::vector<PlanCell> cells(const PlanRow& row, const PlanEntry& entry) const
    {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        const auto number = [](double value) { return PlanCell{{}, value}; };
        std::vector<PlanCell> out{{entry.name, unknown},
                                  number(static_cast<double>(row.choice.micro_batch)),
                                  number(row.step_time.value.value()),
                                  number(row.step_time.low.value()),
                                  number(row.step_time.high.value()),
                                  number(row.work_per_s()),
                                  number(per_cent * row.mfu),
                                  number(per_cent * entry.memory.value_or(unknown)),
                                  number(share_of_device(row, row.peak.low)),
                                  number(share_of_device(row, row.peak.high))};
        if (trained_)
            out.push_back(number(entry.days.value_or(unknown)));
        if (priced_)
            out.push_back(number(entry.cost.value_or(unknown)));
        if (report_.own)
            out.push_back(number(per_cent * (slowdown(row, *report_.own) - 1)));
        out.push_back({row.loses_in ? text_of(title_of(*row.loses_in)) : QString(), unknown});
        return out;
    }

    const PlanReport& report_;
    bool trained_;
    bool priced_;
};

// Of a search that was ended a quicker one may be open: nothing is the best then.
QString headline_of_layouts(const PlanReport& report)
{
    const PlanRow& best = report.rows.front();
    QString out = plan_words("%1: %2: %3 a step (%4 – %5), MFU %6")
                      .arg(report.search.open > 0 ? plan_words("Best so far") : plan_words("Best"),
                           text_of(best.layout), text_of(to_display(best.step_time.value)),
                           text_of(to_display(best.step_time.low)),
                           text_of(to_display(best.step_time.high)), text_of(percent(best.mfu)));
    if (best.training)
        out += QStringLiteral("; ") + training_words(*best.training);
    if (report.search.open > 0 && report.own && slowdown(*report.own, best) < 1)
        out += plan_words("; the scenario as it is takes %1")
                   .arg(text_of(to_display(report.own->step_time.value)));
    return out + QStringLiteral(".");
}

QString evidence_of(const PlanRow& best)
{
    return plan_words("The interval holds 90 %: %1. Constants: %2.")
        .arg(text_of(best.step_time.basis), text_of(to_name(best.step_time.grade)));
}

void add_entries(const LayoutAnswer& answer, ShownPlan& shown)
{
    const PlanReport& report = answer.report;
    const LayoutRows rows(report);
    shown.columns = rows.columns();
    const auto on_front = [&](const PlanRow& row) {
        return std::ranges::find(report.front, row.choice, &PlanRow::choice) != report.front.end();
    };
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        PlanEntry entry = rows.entry(report.rows[i]);
        entry.scenario = answer.planned[i];
        entry.chosen = i == 0;
        entry.on_front = on_front(report.rows[i]);
        shown.entries.push_back(std::move(entry));
    }
    for (std::size_t i = 0; i < report.front.size(); ++i) {
        const PlanRow& row = report.front[i];
        if (std::ranges::find(report.rows, row.choice, &PlanRow::choice) != report.rows.end())
            continue;
        PlanEntry entry = rows.entry(row);
        entry.scenario = answer.front[i];
        entry.on_front = true;
        shown.entries.push_back(std::move(entry));
    }
    if (report.own) {
        PlanEntry own = rows.entry(*report.own);
        own.own = true;
        own.name = plan_words("the scenario as it is: %1").arg(own.name);
        own.cells.front().text = own.name;
        shown.entries.push_back(std::move(own));
    }
}

} // namespace

double share_of_device(const StepFigures& figures, Bytes end)
{
    return figures.peak.has_interval() && figures.capacity > Bytes(0)
               ? per_cent * (end / figures.capacity)
               : std::numeric_limits<double>::quiet_NaN();
}

QString training_words(const WholeTraining& training)
{
    QString out = text_of(wall_text(training.time.mean()));
    const std::string low = wall_text(training.wall.low);
    const std::string high = wall_text(training.wall.high);
    if (low != high)
        out += plan_words(" (%1 to %2)").arg(text_of(low), text_of(high));
    if (training.cost.money)
        out += plan_words(", %1").arg(text_of(money_text(*training.cost.money)));
    if (training.in_time)
        out += plan_words(", in time with %1").arg(text_of(percent(*training.in_time)));
    return out;
}

ShownPlan shown_layouts(const LayoutAnswer& answer)
{
    const PlanReport& report = answer.report;
    ShownPlan shown;
    shown.kind = PlanKind::layouts;
    shown.interrupted = report.search.open > 0;
    for (const LeftOut& one : left_out(report))
        shown.left_out.push_back({one.points, text_of(one.reason)});
    if (report.rows.empty()) {
        shown.headline = text_of(nothing_fits(report));
        shown.smallest = answer.smallest;
        shown.smallest_gpus = report.smallest ? report.smallest->gpus : 0;
        return shown;
    }
    shown.headline = headline_of_layouts(report);
    for (const std::string& text : {own_text(report), proof_text(report), runner_up_text(report)})
        if (!text.empty())
            shown.verdicts << text_of(text);
    shown.verdicts << evidence_of(report.rows.front());
    add_entries(answer, shown);
    return shown;
}

} // namespace trainyard::gui

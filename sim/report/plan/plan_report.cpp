#include "sim/report/plan/plan_report.h"

#include "sim/report/kinds.h"
#include "sim/report/summary.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/paste.h"

namespace trainyard {

namespace {

// Sums of the kinds of time, means over ranks, are the step. Of another batch they count as those
// of as many sequences as the best has.
void compare_with(const PlanRow& best, PlanRow& row)
{
    for (std::size_t kind = 0; kind < row.mean.size(); ++kind) {
        const Seconds more = row.mean[kind] * sequences_ratio(best, row) - best.mean[kind];
        if (more > row.lost) {
            row.lost = more;
            row.loses_in = static_cast<TimeKind>(kind);
        }
    }
}

PlanRow row_of(const Outcome& outcome)
{
    PlanRow row;
    static_cast<StepFigures&>(row) = run_figures(outcome);
    row.dp = outcome.job.dp();
    if (std::get_if<Transformer>(&outcome.job.model.architecture) != nullptr)
        row.sequence_length = outcome.job.training.sequence_length;
    row.input_hash = outcome.input_hash;
    return row;
}

// Of a layout that a search found, against the report's best.
PlanRow searched_row(const SearchBase& base, const PlanReport& report, LayoutChoice choice,
                     const Outcome& outcome)
{
    PlanRow row = row_of(outcome);
    row.choice = std::move(choice);
    row.layout = layout_words(kept_scenario(row.choice, base), outcome);
    row.changes = changes_of(row.choice, base.facts, base.file.scenario);
    if (!report.rows.empty())
        compare_with(report.rows.front(), row);
    return row;
}

std::string own_refusal(const Checked<Outcome>& own)
{
    if (own || own.error().empty())
        return {};
    const Diagnostic& first = own.error().front();
    return first.pointer.empty() ? first.message : first.message + " at " + first.pointer;
}

} // namespace

PlanReport plan_report(const SearchBase& base, SearchResult search, const PlanOutcomes& outcomes,
                       double headroom)
{
    PlanReport report;
    report.scenario = base.file.file;
    report.devices = base.facts.devices;
    report.headroom = headroom;
    report.fidelity = base.file.scenario.run.fidelity.value_or(Fidelity::alpha_beta);
    const auto add = [&](std::vector<PlanRow>& rows, const Outcome& outcome, LayoutChoice choice) {
        rows.push_back(searched_row(base, report, std::move(choice), outcome));
    };
    for (std::size_t i = 0; i < outcomes.best.size(); ++i) {
        add(report.rows, outcomes.best[i], search.best[i].choice);
        report.rows.back().bound = search.best[i].bound;
    }
    for (std::size_t i = 0; i < outcomes.front.size(); ++i)
        add(report.front, outcomes.front[i], search.front->layouts[i].choice);
    if (!outcomes.best.empty()) {
        report.title = job_title(outcomes.best.front());
        report.settings = job_settings(outcomes.best.front());
    }
    if (outcomes.own && outcomes.own->memory.fits()) {
        report.own = row_of(*outcomes.own);
        report.own->choice = choice_of(base.file.scenario);
        report.own->layout = layout_words(base.file.scenario, *outcomes.own);
        if (!report.rows.empty())
            compare_with(report.rows.front(), *report.own);
    }
    report.own_refusal = own_refusal(outcomes.own);
    report.search = std::move(search);
    return report;
}

void tell_own_fitting(const SearchBase& base, const LayoutChoice& choice, const Outcome& outcome,
                      PlanReport& report)
{
    report.own_fitting = searched_row(base, report, choice, outcome);
}

std::vector<PlanRow> telling_front(const PlanReport& report)
{
    constexpr double telling = 0.03;
    std::vector<PlanRow> out;
    for (const PlanRow& row : report.front)
        if (out.empty() || &row == &report.front.back() ||
            out.back().peak_memory / out.back().capacity - row.peak_memory / row.capacity >=
                telling)
            out.push_back(row);
    return out;
}

void tell_changes_from(const Scenario& asked, const SearchBase& base, PlanReport& report)
{
    for (std::vector<PlanRow>* const rows : {&report.rows, &report.front})
        for (PlanRow& row : *rows)
            row.changes = changes_between(asked, kept_scenario(row.choice, base));
    if (report.own_fitting)
        report.own_fitting->changes =
            changes_between(asked, kept_scenario(report.own_fitting->choice, base));
}

double sequences_ratio(const PlanRow& best, const PlanRow& row)
{
    return static_cast<double>(best.choice.global_batch) /
           static_cast<double>(row.choice.global_batch);
}

double slowdown(const PlanRow& row, const PlanRow& best)
{
    return row.step_time.value / best.step_time.value * sequences_ratio(best, row);
}

RatioPrediction against(const PlanRow& row, const PlanRow& best)
{
    Prediction of_row = row.step_time;
    of_row.value = best.step_time.value * slowdown(row, best);
    return predict_ratio(best.step_time, of_row);
}

double memory_left(const PlanRow& row)
{
    return 1 - row.peak_memory / row.capacity;
}

bool knows_memory(const PlanReport& report)
{
    return report.rows.front().capacity > Bytes(0);
}

std::string plan_settings(const PlanReport& report)
{
    return paste_text(report.rows.front().changes);
}

} // namespace trainyard

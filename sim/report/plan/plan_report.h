#pragma once

// The best layouts of a search, as values and in words.

#include "sim/report/step_figures.h"
#include "sim/report/text/paint.h"
#include "sim/study/search/search.h"

namespace trainyard {

inline constexpr std::string_view plan_format = "trainyard.plan/1";

struct PlanRow : StepFigures {
    LayoutChoice choice;
    int dp = 1;
    std::vector<Override> changes; // from the scenario, as --set takes them
    Seconds bound;                 // that no simulation of it is below; 0: not known
    std::uint64_t input_hash = 0;
    // Against the first row: the kind of time that most is lost in, and how much (mean of ranks).
    std::optional<TimeKind> loses_in;
    Seconds lost;
};

struct PlanReport {
    std::string scenario; // as the user named it
    std::string title;    // model and cluster
    std::string settings; // of the best row, in words
    int devices = 1;
    double headroom = 0;
    Fidelity fidelity = Fidelity::alpha_beta; // of all points
    SearchResult search;                      // its rows are `rows`
    std::vector<PlanRow> rows;                // best first
    std::optional<PlanRow> own;               // the scenario as it stands, where that runs and fits
    std::string own_refusal;                  // else why it does not
};

// `outcomes`: of the search's best, in order. `own`: of the scenario as it stands.
PlanReport plan_report(const SearchBase& base, SearchResult search,
                       const std::vector<Outcome>& outcomes, const Checked<Outcome>& own,
                       double headroom);

// How much longer a sequence takes in `row` than in `best`, as a factor.
double slowdown(const PlanRow& row, const PlanRow& best);

// A table, what to paste, and how many points were left out for which reason.
std::string plan_text(const PlanReport& report, const Paint& paint, std::size_t width = 100);

Json to_json(const PlanReport& report);

// One line per row, with figures in SI units.
std::string plan_csv(const PlanReport& report);

// "--set strategy.tp=4": of the best row.
std::string plan_settings(const PlanReport& report);

} // namespace trainyard

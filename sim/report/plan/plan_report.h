#pragma once

// The best layouts of a search, as values and in words.

#include "sim/report/capacity/smallest_fit.h"
#include "sim/report/step_figures.h"
#include "sim/report/text/paint.h"
#include "sim/report/text/table.h"
#include "sim/report/training/training_text.h"
#include "sim/study/search/search.h"

#include <span>

namespace trainyard {

inline constexpr std::string_view plan_format = "trainyard.plan/1";

struct PlanRow : StepFigures {
    LayoutChoice choice;
    int dp = 1;
    std::int64_t sequence_length = 0; // tokens; 0: samples
    std::string layout;               // in words
    std::vector<Override> changes;    // from the scenario, as --set takes them
    Seconds bound;                    // that no simulation of it is below; 0: not known
    std::uint64_t input_hash = 0;
    std::optional<WholeTraining> training; // with it, where it was asked for
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
    // The layouts that none is both quicker and smaller than, the quickest first, where they were
    // looked for.
    std::vector<PlanRow> front;
    std::optional<PlanRow> own; // the scenario as it stands, where that runs and fits
    std::string own_refusal;    // else why it does not
    // Where it does not run or fit: the quickest of its sizes, with another micro-batch or more
    // recomputed.
    std::optional<PlanRow> own_fitting;
    bool tells_own = true;                  // else it has another length of sequences
    std::optional<TrainingReport> training; // with the best
    std::optional<SmallestFit> smallest;    // where no layout fits: a cluster that has one
};

// Outcomes of a search's best and of its front, in order, and of the scenario as it stands.
struct PlanOutcomes {
    std::vector<Outcome> best;
    std::vector<Outcome> front;
    Checked<Outcome> own;
};
PlanReport plan_report(const SearchBase& base, SearchResult search, const PlanOutcomes& outcomes,
                       double headroom);

// Adds `own_fitting`.
void tell_own_fitting(const SearchBase& base, const LayoutChoice& choice, const Outcome& outcome,
                      PlanReport& report);

// Rows' changes become those from another scenario than the search's own: from one without the
// length of sequences that was searched for.
void tell_changes_from(const Scenario& asked, const SearchBase& base, PlanReport& report);

// Sequences of a step of `best` for each of `row`.
double sequences_ratio(const PlanRow& best, const PlanRow& row);

// How much longer a sequence takes in `row` than in `best`, as a factor.
double slowdown(const PlanRow& row, const PlanRow& best);

// The time of a sequence in `row` over that in `best`, as far as errors of the two tell.
RatioPrediction against(const PlanRow& row, const PlanRow& best);

double memory_left(const PlanRow& row); // share
// Requires rows.
bool knows_memory(const PlanReport& report);

// What is told of a plan, whatever lays it out.
// Its last column is of words, the others of sizes and figures. Requires that the report has rows.
TableCells plan_table(const PlanReport& report, std::span<const PlanRow> rows);
// Of the front those that leave 3 % of a device's memory more than the one before, and the ends.
std::vector<PlanRow> telling_front(const PlanReport& report);
std::string front_title(const PlanReport& report); // of these
struct LeftOut {
    std::uint64_t points = 0;
    std::string reason;
};
std::vector<LeftOut> left_out(const PlanReport& report);
// Whether the first row is the optimum, and how that is known.
std::string proof_text(const PlanReport& report);
// Why the second is second, and how likely; empty where there is none.
std::string runner_up_text(const PlanReport& report);
// The scenario's own layout against the best; empty where there is nothing to compare. Requires
// that the report has rows.
std::string own_text(const PlanReport& report);
// Why there are no rows, and which cluster has some.
std::string nothing_fits(const PlanReport& report);

// A table, what to paste, and how many points were left out for which reason.
std::string plan_text(const PlanReport& report, const Paint& paint, std::size_t width = 100);

Json to_json(const PlanReport& report);

// One line per row, with figures in SI units.
std::string plan_csv(const PlanReport& report);

// "--set strategy.tp=4": of the best row.
std::string plan_settings(const PlanReport& report);

} // namespace trainyard

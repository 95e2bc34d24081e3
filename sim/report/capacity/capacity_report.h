#pragma once

// Which cluster trains a model as somebody wants it, as values and in words.

#include "sim/report/capacity/guide_report.h"
#include "sim/report/capacity/scaling_report.h"
#include "sim/report/capacity/smallest_fit.h"
#include "sim/report/text/table.h"
#include "sim/report/training/training_text.h"
#include "sim/study/capacity/cluster_front.h"

namespace trainyard {

inline constexpr std::string_view capacity_format = "trainyard.capacity/1";

// A cluster of one size.
struct CapacityRow {
    std::string cluster; // its kind
    int nodes = 0;
    int gpus = 0;
    bool chosen = false; // the smallest of its kind that meets the goal
    bool on_front = false;
    std::int64_t global_batch = 0; // sequences of a step; 0 where none fits
    std::string layout;            // in words; empty where none fits
    std::string refusal;           // why there is none
    std::optional<StepFigures> figures;
    std::optional<WholeTraining> training;
    // Against the smallest of its kind that runs: work per second and GPU.
    std::optional<double> scaling;
    std::vector<std::string> misses; // of the goal, in words
    std::optional<double> unproven;  // the search was interrupted: SizedCluster
};

struct CapacityReport {
    std::string model;
    std::string goal;                                 // in words
    std::string unit;                                 // what is learned: "tokens"
    bool has_tokens = true;                           // the goal says how many
    std::vector<std::vector<CapacityRow>> clusters;   // sizes of each kind, the smallest first
    std::vector<std::optional<SmallestFit>> smallest; // of each kind that is too small as asked for
    std::string unpriced;                             // which kinds have no price where others have
    std::optional<std::size_t> best;                  // kind
    std::optional<TrainingReport> training;           // of the best
    std::optional<Seconds> deadline;
    std::optional<double> budget;
    std::vector<ScalingReport> scaling; // of each kind, where it was asked for
    std::vector<GuideReport> guides;    // likewise
    std::vector<Objective> front;       // what `on_front` is about; empty: nothing runs
    std::vector<std::string> reasons;   // of values that were chosen for the best
    std::uint64_t points = 0;           // of all spaces
    std::uint64_t simulated = 0;
    double tolerance = 0;
    double headroom = 0;
    bool interrupted = false;

    const CapacityRow* chosen_of(std::size_t kind) const;
    // The chosen size, else the one that comes nearest to the goal: of those in time the cheapest,
    // else the quickest; null where none runs.
    const CapacityRow* told_of(std::size_t kind) const;
    // A size that meets the goal for less than the chosen, the cheapest; else null.
    const CapacityRow* cheaper_of(std::size_t kind) const;
};

// `details`: of the best's training, with what is to be shown beside it.
CapacityReport capacity_report(const CapacityRequest& request, const CapacityPlan& plan,
                               std::optional<TrainingReport> details);

// What is told of a plan, whatever lays it out. Costs and energies are left out where none is
// known.
TableCells answers_table(const CapacityReport& report);         // the smallest cluster of each kind
TableCells sizes_table(const CapacityReport& report);           // all that were looked at
std::vector<std::size_t> word_columns(const TableCells& table); // of these
std::vector<std::string> capacity_verdicts(const CapacityReport& report);
std::string searched_text(const CapacityReport& report);
std::string_view title_of(Objective objective);
std::string objectives_text(const std::vector<Objective>& objectives); // "days, cost and energy"
// Sizes that none beats in one objective without losing in another. Requires a front.
std::string front_text(const CapacityReport& report);

// The smallest cluster of each kind, the best of them, all sizes that were looked at, and the whole
// training on the best.
std::string capacity_text(const CapacityReport& report, const Paint& paint,
                          std::size_t width = 100);

Json to_json(const CapacityReport& report);

// One line per size, with figures in SI units; of scaling where no goal was given.
std::string capacity_csv(const CapacityReport& report);

} // namespace trainyard

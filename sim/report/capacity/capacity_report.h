#pragma once

// Which cluster trains a model as somebody wants it, as values and in words.

#include "sim/report/step_figures.h"
#include "sim/report/training/training_text.h"
#include "sim/study/capacity/capacity_plan.h"

namespace trainyard {

inline constexpr std::string_view capacity_format = "trainyard.capacity/1";

// A cluster of one size.
struct CapacityRow {
    std::string cluster; // its kind
    int nodes = 0;
    int gpus = 0;
    bool chosen = false; // the smallest of its kind that meets the goal
    std::string layout;  // in words; empty where none fits
    std::string refusal; // why there is none
    std::optional<StepFigures> figures;
    std::optional<WholeTraining> training;
    // Against the smallest of its kind that runs: work per second and GPU.
    std::optional<double> scaling;
    std::vector<std::string> misses; // of the goal, in words

    // The kind of time, apart from kernels, that its step loses most in. Requires figures.
    TimeKind largest_loss() const;
};

struct CapacityReport {
    std::string model;
    std::string goal;                               // in words
    std::string unit;                               // what is learned: "tokens"
    bool has_tokens = true;                         // the goal says how many
    std::vector<std::vector<CapacityRow>> clusters; // sizes of each kind, the smallest first
    std::optional<std::size_t> best;                // kind
    std::optional<TrainingReport> training;         // of the best
    std::vector<std::string> reasons;               // of values that were chosen for the best
    std::uint64_t points = 0;                       // of all spaces
    std::uint64_t simulated = 0;
    double tolerance = 0;
    double headroom = 0;
    bool interrupted = false;

    const CapacityRow* chosen_of(std::size_t kind) const;
};

// `details`: of the best's training, with what is to be shown beside it.
CapacityReport capacity_report(const CapacityRequest& request, const CapacityPlan& plan,
                               std::optional<TrainingReport> details);

// The smallest cluster of each kind, the best of them, all sizes that were looked at, and the whole
// training on the best.
std::string capacity_text(const CapacityReport& report, const Paint& paint,
                          std::size_t width = 100);

Json to_json(const CapacityReport& report);

// One line per size, with figures in SI units.
std::string capacity_csv(const CapacityReport& report);

} // namespace trainyard

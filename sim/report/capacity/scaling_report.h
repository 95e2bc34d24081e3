#pragma once

// How clusters of a kind scale, as values and in words.

#include "sim/report/step_figures.h"
#include "sim/report/text/paint.h"
#include "sim/report/text/table.h"
#include "sim/study/capacity/scaling_curves.h"

namespace trainyard {

struct ScalingRow {
    int gpus = 0;
    std::int64_t global_batch = 0; // sequences of a step
    std::string layout;            // in words
    StepFigures figures;
    double speedup = 1;
    double efficiency = 1;
    std::optional<double> amdahl; // speedup by the fitted law
    double communication = 1;     // speedup that communication leaves
};

struct ScalingRows {
    std::vector<ScalingRow> rows; // the smallest first
    std::optional<AmdahlLaw> law;
    std::optional<std::size_t> pays_up_to; // of the rows
    std::size_t leanest = 0; // of them, where all but communication takes the fewest GPU seconds

    bool is_curve() const { return rows.size() > 1; }
};

struct ScalingReport {
    std::string cluster; // its kind
    std::string model;
    ScalingRows strong;
    ScalingRows weak;
    bool interrupted = false;
};

ScalingReport scaling_report(const ClusterScaling& scaling, std::string model);

// GPUs, layout, step, speedup and bounds of each size. Column 1 and the last are words.
TableCells scaling_table(const ScalingRows& rows);

// What the curve comes to: Amdahl's limit, and the size past which more GPUs do not pay.
std::vector<std::string> scaling_verdicts(const ScalingReport& report);

std::string scaling_text(const ScalingReport& report, const Paint& paint, std::size_t width);

Json to_json(const ScalingReport& report);

// One line per size and curve, with figures in SI units.
std::string scaling_csv(const std::vector<ScalingReport>& reports);

// Of a page: speedup and efficiency over GPUs with their bounds, what a sequence takes of them.
std::string scaling_html(const ScalingReport& report);

} // namespace trainyard

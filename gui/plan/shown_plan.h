#pragma once

// An answer of the planner as it is shown: sentences, rows with figures and the scenarios that they
// stand for, what was left out.

#include "gui/model/headline.h"
#include "gui/plan/plan_question.h"

#include <QStringList>
#include <limits>

namespace trainyard::gui {

inline constexpr int of_words = 0;
inline constexpr int of_whole_numbers = -1;

struct PlanColumn {
    QString heading;       // with its unit
    int digits = of_words; // that its numbers are shown with
};

struct PlanCell {
    QString text;                                             // of words
    double number = std::numeric_limits<double>::quiet_NaN(); // else; NaN: not known

    bool operator==(const PlanCell& other) const;
};

// A layout, or a cluster of one size.
struct PlanEntry {
    QString name;
    std::vector<PlanCell> cells;
    std::optional<PlannedScenario> scenario; // none: nothing runs, or it is the open one itself
    bool chosen = false;                     // the best, or the best of its kind
    bool own = false;                        // the open scenario's own layout
    bool on_front = false;
    std::size_t series = 0; // kind of cluster
    // For charts; nothing: not known.
    std::optional<double> step_s;
    std::optional<double> memory; // share of a device's
    std::optional<double> gpus;
    std::optional<double> days;
    std::optional<double> cost;
};

struct PlanLeftOut {
    std::uint64_t layouts = 0;
    QString reason;
};

struct ShownPlan {
    PlanKind kind = PlanKind::layouts;
    QString headline;           // what is best
    QStringList verdicts;       // why, against what, how sure
    std::vector<QString> kinds; // of clusters, by series
    std::vector<PlanColumn> columns;
    std::vector<PlanEntry> entries; // best first
    std::vector<PlanLeftOut> left_out;
    bool interrupted = false;
    // Where nothing fits: the scenario on the smallest cluster of its nodes that holds it.
    std::optional<PlannedScenario> smallest;
    int smallest_gpus = 0;
};

ShownPlan shown_layouts(const LayoutAnswer& answer);

// `now`: what the open scenario does in a second; nothing: it is of something else.
ShownPlan shown_clusters(const CapacityRequest& request, const CapacityAnswer& answer,
                         std::optional<double> now);

// Answers speak of money in dollars; the same in the price's currency.
ShownPlan in_currency(ShownPlan plan, const Price& price);

// Of an end of the interval of a peak, in per cent of a device's memory; NaN: not known.
double share_of_device(const StepFigures& figures, Bytes end);

// What both kinds say of a training: days, chance and cost, where they are known.
QString training_words(const WholeTraining& training);

} // namespace trainyard::gui

#pragma once

// What the planner's charts show: dots of an answer's rows, and lines that join some.

#include "gui/plan/shown_plan.h"

namespace trainyard::gui {

struct PlanDot {
    double x = 0;
    double y = 0;
    std::size_t entry = 0; // of the answer
    bool chosen = false;

    bool operator==(const PlanDot&) const = default;
};

struct PlanSeries {
    QString name;
    std::vector<PlanDot> dots; // from left to right
    bool joined = false;
};

struct PlanPlot {
    QString x_title;
    QString y_title;
    bool log_x = false;
    std::vector<PlanSeries> series;

    bool empty() const;
    // The dot nearest to a place; `distance` of two places in whatever the caller measures.
    template <class Distance>
    std::optional<std::size_t> nearest(Distance distance, double reach) const
    {
        std::optional<std::size_t> found;
        for (const PlanSeries& one : series)
            for (const PlanDot& dot : one.dots)
                if (const double away = distance(dot); away <= reach) {
                    reach = away;
                    found = dot.entry;
                }
        return found;
    }
};

// Of layouts time against memory; of clusters days, and cost where it is known, against GPUs.
std::vector<PlanPlot> plots_of(const ShownPlan& shown);

} // namespace trainyard::gui

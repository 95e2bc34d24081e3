#pragma once

// What points can be drawn, sorted and filtered by: figures of the simulation, cost, and the swept
// fields.

#include "gui/explore/point_store.h"
#include "gui/model/headline.h"

#include <QString>

namespace trainyard::gui {

struct Metric {
    const Figure* figure = nullptr; // null: a swept field
    std::size_t column = 0;         // of the figure in the store
    double scale = 1;               // what one of the figure's unit is in this one's
    QString key;                    // "step_time", "strategy.tp"
    QString name;                   // "step", as filters take it
    QString title;                  // "Step time"
    QString unit;                   // "s"; empty: a number or a word
    Better better = Better::neither;
    std::optional<std::size_t> axis; // of a swept field: its values are words in a row

    // "Step time [s]"
    QString label() const;
    // "mfu: model FLOPs over the devices' dense peak"
    QString tip() const;
};

// Figures first (cost only with a price), then the axes of the grid.
std::vector<Metric> metrics_of(const SweepGrid& grid, WorkUnit work, const Price& price);

// In the metric's unit; of a swept field which of its values; NaN: unknown.
double value_of(const PointStore& store, std::uint32_t point, const Metric& metric);

// Moves points of one value apart: in [-1/2, 1/2), the same for the same point.
double jitter(const PointStore& store, std::uint32_t point, std::uint64_t salt);

// As people read it, without the unit; empty where it is unknown.
QString text_of(const PointStore& store, std::uint32_t point, const Metric& metric);

// "2.49", "1.11 k": four digits at most.
QString number_text(double value);

// What the best point is the best of: the rate where steps are of different amounts of work (global
// batch or sequence length is swept), else the step time.
const Metric& best_metric(const std::vector<Metric>& metrics);

// The one with that key; null: none.
const Metric* find_metric(const std::vector<Metric>& metrics, const QString& key);

} // namespace trainyard::gui

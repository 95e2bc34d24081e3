#pragma once

// Which swept field explains how much of a figure: what the bars show, without widgets.

#include "gui/explore/metrics.h"
#include "gui/widgets/panel.h"
#include "sim/report/sweep/main_effects.h"

namespace trainyard::gui {

// Points that can be, as the library takes them: to be worked on in the background.
struct ImportanceQuestion {
    SweepGrid grid;
    Metric metric; // a figure
    std::vector<std::size_t> indices;
    std::vector<double> values;
};
ImportanceQuestion importance_question(const PointStore& store, const Metric& metric);

// The fields that say most first, then what only several together decide.
struct ImportanceBar {
    QString key; // of the axis; empty: of fields together
    QString name;
    double share = 0;
    QString best; // "best at 4: 1.2 s"; empty: not known
};

struct Importance {
    Metric metric;
    MainEffects effects;
    std::vector<ImportanceBar> bars;
    QString note; // what the shares are of, and how far they can be trusted

    TableData table() const;
    QString title() const;
};
Importance importance_of(const ImportanceQuestion& question);

} // namespace trainyard::gui

#pragma once

// A grid over fields of a scenario, read and run: what `trainyard sweep` does.

#include "sim/report/sweep/sweep_output.h"
#include "sim/study/scenario.h"

namespace trainyard {

struct GridQuestion {
    std::vector<std::string> axes; // "strategy.tp=1,2,4", as --grid takes them
    bool nearest_batch = false;    // where micro_batch x dp does not divide the batch
    SweepMeasure measure = SweepMeasure::throughput;
    double headroom = usual_headroom; // share of a device's memory that stays free
};

// A grid that can be run.
struct GridTask {
    ScenarioFile base;                              // what follows from the axes left to follow
    SweepTitle title;                               // with the grid
    std::optional<std::vector<std::size_t>> points; // of the grid; absent: all
    std::optional<std::uint64_t> combinations;      // that a search chose the points from
};

// Axes that are left to the search get its values. `name`: of the scenario, for titles.
Checked<GridTask> grid_task(const ScenarioFile& scenario, const std::string& name,
                            const GridQuestion& question, const WorkControl& work);

// A whole sweep, its rows in the order of the grid. It is kept in memory.
struct GridAnswer {
    GridTask task;
    std::vector<PointRow> rows;
    SweepBest best;
};

// `threads` 0: as many as the machine runs at once. Shows `shown` rows in its report; of a
// cancelled sweep those are left that were done.
Checked<GridAnswer> sweep_grid(const ScenarioFile& scenario, const std::string& name,
                               const GridQuestion& question, std::size_t shown, int threads,
                               Session& session, const WorkControl& work);

// The document that `--json` prints, and the report.
std::string sweep_json_text(const GridAnswer& answer);
std::string report_text(const GridAnswer& answer, std::size_t width = 100);

} // namespace trainyard

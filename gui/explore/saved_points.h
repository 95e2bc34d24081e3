#pragma once

// A sweep from a file as the explorer has it, and what the explorer has as a file.

#include "gui/explore/point_store.h"
#include "gui/explore/sweep_plan.h"
#include "sim/api/saved_sweep.h"

namespace trainyard::gui {

struct SavedPoints {
    SweepPlan plan;
    std::vector<FoundPoint> found;
    bool of_another = false; // the scenario is the file's own and not `open`
    bool nameless = false;   // the file does not say which was swept: `open` is taken for it
};

// The points over the scenario that the file holds or names, else over `open`. Problems: there is
// none, or it cannot be read any more. Reads files: not in the window's thread.
Checked<SavedPoints> points_of(const SavedSweep& saved, const Checked<ScenarioFile>& open);

// Whether both are the same but for what the sweep decides: paths in them begin at one folder.
bool is_scenario_of(const SweptScenario& swept, const SweepGrid& grid, const ScenarioFile& open);

// As `trainyard sweep --json` writes it, with the figures that are known here. Appears whole or not
// at all. Throws WorldError and Cancelled.
void write_sweep(const std::string& file, const SweepPlan& plan, const PointStore& store,
                 const WorkControl& work);

} // namespace trainyard::gui

#pragma once

// The way out of a scenario that does not fit or cannot run: settings, or where none of them helps
// a whole layout, or else more of its nodes.

#include "gui/model/document.h"
#include "gui/model/live_run.h"
#include "sim/api/layout_plan.h"

#include <QString>

namespace trainyard::gui {

struct WayOut {
    std::vector<Override> set;
    std::optional<PlannedScenario> layout;
    std::string why_none;                    // there is neither
    std::optional<PlannedScenario> smallest; // then: on the smallest cluster of such nodes
    int smallest_gpus = 0;
};

// Of `run`, whose outcome is null where it cannot run. Throws Cancelled.
WayOut nearest_that_fits(const RunView& run, const ScenarioFile& file, Session& session,
                         const WorkControl& work);

// As a file beside the open one would have it.
Json scenario_beside(const PlannedScenario& planned, const Document& document);

// Makes it what is open, as one step of undo. The text says why that cannot be; empty: it is done.
// Requires settings or a layout.
QString take_way_out(Document& document, const WayOut& found);

// What a button says that opens the smallest cluster: "Take 16 GPUs".
QString smallest_offer(int gpus);

} // namespace trainyard::gui

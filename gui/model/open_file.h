#pragma once

// What a file that is opened or dropped is, and what it becomes.

#include "calibrate/import/notes.h"
#include "gui/model/session_file.h"

#include <variant>

namespace trainyard::gui {

struct OpenedScenario {
    std::string file;
    Json json;
    ImportNotes notes; // of one made from a job's configuration
};

// A model, topology or profile: takes its place in the scenario.
struct OpenedPart {
    std::string field; // "topology"
    std::string file;
};

// Logs of collectives, pairs, a node's topology, a run of `trainyard calibrate`: read in the
// background by the view that shows them.
struct OpenedMeasurements {
    std::string file;
};

// What was recorded of a job's ranks: a file, or all traces of a folder. Read in the background by
// the view that shows them.
struct OpenedTraces {
    std::vector<std::string> files;
};

using Opened =
    std::variant<OpenedScenario, OpenedPart, OpenedMeasurements, OpenedTraces, SessionContent>;

// By what stands in it. Of other kinds of files the problem says which command reads them. Jobs
// are imported on the cluster of `current` (a scenario; null: none). Throws WorldError and
// Cancelled.
Checked<Opened> open_any(const std::string& file, const Json& current,
                         const WorkControl& control = {});

} // namespace trainyard::gui

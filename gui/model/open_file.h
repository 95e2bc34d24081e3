#pragma once

// What a file that is opened or dropped is, and what it becomes.

#include "gui/model/session_file.h"
#include "sim/api/imported_job.h"
#include "sim/api/saved_sweep.h"

#include <variant>

namespace trainyard::gui {

struct OpenedScenario {
    std::string file;
    Json json;
};

// What starts a job elsewhere, and what is said beside it.
struct ImportQuestion {
    std::string file;
    std::string text; // that stands in it
    // Without machines the job is imported on the cluster of the open scenario.
    JobQuestion question;
};

// A scenario from it, or why there is none.
struct OpenedJob {
    ImportQuestion request;
    std::optional<OpenedScenario> scenario;
    Problems problems;
    ImportNotes notes;
    std::map<std::string, std::string> places; // of notes that tell of a field: its pointer
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

// A sweep with its points, and the scenario that the file holds or names (absent: none).
struct OpenedSweep {
    std::shared_ptr<const SavedSweep> saved;
    std::optional<Checked<SweptScenario>> scenario;
};

using Opened = std::variant<OpenedScenario, OpenedJob, OpenedPart, OpenedMeasurements, OpenedTraces,
                            OpenedSweep, SessionContent>;

// By what stands in it. Of other kinds of files the problem says which command reads them. Jobs
// are imported on the cluster of `current` (a scenario; null: none). Throws WorldError and
// Cancelled.
Checked<Opened> open_any(const std::string& file, const Json& current,
                         const WorkControl& control = {});

// The same job again, with other answers beside it. Requires a text that is one.
OpenedJob import_job_text(ImportQuestion request, const Json& current);

} // namespace trainyard::gui

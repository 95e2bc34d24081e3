#pragma once

// Scenarios from what starts a job elsewhere: what `trainyard import` makes of one file.

#include "sim/study/jobs/job_import.h"

namespace trainyard {

// As people say it.
struct JobQuestion {
    std::string model;    // a config.json, or a shipped one
    std::string topology; // a file, or a shipped one
    std::string gpu;      // or its GPU, in the node usual for it
    int gpus_per_node = 0;
    int nodes = 0;
    std::vector<std::string> definitions; // NAME=VALUE: variables that are set elsewhere
    std::vector<std::string> changes;     // FIELD=VALUE, of the scenario
};

// Paths are for a scenario that lies in `folder`.
Checked<JobImportOptions> settled_job_options(const JobQuestion& question,
                                              const std::filesystem::path& folder);

// The job in `file`, of that kind, else of the one that the text looks most like; what reads as
// something else is refused. Throws WorldError when it cannot be read.
Checked<ImportedJob> read_job_file(const std::string& file, std::optional<JobKind> kind,
                                   const JobQuestion& question,
                                   const std::filesystem::path& folder);

// The scenario as it is written, with where it came from: `text` is the content of `file`.
Json described_scenario(const ImportedJob& job, const std::string& file, const std::string& text);

} // namespace trainyard

#pragma once

// Options and output that importing a job and making one have in common.

#include "sim/study/jobs/job_import.h"
#include "sim/study/scenario.h"

namespace CLI {
class App;
}

namespace trainyard {

struct JobOptions {
    std::string model;
    std::string topology;
    std::string gpu;
    int gpus_per_node = 0;
    int nodes = 0;
    std::vector<std::string> definitions; // NAME=VALUE
    std::vector<std::string> changes;     // --set
};

// --model, --topology, --gpu, --gpus-per-node; --nodes belongs to the command.
void add_job_options(CLI::App& app, JobOptions& options);

struct JobFile {
    JobKind kind = JobKind::megatron;
    std::string file;
    std::string text;
    std::string output; // empty: nothing is written
    bool json = false;
};

// Prints what was understood, assumed and ignored, and writes the scenario. Returns an ExitCode.
int import_job_file(const JobFile& file, const JobOptions& options);

// The verdict of each file of a folder that may hold a job, and how many there are of each; as
// JSON, and as a table in the file `csv`, where asked. Returns an ExitCode.
int import_job_folder(const std::string& folder, const JobOptions& options, bool json,
                      const std::string& csv);

// The options as they stand; paths are for a scenario that lies at `output`.
Checked<JobImportOptions> settled_job_options(const JobOptions& options, const std::string& output);

// Of an option that names a kind of jobs: what is wrong with it, or nothing.
std::string check_job_kind(const std::string& name);

// Where the paths of a scenario that is written to `output` start.
std::filesystem::path folder_of(const std::string& output);

// A scenario whose files lie from `folder` on, for a reader in the output's folder.
std::string scenario_text(Scenario scenario, const std::filesystem::path& folder,
                          const std::string& output);

} // namespace trainyard

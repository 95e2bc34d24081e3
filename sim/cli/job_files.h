#pragma once

// Options and output that importing a job and making one have in common.

#include "sim/api/imported_job.h"
#include "sim/api/scenarios.h"

namespace CLI {
class App;
}

namespace trainyard {

// --model, --topology, --gpu, --gpus-per-node; --nodes belongs to the command.
void add_job_options(CLI::App& app, JobQuestion& options);

struct JobFile {
    JobKind kind = JobKind::megatron;
    std::string file;
    std::string text;
    std::string output; // empty: nothing is written
    bool json = false;
};

// Prints what was understood, assumed and ignored, and writes the scenario. Returns an ExitCode.
int import_job_file(const JobFile& file, const JobQuestion& options);

// The verdict of each file of a folder that may hold a job, and how many there are of each; as
// JSON, and as a table in the file `csv`, where asked. Returns an ExitCode.
int import_job_folder(const std::string& folder, const JobQuestion& options, bool json,
                      const std::string& csv);

// Of an option that names a kind of jobs: what is wrong with it, or nothing.
std::string check_job_kind(const std::string& name);

} // namespace trainyard

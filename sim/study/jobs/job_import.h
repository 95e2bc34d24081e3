#pragma once

// Scenarios from the files that start a job elsewhere: Megatron-LM, DeepSpeed, torchtitan,
// torchrun.

#include "calibrate/import/notes.h"
#include "sim/study/stages.h"

namespace trainyard {

enum class JobKind : std::uint8_t { megatron, deepspeed, torchtitan, torchrun };
template <>
std::vector<EnumName<JobKind>> enum_names<JobKind>();

// The kind a text most looks like; nothing when it looks like none.
std::optional<JobKind> recognise_job(std::string_view text);

// The machines of the job: a topology, or so many nodes of a GPU.
struct ClusterChoice {
    Source topology; // its path as the scenario will name it
    std::string gpu; // "h100", "A100-40GB", "gb200", ...
    std::optional<int> gpus_per_node;
    std::optional<int> nodes;
};

struct JobImportOptions {
    ClusterChoice cluster;
    Source model;                               // where the files do not describe it
    std::map<std::string, std::string> defined; // variables of a script
    std::vector<Override> changes;              // of the scenario, last
    std::filesystem::path folder;               // where the scenario will lie
};

struct ImportedJob {
    ScenarioFile scenario;
    Job job; // as it resolves on its topology
    ImportNotes notes;
    std::map<std::string, std::string> places; // of notes that tell of a field: its pointer
    Problems warnings;
};

// A path as a scenario in `folder` names it: relative to it where the file exists, else as it is
// (the name of a shipped one).
Source source_from(const std::string& path, const std::filesystem::path& folder);

// `text` is the content of `file`, whose folder holds the files it names. What is not known is
// listed, never refused; a contradiction, a missing size or a job that cannot be built is.
Checked<ImportedJob> import_job(JobKind kind, const std::string& text, const std::string& file,
                                const JobImportOptions& options, StageMemos& memos);

} // namespace trainyard

#pragma once

// The settings of a scenario in the form of the framework that would run it.

#include "sim/study/jobs/job_import.h"

namespace trainyard {

// What the writers of the formats see: everything decided.
struct ExportedJob {
    Job job;
    Scenario scenario;
    int nodes = 1;
    int gpus_per_node = 1;
};

struct JobExport {
    std::string text;                  // says in its head what it does not say of the scenario
    std::vector<std::string> left_out; // what the format cannot say, one sentence each
    // What it cannot say of the layout ("strategy.tp = 4"): what runs by it is another one.
    std::vector<std::string> other_layout;
};

// The text is read back and compared with the scenario: whatever comes out otherwise is listed.
// Problems: those of the scenario, a model that the format cannot say, and settings that its own
// reader refuses.
Checked<JobExport> export_job(JobKind kind, const ScenarioFile& file, StageMemos& memos);

} // namespace trainyard

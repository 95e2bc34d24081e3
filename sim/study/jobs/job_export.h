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
    std::string text;
    std::vector<std::string> left_out; // what the format cannot say, one sentence each
};

// The text is read back and compared with the scenario: whatever comes out otherwise is listed.
Checked<JobExport> export_job(JobKind kind, const ScenarioFile& file, StageMemos& memos);

// Fields in which two jobs differ: "strategy.prefetch: 2 here, 1 read back".
std::vector<std::string> differences(const ExportedJob& original, const ExportedJob& read_back);

} // namespace trainyard

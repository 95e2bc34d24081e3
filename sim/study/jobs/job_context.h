#pragma once

// What the readers of job files share: the draft, what was given beside the file, and the machines.

#include "sim/study/jobs/job_draft.h"
#include "sim/study/jobs/job_import.h"

namespace trainyard {

class JobContext {
public:
    JobContext(JobDraft& job_draft, const JobImportOptions& given, StageMemos& memos)
        : draft(job_draft), options(given), memos_(memos)
    {}

    JobDraft& draft;
    const JobImportOptions& options;

    // GPUs of the job: those its launch asks for, else all of the topology; 0 when there is no
    // topology (which is a problem of the draft). draft.size must be known by then.
    int gpus();

    // Replicas of the strategy so far, overrides applied; 0 when its sizes do not divide the GPUs.
    int replicas();

    // Whether the topology has more GPUs than the job.
    bool leaves_gpus_idle() const { return gpus_.value_or(0) < devices_; }

    // A file that the job names, beside its own; nothing when it cannot be read (which is flagged).
    std::optional<std::string> beside(const std::string& path);

private:
    void settle_gpus();

    StageMemos& memos_;
    std::optional<int> gpus_;
    int devices_ = 0; // of the topology
};

// Fills in scenario.topology from what was given and, for what that leaves open, from draft.size;
// problems go to the draft.
void choose_cluster(JobDraft& draft, const ClusterChoice& cluster);

// "8 nodes of 8 x H100": the usual node of that GPU, with its usual network; or why there is none.
struct UsualMachine {
    Json topology;
    std::vector<std::string> assumptions;
    std::string widened; // why its switches have more ports than usual; one of the assumptions
};
tl::expected<UsualMachine, std::string> usual_machine(const std::string& gpu, int nodes,
                                                      int gpus_per_node);

// How many GPUs of that kind a node usually holds; 0 when the kind is not known.
int usual_gpus_per_node(const std::string& gpu);

// Which kinds are, as a hint.
std::string known_gpus();

} // namespace trainyard

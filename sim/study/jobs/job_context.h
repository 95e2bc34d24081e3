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
    std::map<std::string, std::string> written; // files that the job's script writes itself

    // GPUs of the job: those its launch asks for, else all of the topology; 0 when there is no
    // topology (which is a problem of the draft). draft.size must be known by then.
    int gpus();

    // Replicas of the strategy so far, overrides applied; 0 when its sizes do not divide the GPUs.
    int replicas();

    // Whether the topology has more GPUs than the job.
    bool leaves_gpus_idle() const { return gpus_.value_or(0) < devices_; }

    // A file that the job names, beside its own; nothing when it cannot be read (which is flagged).
    std::optional<std::string> beside(const std::string& path);

    // The same, where it need not be there.
    std::optional<std::string> find_beside(const std::string& path);

private:
    void settle_gpus();

    StageMemos& memos_;
    std::optional<int> gpus_;
    int devices_ = 0; // of the topology
};

// Ranks of the strategy, `changes` applied, beside data parallelism: replica = tp x pp x cp,
// experts = what their layers divide the GPUs by. Nothing when a size makes no sense.
struct ModelRanks {
    std::int64_t replica = 1;
    std::int64_t experts = 1;
};
std::optional<ModelRanks> model_ranks(const Strategy& strategy,
                                      const std::vector<Override>& changes);

// Fills in scenario.topology from what was given and, for what that leaves open, from draft.size
// and from what the degrees of the strategy need; problems go to the draft.
void choose_cluster(JobDraft& draft, const ClusterChoice& cluster,
                    const std::vector<Override>& changes);

// Nodes that hold a job whose files do not say how many, and why so many.
struct FittingNodes {
    int nodes = 1;
    int gpus_per_node = 8;
    std::string why;
};

// `per_node`: GPUs a node as usual, or as stated (then nodes are filled). Nothing where the degrees
// make no sense or need more than a million GPUs.
std::optional<FittingNodes> fitting_nodes(const JobDraft& draft, int per_node, bool stated,
                                          const std::vector<Override>& changes);

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

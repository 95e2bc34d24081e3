#pragma once

// Which cluster trains a model as somebody wants it: what `trainyard plan` asks and tells where a
// goal asks for a cluster or a whole training.

#include "sim/api/layout_plan.h"
#include "sim/report/capacity/capacity_report.h"
#include "sim/study/capacity/capacity_plan.h"
#include "sim/study/capacity/capacity_request.h"

namespace trainyard {

class Session;

// The word for the cluster of the scenario among those of a question.
inline constexpr std::string_view own_cluster = "this";

// As people say it. What is wrong with a text is a problem of its field here ("/tokens",
// "/prices/1"); those of other places have a file.
struct CapacityQuestion {
    std::string model;
    std::vector<std::string> clusters; // "h100", "256xh100", a file, "this"
    std::string tokens;
    std::string within;
    std::string budget;
    std::vector<std::string> prices;
    std::string mtbf;
    std::string checkpoint;
    std::string batch;
    std::int64_t sequence_length = 0;
    std::string assumptions;             // a file
    std::vector<std::string> objectives; // of the front
    std::string scaling;                 // "8..1024"
    std::string guide;                   // likewise

    // Whether sizes of clusters are looked for: else the scenario's own is taken.
    bool asks_for_size() const
    {
        return !model.empty() || !clusters.empty() || !within.empty() || !budget.empty() ||
               !scaling.empty() || !guide.empty();
    }
};

// Fields that say something of a training that nobody asks for.
Problems unused_fields(const CapacityQuestion& question);

// What of the question a training hangs on.
Checked<WholeTrainingRequest> training_request(const CapacityQuestion& question);

// `scenario`: whose model and training count; without it, the question's model. `own`: whose
// cluster is meant by "this"; null: the scenario's.
Checked<CapacityRequest> capacity_request(const CapacityQuestion& question,
                                          std::optional<ScenarioFile> scenario,
                                          const ScenarioFile* own = nullptr);

// What a report shows of a training: what matters most, and a thousand of them simulated.
TrainingReport training_report(const WholeTraining& training);

struct CapacityAnswer {
    CapacityPlan plan;
    CapacityReport report;

    bool interrupted() const;
    // Whether there is a cluster, or what else was asked for without a goal.
    bool answers(const CapacityRequest& request) const;
};

// With how the clusters scale and the guide, where the request asks for them. Of cancelled work
// what was found.
Checked<CapacityAnswer> plan_clusters(const CapacityRequest& request, Session& session);

// The scenario of a size. Requires that a layout runs there.
PlannedScenario planned_size(const CapacityRequest& request, const ClusterKind& kind,
                             const SizedCluster& sized);

// The scenario of the size chosen of a kind. Requires that one was.
PlannedScenario planned_cluster(const CapacityRequest& request, const ClusterAnswer& answer);

// Of each kind that has one.
std::vector<PlannedScenario> planned_clusters(const CapacityRequest& request,
                                              const CapacityPlan& plan);

} // namespace trainyard

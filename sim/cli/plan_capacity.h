#pragma once

// What `plan` takes to find a cluster for a goal.

#include "sim/cli/plan_output.h"
#include "sim/report/training/training_text.h"
#include "sim/study/capacity/capacity_request.h"

namespace CLI {
class App;
}

namespace trainyard {

struct CapacityOptions {
    std::string model;
    std::vector<std::string> clusters; // --on
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

    // Whether sizes of clusters are looked for: else `plan` takes the scenario's own.
    bool asks_for_size() const
    {
        return !model.empty() || !clusters.empty() || !within.empty() || !budget.empty() ||
               !scaling.empty() || !guide.empty();
    }
};

// Options that say something of a training that nobody asks for.
Problems unused_options(const CapacityOptions& options);

void add_capacity_options(CLI::App& app, CapacityOptions& options);

// What of the options a training hangs on. Problems name the option.
Checked<WholeTrainingRequest> training_request(const CapacityOptions& options);

// `scenario`: whose model and training count; without it, the options' model.
Checked<CapacityRequest> capacity_request(const CapacityOptions& options,
                                          std::optional<ScenarioFile> scenario);

// What a report shows of a training: what matters most, and a thousand of them simulated.
TrainingReport training_report(const WholeTraining& training);

// Plans, prints and writes. Returns an ExitCode.
int run_capacity(CapacityRequest request, const PlanOutput& output);

} // namespace trainyard

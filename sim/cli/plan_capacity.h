#pragma once

// What `plan` takes to find a cluster for a goal.

#include "sim/api/cluster_plan.h"
#include "sim/cli/plan_output.h"

namespace CLI {
class App;
}

namespace trainyard {

void add_capacity_options(CLI::App& app, CapacityQuestion& options);

// Problems of the question's fields as those of the options that give them.
Problems as_options(Problems problems, const CapacityQuestion& question);

// Plans, prints and writes. Returns an ExitCode.
int run_capacity(const CapacityQuestion& question, CapacityRequest request,
                 const PlanOutput& output);

} // namespace trainyard

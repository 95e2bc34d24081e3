#pragma once

// Scenarios drawn at random, on models and a cluster that ship with the program.

#include "sim/study/scenario.h"
#include "tests/support/pick.h"
#include "tests/support/random_jobs.h"

namespace trainyard::testing {

// The job drawn, as many nodes as it fills. Most are refused.
inline ScenarioFile random_scenario(Random& random, const std::vector<SoftwareClass>& software)
{
    const JobRequest drawn = random_request(random, software);
    Scenario out;
    out.model.path = drawn.model.is_moe() ? "mixtral-8x7b" : "llama-2-7b";
    out.training = drawn.training;
    out.training.sequence_length = pick<std::int64_t>(random, {512, 1024, 4096});
    out.strategy = drawn.strategy;
    out.software.framework = drawn.software.name;
    out.topology.path = "h100-8x8-ndr400";
    return scenario_in_memory(std::move(out), ".", "drawn");
}

} // namespace trainyard::testing

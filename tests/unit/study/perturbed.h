#pragma once

// One job on two nodes, and what may be wrong with its devices and links.

#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <functional>

namespace trainyard::testing {

// Llama 2 7B on two nodes: stages of eight ranks, one to a node, when tp is 8.
inline ScenarioFile perturbed(const std::vector<Perturbation>& perturbations,
                              const std::function<void(Scenario&)>& change = {})
{
    Scenario s;
    s.model = {"llama-2-7b", {}};
    s.topology = {"a100-2x8-hdr", {}};
    s.training.sequence_length = 2048;
    s.training.global_batch = 16;
    s.strategy.tp = 4;
    s.strategy.dp = 4;
    s.strategy.zero = 1;
    s.perturbations = perturbations;
    if (change)
        change(s);
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", "test");
}

inline SimTime step_time(const ScenarioFile& file)
{
    Session session;
    const Checked<Outcome> outcome = session.simulate(file);
    if (!outcome)
        FAIL(render(outcome.error(), ""));
    return outcome->result->step_time;
}

inline Perturbation slow(DeviceChoice device, double slowdown)
{
    Perturbation p;
    p.device = std::move(device);
    p.slowdown = slowdown;
    return p;
}

inline Perturbation jittery(DeviceChoice device, double scale)
{
    Perturbation p;
    p.device = std::move(device);
    p.jitter = KernelJitter{JitterDistribution::lognormal, scale, 1.0};
    return p;
}

inline Perturbation link(const std::string& name)
{
    Perturbation p;
    p.link = name;
    return p;
}

inline DeviceChoice all_devices()
{
    DeviceChoice all;
    all.all = true;
    return all;
}

} // namespace trainyard::testing

#pragma once

// One point of a search: the sizes of a layout and what goes with them.

#include "sim/strategy/schedule.h"
#include "sim/study/scenario.h"

namespace trainyard {

struct RecomputeChoice {
    Recompute kind = Recompute::none;
    std::optional<int> layers; // of a device, with full; all when absent

    bool operator==(const RecomputeChoice&) const = default;
};

struct LayoutChoice {
    int tp = 1;
    int cp = 1;
    int pp = 1;
    int vpp = 1;
    int ep = 1;
    int etp = 1;
    int zero = 0;
    const PipelineSchedule* schedule = nullptr; // never null; 1f1b interleaves where vpp > 1
    std::int64_t global_batch = 1;              // sequences per step
    std::int64_t micro_batch = 1;
    RecomputeChoice recompute = {};

    bool operator==(const LayoutChoice&) const = default;
};

// What a scenario has of its own; a schedule that nobody knows is the default.
LayoutChoice choice_of(const Scenario& scenario);

// The schedule that runs: 1f1b means interleaved-1f1b where there are virtual stages.
const PipelineSchedule& schedule_of(const LayoutChoice& choice);

// What layouts depend on.
struct SpaceFacts {
    Model model;
    int devices = 1;
    int domain = 1; // devices that NVLink joins
};

// The devices of a domain that groups of a power of two fill: 64 of 72.
int even_part(int domain);

// dp: over all devices.
int replicas_of(const LayoutChoice& choice, const SpaceFacts& facts);

// Of what a scenario has of its own for other sizes, stages and groups of micro-batches are taken
// out and dp follows. Layers go over the stages as evenly as they can.
void apply(const LayoutChoice& choice, const SpaceFacts& facts, Scenario& scenario);

// What of strategy and training differs, as --set takes it.
std::vector<Override> changes_between(const Scenario& before, const Scenario& after);

// A choice as --set takes it, where it differs from what `base` has.
std::vector<Override> changes_of(const LayoutChoice& choice, const SpaceFacts& facts,
                                 const Scenario& base);

} // namespace trainyard

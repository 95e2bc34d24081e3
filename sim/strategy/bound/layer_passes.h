#pragma once

// What the passes of each kind of layer take a rank at least, and keep.

#include "sim/strategy/bound/lone_rank.h"
#include "sim/strategy/bound/turns.h"
#include "sim/strategy/stages.h"

namespace trainyard {

// One pass of one layer.
struct PassTime {
    Seconds chain;   // from what the pass before left to what the next one waits for
    Seconds kernels; // those of the compute stream alone
    Seconds issue;   // of the host

    PassTime& operator+=(const PassTime& other)
    {
        chain += other.chain;
        kernels += other.kernels;
        issue += other.issue;
        return *this;
    }
    bool operator==(const PassTime&) const = default;
};

struct LayerPasses {
    LayerKind kind;
    bool recomputed = false;
    PassTime forward;
    PassTime backward;
    PassTime backward_input; // its two parts, where a schedule puts off gradients of weights
    PassTime backward_weight;
    std::optional<TurnChains> in_turns; // both ways in turns, where experts exchange tokens
    std::int64_t kept = 0;              // bytes from forward to backward

    // Apart from whether it is recomputed.
    bool costs_as_much_as(const LayerPasses& other) const
    {
        LayerPasses alike = other;
        alike.recomputed = recomputed;
        return *this == alike;
    }
    bool operator==(const LayerPasses&) const = default;
};

// Of every kind of layer that the job's stages hold. Of the job's sizes only those of a layer
// matter (tp, cp, ep, etp, micro-batch, whether there are several of these), not its stages.
std::vector<LayerPasses> layer_passes(const Job& job, const Topology& topology,
                                      const CostModel& cost);

} // namespace trainyard

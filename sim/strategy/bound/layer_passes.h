#pragma once

// What the passes of each kind of layer take a rank at least, and keep.

#include "sim/strategy/bound/lone_rank.h"
#include "sim/strategy/bound/turns.h"
#include "sim/strategy/stages.h"

#include <memory>
#include <optional>

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
    std::int64_t kept = 0; // bytes from forward to backward

    // Apart from whether it is recomputed.
    bool costs_as_much_as(const LayerPasses& other) const
    {
        LayerPasses alike = other;
        alike.recomputed = recomputed;
        return *this == alike;
    }
    bool operator==(const LayerPasses&) const = default;
};

// Of every kind of layer that a job's stages hold. Of the job's sizes only those of a layer matter
// (tp, cp, ep, etp, micro-batch, whether there are several of these), not its stages.
class LayerTable {
public:
    // `splits`: backward passes are also needed in their two parts, which are left 0 otherwise.
    LayerTable(const Job& job, const Topology& topology, const CostModel& cost, bool splits);
    ~LayerTable();
    LayerTable(LayerTable&&) noexcept;
    LayerTable& operator=(LayerTable&&) noexcept;

    const std::vector<LayerPasses>& passes() const { return passes_; }
    std::size_t number_of(const LayerKind& kind) const;

    // The backward pass of one layer with the forward pass of another beside it, piece by piece;
    // layers by number in `passes`, one of them may be nobody's.
    const TurnChains& in_turns(std::optional<std::size_t> backward,
                               std::optional<std::size_t> forward) const;

private:
    struct Blocks;

    std::vector<LayerPasses> passes_;
    std::unique_ptr<Blocks> blocks_;
};

} // namespace trainyard

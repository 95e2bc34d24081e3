#pragma once

// The role of one pipeline stage under construction: uses of layer blocks and ops by themselves, in
// the order the host issues them, with the events that tie them together.

#include "sim/strategy/lower/layer_blocks.h"

namespace trainyard {

// What a block use is about, for the timeline.
struct UseIndex {
    std::uint16_t micro_batch = BlockUse::no_index;
    std::uint16_t layer = BlockUse::no_index; // or bucket, unit
};

// An op that is a block by itself.
struct SingleOp {
    Op op;
    std::string name; // of the block; blocks of one name may differ
    std::vector<EventId> waits = {};
    EventId record = {}; // none: nobody waits for it
    std::vector<ExchangePart> parts = {};
    TensorChanges memory = {}; // what it takes and gives back
    UseIndex index = {};
};

// A collective outside of layers.
struct SingleTransfer {
    CollectiveKind kind = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::dp;
    Bytes bytes = {};
    Phase phase = Phase::gradient_sync;
    std::string stream = {};
    std::vector<EventId> waits = {};
    EventId record = {};
    TensorChanges memory = {}; // nothing happens when there is no transfer
    UseIndex index = {};
    bool blocks_host = false;
};

// Kernels that update or copy parameters, gradients or optimizer state.
struct MemoryPass {
    std::string name;
    double bytes = 0;
    int launches = 1;
    Phase phase = Phase::other;
    std::vector<EventId> waits = {};
    TensorChanges memory = {};
    UseIndex index = {};
    bool blocks_host = false;
};

class StageWriter {
public:
    StageWriter(PlanBuilder& plan, const Job& job, std::string name);

    PlanBuilder& plan() { return plan_; }
    const Job& job() const { return job_; }

    EventId event() { return role_.event(); }
    EventId never() const { return never_; }       // recorded by nobody
    EventId computed() const { return computed_; } // latest compute op so far
    EventId tail() const { return tail_; }         // latest communication at the end of a layer
    EventId reduced() const { return reduced_; }   // latest op of gradient or parameter exchange
    // The role's event for a local event of a layer block.
    EventId bound(LocalEvent event);

    void layer(const LayerBlock& block, EventId input, EventId parameters, UseIndex index);
    void op(const SingleOp& single);
    // Nothing for a group of one rank or no bytes.
    void transfer(const SingleTransfer& transfer);
    void memory_pass(const MemoryPass& pass);
    // Nothing when it takes no time.
    void host_work(std::string name, Seconds time, Phase phase);

    Role finish() && { return std::move(role_).build(); }

private:
    PlanBuilder& plan_;
    const Job& job_;
    RankLayout layout_;
    RoleBuilder role_;
    EventId never_;
    EventId computed_;
    EventId tail_;
    EventId reduced_;
    std::vector<EventId> inner_; // events inside layer blocks, shared by all uses
};

} // namespace trainyard

#pragma once

// The role of one pipeline stage under construction: uses of layer blocks and ops by themselves, in
// the order the host issues them, with the events that tie them together.

#include "sim/strategy/lower/layer_blocks.h"
#include "sim/strategy/lower/memory_copy.h"

#include <array>

namespace trainyard {

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

// The compute stream waits, as for an event of CUDA.
struct StreamWait {
    std::string name;
    Phase phase = Phase::other;
    std::vector<EventId> waits = {};
    TensorChanges memory = {};
    UseIndex index = {};
};

// Kernels that update or copy parameters, gradients or optimizer state.
struct MemoryPass {
    std::string name;
    double bytes = 0;
    WorkList products = {}; // kernels besides
    int launches = 1;
    Phase phase = Phase::other;
    std::vector<EventId> waits = {};
    TensorChanges memory = {};
    UseIndex index = {};
    bool blocks_host = false;
};

// Of two passes that take turns the backward one is the main chain, the forward one runs beside it.
enum class Chain : std::uint8_t { main, beside };

// A layer's pass: its block, and what its ops wait for.
struct LayerUse {
    const LayerBlock* block = nullptr;
    EventId input = {};
    EventId parameters = {};
    UseIndex index = {};
};

class StageWriter {
public:
    StageWriter(PlanBuilder& plan, const Job& job, std::string name);

    PlanBuilder& plan() { return plan_; }
    const Job& job() const { return job_; }

    EventId event() { return role_.event(); }
    EventId never() const { return never_; }         // recorded by nobody
    EventId computed() const { return computed_; }   // latest compute op so far
    EventId tail() const { return tail_; }           // latest communication at the end of a layer
    EventId reduced() const { return reduced_; }     // latest op of gradient or parameter exchange
    EventId offloaded() const { return offloaded_; } // latest gradients on their way to the host
    // Likewise `tail`, of the passes that ran beside others; nobody's when none did.
    EventId tail_beside() const { return tail_beside_.valid() ? tail_beside_ : never_; }
    // What an op must wait for that comes after all layers so far.
    std::span<const EventId> finished();
    // The role's event for a local event of a layer block.
    EventId bound(LocalEvent event, Chain chain = Chain::main);

    void layer(const LayerUse& use);
    // Piece by piece in turns, beginning with the backward one.
    void layers_in_turns(const LayerUse& forward, const LayerUse& backward);
    void op(const SingleOp& single);
    // The same in two parts, for an op that is written often: the block, which holds all but the
    // events and the index, and a use of it.
    BlockId block_of(const SingleOp& single);
    void use(BlockId block, std::span<const EventId> waits, EventId record, UseIndex index);
    // Nothing for a group of one rank or no bytes.
    void transfer(const SingleTransfer& transfer);
    void memory_pass(const MemoryPass& pass);
    void wait(const StreamWait& wait);
    // Nothing without bytes.
    void copy(const MemoryCopy& copy);
    void host_pass(const HostPass& pass);
    // Nothing when it takes no time.
    void host_work(std::string name, Seconds time, Phase phase);

    Role finish() && { return std::move(role_).build(); }

private:
    const std::vector<EventId>& events_of(const LayerUse& use, Chain chain);

    PlanBuilder& plan_;
    const Job& job_;
    RankLayout layout_;
    RoleBuilder role_;
    EventId never_;
    EventId computed_;
    EventId tail_;
    EventId reduced_;
    EventId offloaded_;
    EventId tail_beside_;                       // made by the first pass beside another
    std::array<std::vector<EventId>, 2> inner_; // by chain: inside layer blocks, shared by all uses
    std::array<std::vector<EventId>, 2> using_; // by chain: of the use that is being written
    std::array<EventId, 3> finished_;
};

} // namespace trainyard

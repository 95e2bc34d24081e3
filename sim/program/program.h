#pragma once

// What ranks do, without numbers.
//
// A role's ops are listed in the order its host issues them, as in the frameworks: each op goes to
// one in-order stream, may wait for events recorded earlier and may record one. An event means its
// latest record issued before the wait (CUDA's rule); waiting for one that was never recorded
// passes, so the first step of a prefetch needs no special case. Within a rank no cycle can be
// written down; across ranks, order mismatches are found by the engine and named.
//
// Ops are stored once per block (a layer's forward, say) and used many times; a use binds the
// block's local events to the role's.

#include "sim/base/ids.h"
#include "sim/base/vocabulary.h"
#include "sim/program/memory.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

using StreamId = Id<struct StreamTag, std::uint8_t>;
using GroupSlot = Id<struct GroupSlotTag, std::uint8_t>; // which communicator of the lane
using PeerSlot = Id<struct PeerSlotTag, std::uint8_t>;   // which neighbour of the lane
using ScaleSlot =
    Id<struct ScaleSlotTag, std::uint8_t>; // which per-lane multiplier of the cost; none: 1
using CostId = Id<struct CostTag>; // compute: into CostTable::compute; transfers: into ::transfers
using LabelId = Id<struct LabelTag, std::uint16_t>;
using MemoryEffectId = Id<struct MemoryEffectTag, std::uint16_t>;
using LocalEvent = Id<struct LocalEventTag, std::uint16_t>; // of a block
using EventId = Id<struct EventTag>;                        // of a role
using BlockId = Id<struct BlockTag>;
using RoleId = Id<struct RoleTag>;

enum class OpKind : std::uint8_t {
    compute,    // kernels on a device stream
    collective, // every member of the group takes part, matched in issue order per group
    exchange,   // a batch of sends and receives, complete when all are
    copy,       // over the host link, or what a worker does
    host        // time on the host itself (data loading, Python, synchronous logic)
};

// One entry of a stream.
struct Op {
    OpKind kind = OpKind::compute;
    StreamId stream{};
    GroupSlot group{}; // collective
    ScaleSlot scale{};
    std::uint16_t kernels = 1; // the host issues, one after the other
    LabelId label{};
    CostId cost{}; // not used by exchange (its parts have their own)
    MemoryEffectId memory{};
    std::uint16_t wait_first = 0; // waits: Block::waits[wait_first, +wait_count)
    std::uint16_t wait_count = 0;
    LocalEvent record{};          // recorded when the op has finished
    std::uint16_t part_first = 0; // exchange: Block::parts[part_first, +part_count)
    std::uint16_t part_count = 0;
    bool blocks_host = false; // the host issues nothing further until this op has finished

    bool operator==(const Op&) const = default;
};

enum class Direction : std::uint8_t { send, receive };

// Sends and receives between a pair of lanes match in issue order per channel.
struct ExchangePart {
    Direction direction = Direction::send;
    PeerSlot peer{};
    std::uint8_t channel = 0;
    CostId cost{}; // into CostTable::transfers; both sides name the same

    bool operator==(const ExchangePart&) const = default;
};

struct Block {
    std::string name{};
    std::vector<Op> ops{};
    std::vector<LocalEvent> waits{};
    std::vector<ExchangePart> parts{};
    std::uint16_t local_events = 0;

    bool operator==(const Block&) const = default;
};

struct BlockUse {
    BlockId block{};
    std::uint32_t event_first =
        0; // Role::events[event_first, + block.local_events): local event -> role event
    std::uint16_t micro_batch = no_index;
    std::uint16_t layer = no_index; // or FSDP unit, bucket

    static constexpr std::uint16_t no_index = 0xffff;

    bool operator==(const BlockUse&) const = default;
};

// One step of one kind of rank.
struct Role {
    std::string name{};
    std::vector<BlockUse> order{};
    std::vector<EventId> events{};
    std::uint32_t event_count = 0;
    std::int64_t static_memory =
        0; // bytes held all the time: parameters, gradients, optimizer state, ...
    std::vector<TensorId> held{};             // the tensors these are; none: of no named tensor
    std::vector<TensorId> held_from_update{}; // likewise, made by the first step's optimizer

    bool operator==(const Role&) const = default;
};

// Where a stream's work runs; ops of `communication` streams hold SMs while resident. A `worker` is
// a process beside the host, which issues none of its ops: they wait for events alone.
enum class StreamKind : std::uint8_t { host, compute, communication, copy, worker };

struct Stream {
    std::string name{};
    StreamKind kind = StreamKind::compute;

    bool operator==(const Stream&) const = default;
};

struct Label {
    std::string name{}; // "mlp_down", "dp reduce-scatter", ...
    Phase phase = Phase::other;
    CollectiveKind collective = CollectiveKind::all_reduce; // collective and exchange ops
    GroupKind group = GroupKind::world;                     // likewise: whose traffic

    bool operator==(const Label&) const = default;
};

struct GroupSlotInfo {
    GroupKind kind = GroupKind::world;

    bool operator==(const GroupSlotInfo&) const = default;
};

struct Program {
    std::vector<Stream> streams{};       // [0] is the host
    std::vector<GroupSlotInfo> groups{}; // by GroupSlot
    std::vector<Label> labels{};
    std::vector<Tensor> tensors{};
    std::vector<MemoryEvent> memory_events{}; // by MemoryEffect
    std::vector<MemoryEffect> memory_effects{};
    std::vector<Block> blocks{};
    std::vector<Role> roles{};
    std::vector<std::string> layers{}; // names of the model's, by BlockUse::layer
    std::uint8_t peer_slots = 0;
    std::uint8_t scale_slots = 0;

    bool operator==(const Program&) const = default;
};

inline constexpr StreamId host_stream{0};

// "embedding", "layer 12", "head": what every report and window calls a layer. One that the program
// has no name for goes by its number.
std::string layer_name(const Program& program, int layer);

// Ops of one step of a role, uses counted.
std::size_t op_count(const Program& program, const Role& role);

} // namespace trainyard

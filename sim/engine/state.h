#pragma once

// What changes during a run: streams, lanes and transfers in progress. Plain arrays; the parts of
// the engine that act on them are in files of their own.

#include "sim/engine/compile.h"

namespace trainyard::engine {

inline constexpr std::uint32_t nobody = 0xffffffff;

// What the op at the head of a stream is doing.
enum class HeadState : std::uint8_t {
    finished,        // no op left
    unchecked,       // it just became the head
    waits_for_op,    // `blocking_stream` must have finished `blocking_count` ops
    waits_for_host,  // the host has not come so far, and when it will is not known yet
    waits_for_issue, // for nothing but the host, which is at work: an event will come
    running,         // compute, copy, host
    host_limited,    // its device work is done, its last kernels not yet issued
    joined,          // collective, exchange: arrived
    endless,         // running, but its host stopped before it had issued the rest
    unissued,        // its host has stopped
    lost             // its process is gone
};

// A stream of a lane and its head op: one cache line.
struct alignas(64) StreamState {
    // Parts of an exchange, counted.
    struct Parts {
        std::uint16_t pending;
        std::uint16_t moving;
    };

    SimTime start{};       // of the head op
    SimTime mark{};        // running: when its device work ends (if known); exchange: when the last
                           // of its parts started so far
    SimTime second_mark{}; // running: its earliest end as far as the host goes; exchange: since
                           // when some part has been moving
    std::uint32_t done = 0; // ops finished, all steps
    std::uint32_t head = 0; // into LaneKind::ops
    std::uint32_t blocking_count = 0;
    std::uint32_t next_member = nobody; // collective: the stream that joined before
    std::uint32_t version = 0;
    union {
        std::uint32_t transfer = nobody; // collective
        Parts parts;                     // exchange
    };
    std::uint32_t waiters = 0;         // streams whose heads wait for this one ...
    std::uint32_t release_at = nobody; // ... until `done` is that, for the first of them
    std::uint16_t step = 0;
    std::uint16_t waits_passed = 0;
    HeadState state = HeadState::unchecked;
    OpKind kind : 4 = OpKind::compute; // of the head, from its start on
    Phase phase : 4 = Phase::other;
    std::uint8_t blocking_stream = 0;
};
static_assert(sizeof(StreamState) == 64);

// A set of streams of a lane; beyond 32, several share a bit.
constexpr std::uint32_t stream_bit(std::uint32_t stream)
{
    return 1U << (stream % 32);
}

// A place in the order in which a host issues.
struct IssuePlace {
    std::uint32_t step = nobody;
    std::uint32_t order = nobody; // FlatOp::order

    friend auto operator<=>(const IssuePlace&, const IssuePlace&) = default;
};

struct alignas(64) LaneState {
    const LaneKind* kind = nullptr;
    SimTime host_base{};            // when the current host segment began
    SimTime last{};                 // its time is accounted for up to here
    std::uint32_t multiplicity = 1; // ranks it stands for
    std::uint32_t host_segment = 0; // barriers passed, all steps
    std::uint32_t to_look_at = ~0U; // streams whose heads may be able to start
    IssuePlace issue_limit{};       // since its host hangs: the first op without room in its queue
    std::uint16_t computing = 0;    // compute ops that run
    bool measured = false;          // inside the measured step
    bool dirty = false;             // in the list of lanes to look at
    bool dead = false;
    bool plain = true; // never late, never jittered, never stops
};

enum class TransferState : std::uint8_t {
    gathering, // not all have arrived
    latency,   // (and, where nothing can disturb it, all that follows)
    moving,    // work drains
    stepping,  // sends of its members move (steps/)
    delivered, // an eager message, not yet received
    broken     // who took part is gone
};

// A collective or a message in progress, or the send of one member in a collective that goes step
// by step.
struct alignas(64) Transfer {
    // From arrival to delivery: one cache line.
    const TransferCost* cost = nullptr;
    SimTime start{}; // when all who are needed had arrived; before that, the last to come
    LaneId last_arriver{};
    std::uint32_t channel = 0;
    std::uint32_t sequence = 0;  // in its channel
    std::uint32_t next = nobody; // in its channel
    std::uint32_t version = 0;
    std::uint32_t scale = full_share; // of its work
    std::uint32_t arrived = 0;
    std::uint32_t first_member = nobody; // collective: streams that joined, linked
    std::uint32_t sender = nobody;       // message: streams
    std::uint32_t receiver = nobody;
    LabelId label{}; // of the first to arrive
    TransferState state = TransferState::gathering;
    bool may_step = false;  // collective: step by step as soon as its rate is below the ceiling
    bool disturbed = false; // its rate, or some send's, has been below it
    bool unplanned = false; // its end is not in the queue yet
    bool loose = false;     // send: its step ended at this instant

    // While its work drains.
    u128 remaining = 0; // work
    SimTime settled{};  // `remaining` is as of then
    ByteRate rate{};    // while moving
    std::span<const LinkUse> links{};
    std::uint32_t flow = nobody;  // over links that may be shared, while moving
    std::uint32_t traffic = 0;    // share of 2^20 that its senders' compute loses at `rate`
    std::uint32_t steps = nobody; // collective, send: among those that go step by step

    u128 counted = 0;              // of `remaining`, what counts as the links' in the measured step
    std::uint32_t parent = nobody; // send: the collective ...
    std::uint32_t wire = 0;        // ... and the wire,
    std::uint32_t abreast = 1;     // one of so many that leave its member
    std::uint32_t way = nobody;    // message: of the sender
};

// Where the messages of a lane's part go: what binding and program say of it, side by side.
struct MessageWay {
    std::span<const LinkUse> links{};
    std::uint32_t pipe = 0;
    std::uint32_t variant = 0; // of the costs
};

// Compute that others may slow.
struct Draining {
    u128 remaining = 0; // ps x 2^20, as of `settled`
    SimTime settled{};
    std::uint32_t rate = 0;           // of 2^20; 0 before the first grant
    std::uint32_t share = full_share; // what communication leaves; more than the rate in a window
};

struct RunState {
    RunState(const Program& the_program, const Binding& the_binding, int step_count,
             const Omissions& omissions = {});

    const LaneKind& kind_of(std::uint32_t lane) const { return *lanes[lane].kind; }
    std::uint32_t stream_index(std::uint32_t lane, std::size_t stream) const
    {
        return lane << stream_bits | static_cast<std::uint32_t>(stream);
    }
    std::uint32_t lane_of(std::uint32_t stream) const { return stream >> stream_bits; }
    const StreamPlan& plan_of(std::uint32_t stream) const
    {
        const std::uint32_t lane = lane_of(stream);
        return kind_of(lane).streams[stream - stream_index(lane, 0)];
    }
    const FlatOp& head(std::uint32_t stream) const
    {
        return kind_of(lane_of(stream)).ops[streams[stream].head];
    }
    const Label& label_of(std::uint32_t stream) const
    {
        return program.labels[head(stream).label.value];
    }
    GroupId group_of(std::uint32_t lane, GroupSlot slot) const
    {
        return GroupId{slots[std::size_t{lane} * slots_per_lane + slot.value]};
    }
    // Of 2^20.
    std::uint32_t scale_of(std::uint32_t lane, ScaleSlot slot) const
    {
        return slot.valid()
                   ? slots[std::size_t{lane} * slots_per_lane + program.groups.size() + slot.value]
                   : full_share;
    }

    std::uint32_t way_of(std::uint32_t lane, const PartPlan& part) const
    {
        return lane * ways_per_lane + part.way;
    }

    // Of a compute, copy or host op of that step, alone on the device.
    SimTime duration_of(std::uint32_t lane, const FlatOp& op, std::uint32_t step) const;

    void list_ways(std::uint32_t lane);

    const Program& program;
    const Binding& binding;
    std::uint32_t steps = 1;
    CompiledProgram compiled;
    std::uint32_t stream_bits = 0;    // room for the streams of any kind
    std::vector<StreamState> streams; // by stream_index
    std::vector<Draining> draining;   // by stream; empty where nothing can slow compute
    std::vector<LaneState> lanes;
    std::vector<std::uint32_t> slots; // by lane: its groups, then its scales, side by side
    std::size_t slots_per_lane = 0;
    std::uint32_t ways_per_lane = 0;
    std::vector<MessageWay> ways;    // by way_of
    std::vector<Transfer> transfers; // a pool
    SimTime now{};
};

// `value` times a scale slot of the lane, rounded down to a picosecond.
inline SimTime scaled(const RunState& run, std::uint32_t lane, ScaleSlot slot, SimTime value)
{
    if (!slot.valid())
        return value;
    return span_of(static_cast<u128>(value.value()) * run.scale_of(lane, slot) >> 20);
}

} // namespace trainyard::engine

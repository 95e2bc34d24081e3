#pragma once

// A program made flat for running: per kind of lane the ops of one step by stream, with every event
// resolved to the op that records it and every transfer to its place in the order of its group.
//
// Lanes are of one kind when they play one role and the same of their slots coincide (in a pipeline
// of two stages the lane before and the lane behind are one). Ops are per kind, never per lane.

#include "sim/program/binding.h"

namespace trainyard::engine {

// An op that must have finished: the one at `position` of a stream, of this step or the previous.
struct StepWait {
    std::uint32_t position = 0;
    std::uint8_t stream = 0;
    bool previous_step = false;
    bool carried_over = false; // stands for its like in a repetition that is left out (Seam)
};

// One end of the messages that a lane exchanges with a neighbour over a channel in one direction.
struct PartPlan {
    std::uint32_t pipe = 0;    // of the kind
    std::uint32_t ordinal = 0; // among the parts of this pipe in one step
    PeerSlot peer{};
    Direction direction = Direction::send;
    std::uint16_t way = 0; // of the kind: the same for parts of one pipe and peer slot
    CostId cost{};
};

struct FlatOp {
    SimTime duration{};     // compute, copy, host; unscaled
    SimTime issue_offset{}; // from the start of its host segment until the op may start
    SimTime issue_rest{};   // from then until the last kernel is issued
    std::uint32_t segment = 0;
    std::uint32_t order = 0;   // in which the host issues
    std::uint32_t ordinal = 0; // collective: among those of its group in one step
    std::uint32_t wait_first = 0;
    std::uint32_t part_first = 0;
    CostId cost{};
    LabelId label{};
    std::uint16_t wait_count = 0;
    std::uint16_t part_count = 0;
    std::uint16_t kernels = 1;
    std::uint16_t micro_batch = BlockUse::no_index;
    std::uint16_t layer = BlockUse::no_index;
    OpKind kind = OpKind::compute;
    Phase phase = Phase::other;
    GroupSlot group{};
    ScaleSlot scale{};
    bool ends_segment = false; // the host goes on when it has finished
    bool by_itself = false;    // a worker's: the host does not issue it
    bool first_input = false;  // the first of a step on any worker's stream
};

struct StreamPlan {
    StreamId id{};
    StreamKind kind = StreamKind::compute;
    std::uint32_t op_first = 0;
    std::uint32_t op_count = 0; // of one step
};

// The host runs through a step in segments; each but the last ends with an op that the host waits
// for (a host op or one that blocks it). The last continues in the next step's first.
struct HostPlan {
    std::uint32_t barriers = 0;
    std::vector<std::uint8_t> barrier_streams; // whose op ends segment i
    SimTime after_last{};                      // host time behind the last barrier
};

// Repetitions of a role's step that are left out when it is made flat, because they go like those
// before them.
struct Omission {
    std::uint32_t from = 0;   // the first use that is left out
    std::uint32_t period = 0; // uses of one repetition
    std::uint32_t times = 0;  // none: nothing is left out

    std::uint32_t uses() const { return period * times; }
    std::uint32_t to() const { return from + uses(); } // the first use behind
};

// Calls with the number of each use that is not left out.
template <class Visit>
void for_each_use(const Role& role, const Omission& omission, const Visit& visit)
{
    for (std::uint32_t use = 0; use < role.order.size(); ++use) {
        if (omission.times > 0 && use == omission.from)
            use = omission.to();
        visit(use);
    }
}

using Omissions = std::vector<Omission>; // by RoleId; empty: nothing is left out

// So many repetitions before the place where others are left out, and one behind it, must go alike.
// No op may wait for one further back than these, but for what comes before all of them.
inline constexpr std::uint32_t alike_before_seam = 2;

// The place in a flat step where repetitions are left out.
struct Seam {
    struct Stream {
        std::uint32_t position = 0; // of the first op behind the seam
        std::uint32_t ops = 0;      // of one repetition
    };
    // Transfers of a channel before the repetitions that must go alike, before the seam, and before
    // the end of the one behind it.
    struct Transfers {
        std::uint32_t first = 0;
        std::uint32_t seam = 0;
        std::uint32_t last = 0;
    };
    Omission left_out;
    std::vector<Stream> streams;        // as LaneKind::streams
    std::vector<Transfers> collectives; // by GroupSlot: what each adds to those of its communicator
    std::vector<Transfers> parts;       // by pipe of the kind
    std::uint32_t segment = 0;          // that the host is in
    SimTime issue{};         // what the host takes for a repetition in which it does not stop
    bool host_stops = false; // it stops in every repetition
    // No op waits for one that is left out and has no like, and none behind the seam for one of the
    // repetitions before it that must go alike, but in place of its like.
    bool complete = true;
};

struct LaneKind {
    RoleId role{};
    std::vector<StreamPlan> streams;
    std::vector<FlatOp> ops; // by stream, then issue order
    std::vector<StepWait> waits;
    std::vector<PartPlan> parts;
    std::vector<std::uint32_t> collectives_per_step; // by GroupSlot: of the communicator in it
    std::vector<std::uint32_t> parts_per_step;       // by pipe of the kind
    std::uint32_t ways = 0;                          // of its parts
    HostPlan host;
    Seam seam;
    std::uint32_t op_count = 0;

    // Ops that the stream of a wait of `step` must have finished. Requires one before it if the
    // wait is for the previous step.
    std::uint32_t done_after(const StepWait& wait, std::uint32_t step) const
    {
        return (wait.previous_step ? step - 1U : step) * streams[wait.stream].op_count +
               wait.position + 1;
    }
};

struct CompiledProgram {
    std::vector<LaneKind> kinds;
    std::vector<std::uint32_t> lane_kinds;      // by LaneId
    std::vector<std::uint32_t> lane_pipe_first; // by LaneId, into lane_pipes
    std::vector<std::uint32_t> lane_pipes;      // the pipe of all lanes behind one of a kind
    std::uint32_t pipes = 0;                    // distinct (sender, receiver, channel)
    std::uint32_t streams = 0;                  // most of any kind
};

CompiledProgram compile(const Program& program, const Binding& binding,
                        const Omissions& omissions = {});

} // namespace trainyard::engine

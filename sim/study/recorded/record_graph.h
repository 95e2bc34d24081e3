#pragma once

// Recorded ops as the engine ran them: what each waited for, with whom it moved data, and the chain
// of ops that made the step as long as it is.

#include "sim/engine/compile.h"
#include "sim/engine/totals.h"
#include "sim/study/recorded/record_queues.h"

#include <optional>

namespace trainyard {

using RecordIndex = std::uint32_t; // into StepResult::records
inline constexpr RecordIndex no_record = 0xffffffff;

// What an op waited for last before it started.
enum class StartCause : std::uint8_t {
    nothing, // nothing that was recorded
    stream,  // the op before it on its stream
    event,   // an op of another stream of its rank
    host     // the host had not issued it
};

struct StartReason {
    StartCause cause = StartCause::nothing;
    RecordIndex record = no_record; // ... which ended last; host: the last that the host waited for

    bool operator==(const StartReason&) const = default;
};

// A stretch of the critical path.
enum class PathPart : std::uint8_t {
    runs,  // the op computes, copies, moves data
    waits, // for a member or neighbour that was not recorded
    host   // the host has not issued the op
};

struct PathPiece {
    RecordIndex record = no_record;
    SimTime from;
    SimTime to;
    PathPart part = PathPart::runs;

    bool operator==(const PathPiece&) const = default;
};

class RecordGraph {
public:
    // Program, binding and records outlive this.
    RecordGraph(const Program& program, const Binding& binding,
                const std::vector<OpRecord>& records);

    const Program& program() const { return program_; }
    const Binding& binding() const { return binding_; }
    const std::vector<OpRecord>& records() const { return records_; }
    const RecordQueues& queues() const { return queues_; }
    const engine::LaneKind& kind_of(LaneId lane) const;
    // What the wait of a transfer for its others is.
    TimeKind waiting_kind(const OpRecord& transfer) const
    {
        return engine::waiting_kind(transfer.kind, transfer.kind == OpKind::exchange ||
                                                       joins_stages_[transfer.group.value]);
    }

    const engine::FlatOp& op_of(RecordIndex record) const;

    // The op before it on its stream, none for the first one.
    RecordIndex before(RecordIndex record) const;
    // The record of the op that an op of that lane and step waits for; none if not recorded.
    RecordIndex waited_for(LaneId lane, std::uint16_t step, const engine::StepWait& wait) const;
    // The op whose end the host awaited last before it issued this one.
    RecordIndex barrier_before(RecordIndex record) const;

    StartReason why_started(RecordIndex record) const;
    // Whose coming set a transfer's data moving; none if its own did, or that one's was not
    // recorded.
    RecordIndex last_to_come(RecordIndex record) const;
    // Ops that this one's end let start, in time.
    std::vector<RecordIndex> started_by(RecordIndex record) const;

    // The other members' ops of a collective, by lane.
    std::vector<RecordIndex> peers(RecordIndex record) const;
    // The other ends of an exchange's messages.
    struct Partner {
        RecordIndex record = no_record;
        Direction direction = Direction::send; // of the op asked about

        bool operator==(const Partner&) const = default;
    };
    std::vector<Partner> partners(RecordIndex record) const;
    // Messages whose both ends were recorded, sends in the order of the records.
    struct Message {
        RecordIndex send = no_record;
        RecordIndex receive = no_record;

        bool operator==(const Message&) const = default;
    };
    std::vector<Message> messages() const;

    // Back from the op that ends last, in time without gaps; a piece belongs to one op.
    std::vector<PathPiece> critical_path() const;

private:
    using Ops = std::vector<std::uint32_t>; // into LaneKind::ops, by ordinal
    struct KindIndex {
        Ops issued;                   // by place in issue order
        std::vector<Ops> collectives; // by GroupSlot: those of the communicator, in issue order
        std::vector<Ops> messages;    // by pipe of the kind
        Ops barriers;                 // by host segment
    };

    void place();
    void index_kind(std::size_t kind);
    std::uint32_t flat_op(RecordIndex record) const; // of its lane's kind
    RecordIndex record_at(LaneId lane, std::size_t step, std::uint32_t op) const;
    RecordIndex peer_on(LaneId lane, RecordIndex record) const;
    RecordIndex other_end(RecordIndex record, const engine::PartPlan& part) const;
    RecordIndex walk_back(RecordIndex record, SimTime& time, std::vector<PathPiece>& path) const;

    static constexpr std::uint32_t nothing = 0xffffffff;

    const Program& program_;
    const Binding& binding_;
    const std::vector<OpRecord>& records_;
    engine::CompiledProgram compiled_;
    RecordQueues queues_;
    std::size_t steps_ = 0;
    std::vector<std::uint32_t> lane_steps_; // by lane x steps_ + step: into by_op_; nothing: none
    std::vector<RecordIndex> by_op_;        // of a lane's step, by op of its kind
    std::vector<KindIndex> kinds_;          // as CompiledProgram::kinds
    std::vector<bool> joins_stages_;        // by GroupId
};

} // namespace trainyard

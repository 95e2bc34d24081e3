#pragma once

#include "sim/engine/ahead/passages.h"
#include "sim/engine/ahead/seams.h"
#include "sim/engine/ahead/step_accounting.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/recorder.h"
#include "sim/engine/transfer_table.h"

namespace trainyard::engine::ahead {

// How many steps of a lane are in flight at most, with the step before the first that is not over:
// its streams may wait for that one.
inline constexpr std::uint32_t most_steps_in_flight = 8;

enum class State : std::uint8_t {
    waits,   // something that the head needs is not known
    joined,  // a transfer whose end is not known
    drains,  // compute whose end is not known: communication may still disturb it
    finished // no op left
};

// What a head waits for.
enum class BlockedBy : std::uint8_t {
    nothing, // that is known
    op,      // of another stream
    host,    // to come to it
    steps    // of its lane: too many are in flight
};

using StreamMask = std::uint64_t; // of a lane
inline constexpr std::size_t most_streams = 64;

// A stream of a lane and its head op.
struct StreamRun {
    const FlatOp* op = nullptr; // the head
    std::uint32_t lane = 0;
    std::uint8_t index = 0; // in its lane
    bool communicates = false;
    State state = State::waits;
    BlockedBy blocked_by = BlockedBy::nothing;
    std::uint8_t blocking_stream = 0;
    Time ready = 0;         // the latest of what the head needs, as far as known
    Time start = 0;         // of the head
    Time begin = 0;         // exchange: latest of its parts so far
    Time end = 0;           // exchange: likewise; drains: of its device work as things stand
    Time least = 0;         // drains: no end before, whatever the device does
    Time queued = 0;        // drains: the end that is in the queue
    Time quiet = 0;         // joined: nothing about it that is not known happens before
    u128 work = 0;          // drains
    std::uint32_t done = 0; // ops, all steps
    std::uint32_t step = 0;
    std::uint32_t needed = 0;           // blocked by an op: so many of that stream must be done
    std::uint32_t wanted = nobody;      // the least count of ops that `waiters` wait for
    std::uint32_t next_member = nobody; // collective: the stream that joined before
    std::uint32_t version = 0;
    std::uint32_t resident = 0; // joined: what its kernel takes of the device
    StreamMask waiters = 0;     // streams that were found to wait for an op of this one
    std::uint16_t waits_passed = 0;
    std::uint16_t parts_left = 0;
};

struct LaneRun {
    const LaneKind* kind = nullptr;
    DeviceLoad loads;
    std::vector<Time> bases; // when the host began each segment, all steps
    std::vector<Time> ends;  // [step & step_mask_][op]
    std::array<std::uint32_t, most_steps_in_flight> ops_left{};
    std::array<Time, most_steps_in_flight> step_end{};
    // Compute ops of the measured step that ended before it was known when that opens.
    std::vector<std::uint32_t> early;
    Time opened = never; // the measured step
    std::uint32_t steps_over = 0;
    StreamMask open = 0;                // streams whose heads may start, for all that is known
    StreamMask draining = 0;            // in state `drains`
    StreamMask host_waiters = 0;        // blocked by the host
    StreamMask step_waiters = 0;        // blocked by steps in flight
    StreamMask slowing = 0;             // have transfers that slow compute
    StreamMask computing = 0;           // have compute ops
    const Passages* passages = nullptr; // of the kind
    std::vector<PassageTimes> learned;  // by shape
    std::uint32_t next_passage = 0;
    Watch watch;
    bool skips_passages = false;
    bool unsettled = false; // something that draining streams depend on has changed
    bool dirty = false;
};

class Runner {
public:
    Runner(const Program& program, const Binding& binding, const RunControl& control,
           const Omissions& omissions);

    std::optional<StepResult> run();

private:
    // runner.cpp: lanes from op to op
    void begin();
    void begin_stream(std::uint32_t lane, std::uint32_t s);
    void wake(std::uint32_t lane);
    void advance(std::uint32_t lane);
    void advance_stream(LaneRun& lane, StreamRun& stream);
    bool ready(LaneRun& lane, StreamRun& stream);
    void unblock(LaneRun& lane, StreamMask& waiters);
    void unblock_waiters(LaneRun& lane, StreamRun& stream);
    Time issued(const LaneRun& lane, const StreamRun& stream) const;
    void start_timed(LaneRun& lane, StreamRun& stream, Time issued);
    void finish(StreamRun& stream, Time end);
    void advance_past(StreamRun& stream, std::uint32_t ops, Time end);
    void end_of_step(std::uint32_t lane, std::uint32_t step, Time end);
    void open_measured_step(std::uint32_t lane, Time time);
    bool step_repeats(std::uint32_t lane, std::uint32_t step);
    void record(const StreamRun& stream, SimTime moved_from, Bytes bytes, LaneId last_arriver,
                Time end);
    void report_progress();
    StepResult result();

    // runner_compute.cpp: compute that communication may slow
    bool slows(std::uint32_t lane, const StreamPlan& plan) const;
    bool drain(StreamRun& stream);
    bool settle_drains(std::uint32_t lane);
    void queue_drains(std::uint32_t lane);
    void settle_first_end();
    void end_compute(StreamRun& stream, Time device);
    void note_work(const StreamRun& stream, Time device);
    Time quiet_until(const StreamRun& computing) const;
    Time quiet_until(const StreamRun& stream, const StreamRun& computing) const;
    void forget(std::uint32_t lane);
    void load(const StreamRun& stream, Time at, std::int64_t change);

    // runner_passages.cpp: what goes alike every time
    // A passage that begins at `root` and whose times are known.
    struct KnownPassage {
        const StreamRun& root;
        const PassageShape& shape;
        const PassageTimes& learned;
    };
    // The ops of one stream in a passage that is skipped: their times are in `learned` from `at`
    // on.
    struct SkippedOps {
        const PassageTimes& learned;
        std::size_t at;
        std::uint32_t ops;
        Time begin;
        bool measured;
    };
    const Passage* passage_at(LaneRun& lane, const StreamRun& stream);
    bool skip_passages(StreamRun& root);
    bool skip_passage(StreamRun& root, const Passage* passage);
    bool all_begin(const StreamRun& root, const Passage& passage) const;
    bool goes_alike(const StreamRun& root, const Passage& passage,
                    const PassageTimes& learned) const;
    Time quiet_beside(const StreamRun& root, const Passage& passage,
                      const PassageTimes& learned) const;
    bool begins_passage(const StreamRun& stream, std::uint32_t o) const;
    bool waits_for_all(const StreamRun& stream, std::uint32_t o, std::uint32_t behind) const;
    Time quiet_until(const StreamRun& transfers, const KnownPassage& passage) const;
    Time end_in(const KnownPassage& passage, const StreamRun& stream, std::uint32_t done) const;
    void write_times(StreamRun& stream, const SkippedOps& skipped);
    void watch(const StreamRun& root, const Passage& passage);
    std::optional<std::size_t> watched(const StreamRun& stream) const;
    void stop_watching(LaneRun& lane);
    void note_watched(const StreamRun& stream, Time end);
    void learn(std::uint32_t lane);
    void count_skipped(std::uint32_t lane);

    // runner_transfers.cpp
    void join(StreamRun& stream);
    void make_resident(StreamRun& stream, std::uint32_t sm_share);
    void join_collective(StreamRun& stream);
    void join_exchange(StreamRun& stream);
    void join_message(StreamRun& stream, std::uint32_t part);
    bool matches(Transfer& transfer, const TransferCost& cost, const FlatOp& op);
    void complete(std::uint32_t transfer);
    void begin_message(std::uint32_t transfer);
    void end_part(StreamRun& stream, const Transfer& transfer, Direction direction);
    struct Span {
        Time begin;
        Time end;
    };
    void note_part(const StreamRun& stream, const Transfer& transfer, Direction direction,
                   Span span);
    void note_loads(const StreamRun& stream);
    // What a collective tells each of its members.
    struct CollectiveResult {
        const TransferCost& cost;
        Span span;
        LaneId last_arriver;
    };
    void finish_collective(StreamRun& stream, const CollectiveResult& collective);
    void finish_transfer(StreamRun& stream, Span span, Bytes bytes, LaneId last_arriver);
    void load_traffic(const StreamRun& stream, const TransferCost& cost, Span span);
    const TransferCost& collective_cost(std::uint32_t lane, const FlatOp& op) const;
    const TransferCost& part_cost(std::uint32_t lane, const PartPlan& part) const;

    StreamRun& stream_at(std::uint32_t lane, std::size_t s)
    {
        return streams_[run_.stream_index(lane, s)];
    }
    const StreamRun& stream_at(std::uint32_t lane, std::size_t s) const
    {
        return streams_[run_.stream_index(lane, s)];
    }
    std::uint32_t op_index(const StreamRun& stream) const
    {
        return static_cast<std::uint32_t>(stream.op - lanes_[stream.lane].kind->ops.data());
    }
    std::uint32_t number_of(const StreamRun& stream) const
    {
        return static_cast<std::uint32_t>(&stream - streams_.data());
    }
    bool measured(const StreamRun& stream) const { return stream.step + 1 == run_.steps; }
    std::uint64_t times_counted(const StreamRun& stream) const
    {
        return seams_.times_of(stream.lane, stream.index,
                               stream.done - stream.step * plan_of(stream).op_count);
    }
    const StreamPlan& plan_of(const StreamRun& stream) const
    {
        return lanes_[stream.lane].kind->streams[stream.index];
    }

    const RunControl& control_;
    RunState run_;
    TransferTable table_;
    EventQueue queue_;
    Recorder recorder_;
    std::optional<StepAccounting> accounting_;
    Seams seams_;
    bool interferes_;
    std::uint32_t step_mask_;        // the slots for steps are numbered by these bits of theirs
    std::vector<Passages> passages_; // by kind
    std::vector<LaneRun> lanes_;
    std::vector<StreamRun> streams_; // as RunState::streams
    std::vector<std::uint32_t> dirty_;
    std::vector<SimTime> step_ends_;
    std::vector<SimTime> lane_ends_;
    Time settled_ = 0;     // the queue has come to here
    bool gave_up_ = false; // it cannot go on, or not exactly
    std::uint64_t ops_ = 0;
    std::uint64_t all_ops_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t next_report_ = 0;
};

} // namespace trainyard::engine::ahead

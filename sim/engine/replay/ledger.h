#pragma once

// Charges the time of one lane piece by piece, from the times of its ops: the rules of Accounting
// (see README.md of the engine) read backwards.
//
// Where all compute is on one stream, each gap in it belongs to what its next op waits for, which
// is followed from op to op. Behind the last compute, and for lanes with several such streams, all
// streams are looked at whenever something changes on one of them.

#include "sim/engine/replay/tables.h"
#include "sim/engine/totals.h"

namespace trainyard::engine::replay {

// What a transfer takes from compute on one lane.
struct LaneLoad {
    Time resident = 0;
    Time latency = 0;
    Time traffic = 0;
};

// The times of one lane's ops, by op and part of its kind.
struct LaneTimes {
    std::vector<Time> start, begin, end;
    std::vector<Time> device; // when its device work is done
    std::vector<u128> left;   // work to drain from the first charge on, in ps x 2^20
    std::vector<Time> part_begin, part_end;
    std::vector<LaneLoad> loads, part_loads; // empty where nothing slows compute

    void resize(const LaneKind& kind, bool loaded);
};

// What is charged to a lane; `exposed` is by transfer class.
struct LaneCharges {
    std::array<Time, time_kind_count> time{};
    std::vector<Time> exposed;
    ComputeWork work{};
    Time compute_busy = 0;

    Time& of(TimeKind kind) { return time[static_cast<std::size_t>(kind)]; }
    // Charges what came since `before` that many `times` more.
    void repeat_since(const LaneCharges& before, std::uint32_t times);
    // `classes`: those that were charged.
    void clear(const std::vector<std::uint32_t>& classes);
};

// Ops of the only stream that computes, and the gaps before each, to be charged `times` times more.
struct RepeatedOps {
    std::uint32_t first = 0; // position
    std::uint32_t end = 0;
    std::uint32_t times = 0;
};

inline constexpr std::uint8_t no_stream = 0xff;

// The stream of all compute ops if it is the only one meant for them, else none.
std::uint8_t computing_stream(const LaneKind& kind);

// The ops for which the host of a kind stops, in their order.
std::vector<StepWait> barriers_of(const LaneKind& kind);

class Ledger {
public:
    // `barriers`: of the kind. `stages`: by GroupSlot, whether its groups join stages of a
    // pipeline. `first`: the op of each stream to begin with; those before it are over.
    Ledger(const Program& program, const LaneKind& kind, std::vector<StepWait> barriers,
           std::vector<std::uint8_t> stages, std::vector<std::uint32_t> first);

    // Charges the time from `from` until the last op has ended.
    void charge(const LaneTimes& times, Time from, LaneCharges& charges,
                const RepeatedOps& repeated = {});

private:
    enum class State : std::uint8_t { finished, waits_for_stream, waits_for_issue, runs, joined };
    struct Head {
        std::uint32_t op = none;
        State state = State::finished;
        std::uint8_t behind = 0; // stream
        bool drains = false;     // compute whose device work is not done
    };
    struct Cause {
        std::uint8_t transfer = no_stream;
        TimeKind kind = TimeKind::bubble;
    };

    Time charge_in_order(const LaneTimes& times, Time from, LaneCharges& charges,
                         const RepeatedOps& repeated);
    void charge_compute(const LaneTimes& times, std::uint32_t op, Time begin, LaneCharges& charges);
    void charge_gap(const LaneTimes& times, std::uint32_t op, Time begin, LaneCharges& charges);
    void charge_op(const LaneTimes& times, std::uint32_t op, Time begin, Time end,
                   LaneCharges& charges) const;
    Time moving(const LaneTimes& times, std::uint32_t op, Time begin, Time end) const;
    void charge_all(const LaneTimes& times, Time from, LaneCharges& charges);

    void update_head(std::size_t stream, const LaneTimes& times, Time now);
    std::uint8_t awaited(const LaneTimes& times, const FlatOp& op, Time now) const;
    Time next_change(const LaneTimes& times, Time now) const;
    // What communication leaves of the device.
    Time share(const LaneTimes& times, Time now) const;
    Time next_share(const LaneTimes& times, Time now, Time change) const;
    void charge_piece(const LaneTimes& times, Time begin, Time end, LaneCharges& charges);
    void charge_idle(const LaneTimes& times, Time begin, Time end, LaneCharges& charges) const;
    std::uint8_t next_compute() const;
    Cause cause_of_wait(std::uint8_t stream) const;
    Cause cause_at_end(const LaneTimes& times, Time begin, Time end) const;
    Time moving_since(const LaneTimes& times, std::uint32_t op, Time begin, Time end) const;
    const FlatOp& op_of(std::uint8_t stream) const { return kind_.ops[heads_[stream].op]; }

    const Program& program_;
    const LaneKind& kind_;
    std::vector<StepWait> barriers_;
    std::vector<std::uint8_t> stages_;
    std::vector<std::uint32_t> first_; // position, by stream
    std::vector<std::uint32_t> next_;  // likewise, during a charge
    std::vector<Head> heads_;
    std::vector<u128> left_; // by stream: what its compute has still to drain, in ps x 2^20
    std::uint8_t compute_ = no_stream; // the only one that computes
};

} // namespace trainyard::engine::replay

#pragma once

// Where the time of all lanes of a cohort goes, as instructions on the tape.
//
// Each gap before an op of the compute stream belongs to the ops that could hold it up: one after
// the other, in the order of the waits, they take the time until they begin or end. Which ops these
// are is known beforehand, so that a gap is a short list of "all until here goes there".

#include "sim/engine/replay/composed.h"
#include "sim/engine/replay/premises.h"

namespace trainyard::engine::replay {

// Told by the composer what it has just written. A cohort that does not compute on one stream is
// left to a Ledger.
class Charger {
public:
    Charger(const Program& program, const OrderRequest& request, const JoinsStages& stages,
            Composed& composed);

    bool on_tape(std::uint32_t cohort) const { return plans_[cohort].on_tape; }

    // A collective of one seat, just written.
    void note_gather(std::uint32_t cohort, std::uint32_t op);
    // An op of the compute stream starts: charges the time since the one before ended.
    void charge_gap(std::uint32_t cohort, std::uint32_t op);
    // An op of the compute stream that computes nothing has ended.
    void charge_own(std::uint32_t cohort, std::uint32_t op);
    // The tape is written.
    std::vector<CohortCharges> finish() &&;

private:
    const LaneKind& kind(std::uint32_t c) const { return *request_.cohorts.all[c].kind; }
    const Known& known(std::uint32_t c) const { return request_.known[c]; }
    const StreamPlan& compute_stream(std::uint32_t c) const;

    CohortCharges plan(std::uint32_t c) const;
    void begin(Instr::Code code, std::uint32_t c);
    void read(Value value);
    void note_uses();
    void charge(const Charge& entry);
    void end_charge();
    void wait_for_needs(std::uint32_t c, std::uint32_t o);
    void wait_for(std::uint32_t c, std::uint32_t o);
    void take(std::uint32_t c, std::uint32_t o);
    bool holds_up(std::uint32_t c, std::uint32_t o);
    void add_work(std::uint32_t c);
    void guard_tail(std::uint32_t c);
    void plan_tail(std::uint32_t c);

    const Program& program_;
    const OrderRequest& request_;
    const JoinsStages& stages_;
    Composed& composed_;
    Tape& tape_;
    std::vector<CohortCharges> plans_;
    std::vector<std::uint32_t> over_; // ops, by stream, in the gap at hand
    std::uint32_t until_ = none;      // the op whose end it is charged to so far; none: no one op's
    std::vector<std::vector<std::uint32_t>> gathers_; // by cohort, op: instruction
};

} // namespace trainyard::engine::replay

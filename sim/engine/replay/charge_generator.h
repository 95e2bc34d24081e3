#pragma once

// Generates the instructions that charge the time of all lanes of a class at once.
//
// Each gap before an op of the compute stream belongs to the ops that could hold it up: one after
// the other, in the order of the waits, they take the time until they begin or end. Which ops these
// are is known beforehand, so that a gap is a short list of "all until here goes there".

#include "sim/engine/replay/generated_code.h"
#include "sim/engine/replay/preconditions.h"

namespace trainyard::engine::replay {

// The code generator tells it what it has just written. A lane class that does not compute on one
// stream is left to a Ledger.
class ChargeGenerator {
public:
    ChargeGenerator(const Program& program, const OrderRequest& request, const JoinsStages& stages,
                    GeneratedCode& generated);

    bool vectorized(std::uint32_t lane_class) const { return plans_[lane_class].vectorized; }

    // A collective of one member class has just been written.
    void note_collective(std::uint32_t lane_class, std::uint32_t op);
    // Charges the time since the op before ended; call when an op of the compute stream starts.
    void charge_gap(std::uint32_t lane_class, std::uint32_t op);
    // Charges an op of the compute stream that computes nothing; call when it has ended.
    void charge_op(std::uint32_t lane_class, std::uint32_t op);
    // Completes the plans; call when the code is written.
    std::vector<ChargePlan> finish() &&;

private:
    const LaneKind& kind(std::uint32_t c) const { return *request_.lane_classes.all[c].kind; }
    const Precedence& precedence(std::uint32_t c) const { return request_.precedence[c]; }
    const StreamPlan& compute_stream(std::uint32_t c) const;

    ChargePlan plan(std::uint32_t c) const;
    void begin(Instr::Opcode opcode, std::uint32_t c);
    void read(Value value);
    void note_uses();
    void charge(const Charge& entry);
    void end_charge();
    void wait_for_needs(std::uint32_t c, std::uint32_t o);
    void wait_for(std::uint32_t c, std::uint32_t o);
    void add_op(std::uint32_t c, std::uint32_t o);
    bool holds_up(std::uint32_t c, std::uint32_t o);
    void add_work(std::uint32_t c);
    void guard_tail(std::uint32_t c);
    void plan_tail(std::uint32_t c);

    const Program& program_;
    const OrderRequest& request_;
    const JoinsStages& stages_;
    GeneratedCode& generated_;
    StepCode& code_;
    std::vector<ChargePlan> plans_;
    std::vector<std::uint32_t> over_; // ops, by stream, in the gap at hand
    std::uint32_t until_ = none;      // the op whose end it is charged to so far; none: no one op's
    std::vector<std::vector<std::uint32_t>> collectives_; // by lane class, op: instruction
};

} // namespace trainyard::engine::replay

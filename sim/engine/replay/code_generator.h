#pragma once

// Generates the code of a step, action by action.

#include "sim/engine/replay/charge_generator.h"
#include "sim/engine/replay/generated_code.h"

namespace trainyard::engine::replay {

// The transfers of a communication stream that slow compute; at least one.
struct SlowingStream {
    std::uint32_t stream = 0;
    std::vector<std::uint32_t> ops;
    std::vector<std::uint32_t> count_before; // by position in the stream, and its end
    std::uint32_t list = none;               // into StepCode::overlaps
    std::uint32_t previous_list = none; // likewise of the step before, from `first_previous` on
    std::uint32_t first_previous = none;
};

class CodeGenerator {
public:
    CodeGenerator(const CodeRequest& request, Tables& tables);

    std::optional<GeneratedCode> generate(const std::vector<Action>& actions) &&;

private:
    const LaneKind& kind(std::uint32_t c) const { return *classes_.all[c].kind; }
    StepCode& code() { return result_.code; }

    void add_inputs(std::uint32_t c);
    void find_slowing(std::uint32_t c);
    void add_carries(std::uint32_t c);
    void note_last_uses();

    Value value(std::uint32_t lane_class);
    void begin(Instr::Opcode opcode, std::uint32_t lane_class);
    Instr& last() { return code().instrs.back(); }
    void read(Value value);
    void use(Value value);
    Value write_to(std::uint32_t lane_class);

    bool write(const Action& action);
    void run(std::uint32_t c, std::uint32_t o);
    void wait(std::uint32_t c, std::uint32_t o);
    Value base_of(std::uint32_t c, const FlatOp& op);
    void read_needed(std::uint32_t c);
    bool charged(std::uint32_t c, std::uint32_t o) const;

    void arrive(std::uint32_t c, std::uint32_t o);
    bool collective(std::uint32_t m, std::uint32_t ordinal);
    bool message(Instr::Opcode opcode, std::uint32_t c, std::uint32_t p);
    void complete(std::uint32_t c, std::uint32_t o);
    void count(std::uint32_t c, std::uint32_t o);
    std::uint32_t transfer_class_of(std::uint32_t c, const FlatOp& op);
    std::uint32_t count_moving(std::uint32_t c, const FlatOp& op, MovingTime moving);
    void end_transfer(std::uint32_t c, std::uint32_t o);

    void add_overlap_set(std::uint32_t c, std::uint32_t o);
    void add_overlap(std::uint32_t c, std::uint32_t o);
    const PerLane& resident_of(std::uint32_t c, const FlatOp& op);
    template <class Visit>
    void for_each_load(std::uint32_t c, std::uint32_t overlap, const Visit& visit);
    void add_previous_overlaps();
    void carry_over(std::uint32_t c, SlowingStream& stream);
    Value carry_over(std::uint32_t c, Value from);

    const Program& program_;
    const LaneClasses& classes_;
    const std::vector<Precedence>& precedence_;
    const IsEager& eager_;
    const SlowsCompute& slows_;
    Tables& tables_;
    bool by_lane_;
    GeneratedCode result_;
    std::optional<ChargeGenerator> charge_generator_;
    struct PreviousOverlap {
        std::uint32_t instr, lane_class, slowing;
        std::uint32_t first; // into the ops of the slowing stream
    };
    std::vector<std::vector<SlowingStream>> slowing_; // by lane class, stream
    std::vector<PreviousOverlap> previous_overlaps_;  // compute that the step before may slow
    // By group class: the op at ordinal x member classes + member class.
    std::vector<std::vector<std::uint32_t>> member_ops_;
    std::vector<std::uint32_t> needed_; // ops of this step that the one at hand waits for
    std::vector<const FlatOp*> ops_;    // of the collective at hand
};

} // namespace trainyard::engine::replay

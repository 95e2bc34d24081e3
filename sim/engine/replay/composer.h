#pragma once

// Writes a tape, act by act.

#include "sim/engine/replay/charges.h"
#include "sim/engine/replay/compose.h"

namespace trainyard::engine::replay {

// The transfers of a communication stream that slow compute; some.
struct SlowingStream {
    std::uint32_t stream = 0;
    std::vector<std::uint32_t> ops;
    std::vector<std::uint32_t> before; // by position in the stream, and its end: how many
    std::uint32_t list = none;         // of rivals
    std::uint32_t list_before = none;  // likewise of the step before, from `first_before` on
    std::uint32_t first_before = none;
};

class Composer {
public:
    Composer(const ComposeRequest& request, Tables& tables);

    std::optional<Composed> compose(const std::vector<Act>& acts) &&;

private:
    const LaneKind& kind(std::uint32_t c) const { return *cohorts_.all[c].kind; }
    Tape& tape() { return result_.tape; }

    void bring_in(std::uint32_t c);
    void find_slowing(std::uint32_t c);
    void carry_out(std::uint32_t c);
    void note_last_uses();

    Value value(std::uint32_t cohort);
    void begin(Instr::Code code, std::uint32_t cohort);
    Instr& last() { return tape().instrs.back(); }
    void read(Value value);
    void use(Value value);
    Value write_to(std::uint32_t cohort);

    bool write(const Act& act);
    void run(std::uint32_t c, std::uint32_t o);
    void wait(std::uint32_t c, std::uint32_t o);
    Value base_of(std::uint32_t c, const FlatOp& op);
    void read_needed(std::uint32_t c);
    bool charged(std::uint32_t c, std::uint32_t o) const;

    void arrive(std::uint32_t c, std::uint32_t o);
    bool gather(std::uint32_t m, std::uint32_t ordinal);
    bool message(Instr::Code code, std::uint32_t c, std::uint32_t p);
    void complete(std::uint32_t c, std::uint32_t o);
    void count(std::uint32_t c, std::uint32_t o);
    std::uint32_t total_of(std::uint32_t c, const FlatOp& op);
    std::uint32_t count_moving(std::uint32_t c, const FlatOp& op, Moving moving);
    void end_transfer(std::uint32_t c, std::uint32_t o);

    void load(std::uint32_t c, std::uint32_t o);
    void add_rival(std::uint32_t c, std::uint32_t o);
    const Amount& resident_of(std::uint32_t c, const FlatOp& op);
    template <class Visit>
    void for_each_load(std::uint32_t c, std::uint32_t rival, const Visit& visit);
    void load_from_before();
    void bring_over(std::uint32_t c, SlowingStream& stream);
    Value bring_over(std::uint32_t c, Value from);

    const Program& program_;
    const Cohorts& cohorts_;
    const std::vector<Known>& known_;
    const IsEager& eager_;
    const SlowsCompute& slows_;
    Tables& tables_;
    bool by_lane_;
    Composed result_;
    std::optional<Charger> charger_;
    struct Before {
        std::uint32_t instr, cohort, slowing;
        std::uint32_t first; // of the transfers of the stream that slow compute
    };
    std::vector<std::vector<SlowingStream>> slowing_;  // by cohort, stream
    std::vector<Before> before_;                       // compute that the step before may slow
    std::vector<std::vector<std::uint32_t>> gathered_; // by meeting; ordinal x seats + seat: op
    std::vector<std::uint32_t> needed_; // ops of this step that the one at hand waits for
    std::vector<const FlatOp*> ops_;    // of the collective at hand
};

} // namespace trainyard::engine::replay

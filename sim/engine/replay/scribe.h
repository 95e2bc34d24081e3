#pragma once

// Writes down the ops of the lanes asked for, as Recorder does for the reference engine.

#include "sim/engine/engine.h"
#include "sim/engine/replay/capture.h"

namespace trainyard::engine::replay {

class Scribe {
public:
    Scribe(const Program& program, const Binding& binding, const Cohorts& cohorts,
           const std::vector<Known>& known, const Tape& tape, const RecordRequest& request);

    bool wants_any() const { return any_; }
    bool wants(int step) const { return any_ && step >= first_step_; }

    void begin_step(Player& player) { capture_.note_inputs(player); }
    void note(Player& player, const Instr& instr);
    void end_step(int step);

    // By end, lane and stream; within one stream in its order.
    std::vector<OpRecord> take();

private:
    void note_last_arrivers(Player& player, const Instr& instr);
    void write(std::uint32_t cohort, std::size_t kept, std::uint32_t op, int step);
    Time issued(std::uint32_t cohort, std::size_t kept, const FlatOp& op) const;
    Bytes bytes_of(std::uint32_t lane, const LaneKind& kind, const FlatOp& op) const;

    const Program& program_;
    const Binding& binding_;
    const Cohorts& cohorts_;
    const std::vector<Known>& known_;
    const Tape& tape_;
    Capture capture_;
    bool any_ = false;
    int first_step_ = 0;
    std::map<std::pair<Value, std::uint32_t>, LaneId> last_arrivers_; // by begin, index of lane
    std::vector<OpRecord> records_;
};

} // namespace trainyard::engine::replay

#pragma once

// Records the ops of the lanes asked for, as Recorder does for the reference engine.

#include "sim/engine/engine.h"
#include "sim/engine/replay/interpreter.h"

namespace trainyard::engine::replay {

// Keeps the times of some lanes whose columns are overwritten.
class Capture {
public:
    // `lanes`: the indices of those to keep, by lane class.
    Capture(const LaneClasses& lane_classes, const StepCode& code,
            std::vector<std::vector<std::uint32_t>> lanes)
        : classes_(lane_classes),
          code_(code),
          lanes_(std::move(lanes)),
          first_(code.values.size(), none)
    {}

    const std::vector<std::uint32_t>& lanes(std::uint32_t lane_class) const
    {
        return lanes_[lane_class];
    }

    // Keeps what the lanes of the class find in the column, which may be a neighbour's.
    void want(std::uint32_t lane_class, Value value);
    // Keeps all values that say when the ops of a lane class run.
    void want_ops(std::uint32_t lane_class);

    // Copy the inputs of a step, and what an instruction has written.
    void note_inputs(Interpreter& interpreter);
    void note(Interpreter& interpreter, const Instr& instr);

    // The time of the i-th kept lane of the class; 0 for no value.
    Time at(std::uint32_t lane_class, Value value, std::size_t i) const;

private:
    struct Kept {
        std::uint32_t lane_class = 0;
        std::uint32_t next = none; // of the same value
        std::size_t place = 0;     // in times_
    };

    void copy(Interpreter& interpreter, Value value);

    const LaneClasses& classes_;
    const StepCode& code_;
    std::vector<std::vector<std::uint32_t>> lanes_;
    std::vector<std::uint32_t> first_; // by value, into kept_
    std::vector<Kept> kept_;
    std::size_t size_ = 0;
    std::vector<Time> times_;
};

class ReplayRecorder {
public:
    ReplayRecorder(const Program& program, const Binding& binding, const LaneClasses& lane_classes,
                   const std::vector<Precedence>& precedence, const StepCode& code,
                   const RecordRequest& request);

    bool wants_any() const { return any_; }
    bool wants(int step) const { return any_ && step >= first_step_; }

    void begin_step(Interpreter& interpreter) { capture_.note_inputs(interpreter); }
    void note(Interpreter& interpreter, const Instr& instr);
    void end_step(int step);

    // The records, by end, lane and stream; within one stream in its order.
    std::vector<OpRecord> take();

private:
    void note_last_arrivers(Interpreter& interpreter, const Instr& instr);
    void write(std::uint32_t lane_class, std::size_t kept, std::uint32_t op, int step);
    Time issued(std::uint32_t lane_class, std::size_t kept, const FlatOp& op) const;
    Bytes bytes_of(std::uint32_t lane, const LaneKind& kind, const FlatOp& op) const;

    const Program& program_;
    const Binding& binding_;
    const LaneClasses& classes_;
    const std::vector<Precedence>& precedence_;
    const StepCode& code_;
    Capture capture_;
    bool any_ = false;
    int first_step_ = 0;
    std::map<std::pair<Value, std::uint32_t>, LaneId> last_arrivers_; // by begin, index of lane
    std::vector<OpRecord> records_;
};

} // namespace trainyard::engine::replay

#pragma once

// Adds up the measured step, by lane and by transfer class.

#include "sim/engine/replay/charge_generator.h"
#include "sim/engine/replay/interpreter.h"
#include "sim/engine/replay/ledger.h"

namespace trainyard::engine::replay {

struct TotalsRequest {
    const Program& program;
    const Binding& binding;
    const LaneClasses& lane_classes;
    const std::vector<Precedence>& precedence;
    const JoinsStages& stages;
    const SlowsCompute& slows;
    const GeneratedCode& generated;
    TimeKind idle; // what a lane does whose own step is over
};

// The values that fill_totals reads; they must keep their columns until the step is over.
std::vector<Value> values_for_totals(const LaneClasses& lane_classes, const StepCode& code,
                                     const std::vector<ChargePlan>& charges);

// Fills lanes, lane_ends, transfers and critical_lane of a result that has its step time. The
// interpreter has executed the measured step.
void fill_totals(const TotalsRequest& request, Tables& tables, Interpreter& interpreter,
                 StepResult& result);

} // namespace trainyard::engine::replay

#pragma once

// Many scenarios at once: the figures of each step, on all cores.

#include "sim/report/step_figures.h"
#include "sim/study/session.h"

#include <span>

namespace trainyard {

// What is kept of one: so little that a hundred thousand fit in memory.
struct Evaluated : StepFigures {
    Problems problems; // why it could not be run, memory that is missing included; empty: it could
    Fidelity fidelity = Fidelity::alpha_beta;
    std::uint64_t input_hash = 0;
    Problems warnings;
    bool cut_short = false; // the work was cancelled before its end

    bool feasible() const { return problems.empty() && !cut_short; }
};

struct EvaluationOptions {
    int threads = 0;             // 0: as many as the machine runs at once
    Unfit unfit = Unfit::refuse; // what becomes of a job without the memory for it
    WorkControl work;            // counts scenarios
};

// One for each, in order; what is found does not depend on the number of threads. As a sweep's
// points, those that leave the fidelity open run in alpha-beta, so that they may be held against
// one another. Of cancelled work those are whole that were done. Throws WorldError.
std::vector<Evaluated> evaluate_scenarios(std::span<const ScenarioFile> files, Session& session,
                                          const EvaluationOptions& options = {});

// Its figures by the keys that the JSON of a result has for them.
Json to_json(const Evaluated& evaluated);

} // namespace trainyard

#pragma once

// Which settings would shorten the step most: candidates chosen by its breakdown, each simulated.

#include "sim/study/sensitivity/candidates.h"

namespace trainyard {

class Session;

struct Advice {
    std::vector<Override> set; // to paste as --set
    Seconds step_time;
    double gain = 0;  // share of the step that is saved; of a job that does not fit always 0
    std::string note; // what else it changes

    bool operator==(const Advice&) const = default;
};

struct AdviceReport {
    std::vector<Advice> best; // at most three, best first; of a job that does not fit those that do
    int tried = 0;            // simulated; all of them fit
    int left_out = 0;         // not looked at

    // The fastest of those that go for the bottleneck, whatever it saves.
    std::optional<Advice> answer;

    bool operator==(const AdviceReport&) const = default;
};

struct AdviceOptions {
    // Simulations at most; absent: as many as are quick, which the size of the job decides, not how
    // it is run.
    std::optional<int> most;
    int threads = 0; // 0: as many as the machine runs at once
    WorkControl work;
    // Of the step: a setting against it is tried first.
    BottleneckClass bottleneck = BottleneckClass::compute;
};

// Only settings that are legal, fit into memory and save half a per cent or more. The same inputs
// give the same advice. Throws Cancelled.
AdviceReport advise(const Outcome& outcome, const ScenarioFile& file, Session& session,
                    const AdviceOptions& options = {});

} // namespace trainyard

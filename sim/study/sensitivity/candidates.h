#pragma once

// Settings that may shorten a step, chosen by what its breakdown says is lost.

#include "sim/study/breakdown.h"
#include "sim/study/outcome.h"

namespace trainyard {

// A change of settings that keeps the model, the cluster and the global batch.
struct Candidate {
    std::vector<Override> set; // to paste as --set
    double promise = 0;        // share of the step that it could save at best, roughly
    std::string note;          // what else it changes: of the arithmetic; empty: nothing
    BottleneckClass against = BottleneckClass::compute; // the loss it goes for; never network

    bool operator==(const Candidate&) const = default;
};

// Most promising first; none that the scenario already has. Whether they are legal and fit is found
// by trying.
std::vector<Candidate> candidates_for(const Outcome& outcome);

} // namespace trainyard

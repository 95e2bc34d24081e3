#pragma once

// What to simulate for a measured run: its own scenario, or the one that the rules make of it.

#include "sim/study/record.h"
#include "sim/study/session.h"

namespace trainyard {

// A scenario to compare a record with, or why there is none.
struct RecordQuestion {
    ScenarioFile file;
    std::string strategy; // dimensions in use, as the record has them: "fsdp+tp"
    std::vector<std::string> assumptions;
    std::string skipped;
};

// Where recompute is not stated, `session` weighs how much of it makes the job fit.
RecordQuestion question_of(const MeasuredRecord& record, Session& session);

// The first error in words, with its pointer.
std::string first_problem(const Problems& problems);

} // namespace trainyard

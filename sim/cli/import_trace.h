#pragma once

#include "sim/api/recorded_job.h"

namespace trainyard {

struct TraceFiles {
    TraceQuestion question;
    std::string output; // empty: nothing is written
    std::string trace;  // both steps as one trace; empty: not written
    std::string html;   // the report as a page; empty: not written
    bool json = false;
};

// Prints where the time of a recorded step goes, and writes it. Returns an ExitCode.
int import_trace_files(const TraceFiles& traces);

} // namespace trainyard

#pragma once

#include <string>
#include <vector>

namespace trainyard {

struct TraceFiles {
    std::vector<std::string> files;   // ranks of one run
    std::string output;               // empty: nothing is written
    std::string topology;             // a file or a shipped cluster whose rates to expect; or empty
    std::string gpu;                  // instead of it: of the node usual for it; or empty
    int gpus_per_node = 0;            // 0: as usual
    int scale_to = 0;                 // ranks; 0: as recorded
    std::string against;              // a scenario of the same job, to be shown beside; or empty
    std::vector<std::string> changes; // of it
    std::string trace;                // both steps as one trace; empty: not written
    std::string html;                 // the same as a page; empty: not written
    bool json = false;
};

// Prints where the time of a recorded step goes, and writes it. Returns an ExitCode.
int import_trace_files(const TraceFiles& traces);

} // namespace trainyard

#pragma once

// Traces of a job that ran: what `trainyard import trace` makes of them.

#include "sim/study/session.h"
#include "sim/study/traced/side_by_side.h"

namespace trainyard {

struct TraceQuestion {
    std::vector<std::string> files;   // ranks of one run
    std::string topology;             // a file or a shipped cluster whose rates to expect; or empty
    std::string gpu;                  // instead of it: of the node usual for it; or empty
    int gpus_per_node = 0;            // 0: as usual
    int scale_to = 0;                 // ranks; 0: as recorded
    std::string against;              // a scenario of the same job, to be shown beside; or empty
    std::vector<std::string> changes; // of it
    bool page = false;                // html_report is asked for: traces without times are refused
};

struct TraceAnswer {
    JobTrace job;
    RunSummary run;
    std::optional<SideBySide> sides;  // with `against`
    std::optional<Outcome> simulated; // likewise
};

Checked<TraceAnswer> read_recorded_job(const TraceQuestion& question, Session& session,
                                       const WorkControl& work);

// The document that is written, and the report. The first of what a recording says and what stands
// beside it (null: nothing).
Json run_document(const RunSummary& run, const SideBySide* beside);
Json to_json(const TraceAnswer& answer);
std::string report_text(const TraceAnswer& answer, std::size_t width = 100);
// The same as one page that needs no network. Requires a question with `page`.
std::string html_report(const TraceAnswer& answer);

} // namespace trainyard

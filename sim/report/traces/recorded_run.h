#pragma once

// A recorded training step for a person and for programs, in the words of a simulated one.

#include "sim/base/json.h"
#include "sim/traces/run_summary.h"

namespace trainyard {

// Format of `recorded_run_json`.
inline constexpr std::string_view recorded_run_format = "trainyard.recorded_run/1";

// Times are seconds, sizes bytes, bandwidths bytes per second.
Json recorded_run_json(const RunSummary& run);

// For a terminal, in lines of at most `width` cells. Of execution traces, which have no timeline,
// what there is to do and how it hangs together (recorded_graph_text.cpp).
std::string recorded_run_text(const RunSummary& run, std::size_t width);
std::string recorded_graph_text(const RunSummary& run, std::size_t width);

// Parts of both. The head: what was recorded, and which steps.
std::vector<std::string> recorded_head_lines(const RunSummary& run);
std::string recorded_head(const RunSummary& run, std::size_t width);
std::string assumed_text(const RunSummary& run, std::size_t width);
std::string transfer_title(const TransferRow& row);

} // namespace trainyard

#pragma once

// Horizontal bars, as <svg> for a page that has the palette.

#include "sim/engine/engine.h"
#include "sim/study/breakdown.h"

#include <optional>
#include <string>
#include <vector>

namespace trainyard {

// Times of kinds one after the other. All bars of a figure have one scale.
struct StepBar {
    std::string name;
    TimeShares shares{};
    std::string value = {}; // behind it
    // Of recorded steps only:
    Seconds queued = {}; // nothing runs though kernels are queued
    Seconds untold = {}; // nothing runs, and whether any is was not recorded
};
std::string step_bars_figure(std::string_view title, const std::vector<StepBar>& bars);

// Counts over orders of magnitude: a logarithmic scale, the exact number behind each bar.
struct CountBar {
    std::string name;
    std::uint64_t count = 0;
};
std::string count_bars_figure(std::string_view title, const std::vector<CountBar>& bars);

// What something moves down and up: a bar to each side of the answer.
struct SwingBar {
    std::string name;
    std::string low_name, high_name; // values it is moved to
    std::optional<double> low, high; // what comes of them, less the answer; nothing: endless
    std::string low_text, high_text;
};
std::string swing_figure(std::string_view title, const std::vector<SwingBar>& bars);

} // namespace trainyard

#pragma once

// Two or more runs side by side, differences first.

#include "sim/report/summary.h"
#include "sim/report/text/terminal.h"

#include <span>

namespace trainyard {

struct ComparedRun {
    std::string name;
    Outcome outcome;
    Summary summary;
};

struct SettingDifference {
    std::string field;               // "strategy.tp"
    std::vector<std::string> values; // by run, JSON; empty where the scenario says nothing
};

struct MetricComparison {
    const Figure* figure = nullptr;
    std::string title;          // "step time"
    std::vector<double> values; // by run

    // Of run i against the first: 0.25 is 25 % more. None when the first is zero.
    std::optional<double> change(std::size_t i) const;
    bool differs() const;
};

// "1.24 s": the value of run i.
std::string metric_text(const MetricComparison& metric, std::size_t i);
// "+3.1 %", of shares "+2.0 pp": run i against the first; empty where all digits shown agree.
std::string change_text(const MetricComparison& metric, std::size_t i);

struct Comparison {
    std::vector<std::string> names;
    std::vector<SettingDifference> settings; // those that differ
    std::vector<MetricComparison> metrics;   // all that any run has
    std::vector<std::string> bottlenecks;
    std::vector<bool> fits;
    std::vector<FidelityChoice> networks;    // by run
    std::vector<RatioPrediction> step_times; // of run i + 1 against the first
    std::vector<std::string> crossovers;     // sizes at which another library is faster, as text
    Json crossover_data = Json::array();
};

// Requires at least one run.
Comparison compare(std::span<const ComparedRun> runs);

// "x 0.87 (0.81 to 0.93, 90 %): quicker with probability 0.99"
std::string ratio_text(const RatioPrediction& ratio);

// Settings that differ, then metrics that differ with the change against the first run.
std::string comparison_text(const Comparison& comparison, const TerminalStyle& style = {});
std::string comparison_text(std::span<const ComparedRun> runs, const TerminalStyle& style = {});

Json comparison_json(const Comparison& comparison);
Json comparison_json(std::span<const ComparedRun> runs);

} // namespace trainyard

#pragma once

// How steps answer to rates: simulated, with one rate changed at a time.

#include "sim/study/own_steps/measured_steps.h"
#include "sim/study/own_steps/own_rates.h"

#include <filesystem>

namespace trainyard {

// Simulates questions with the rates of a profile changed. Holds files in the folder for temporary
// ones while it lives.
class RateTrials {
public:
    RateTrials(Session& session, Json base);
    ~RateTrials();
    RateTrials(const RateTrials&) = delete;
    RateTrials& operator=(const RateTrials&) = delete;

    const Json& base() const { return base_; }

    // Step time in s with the rates (all of own_rates()) changed by these logarithms.
    Checked<double> time(const ScenarioFile& question, std::span<const double> rates);

    // The same with how it answers, around these rates.
    Checked<StepResponse> response(const ScenarioFile& question, std::span<const double> rates);

    // Whether the job may run: what it holds is no more than a device has.
    bool fits(const ScenarioFile& question);

private:
    std::string profile_with(std::span<const double> rates);

    Session& session_;
    Json base_;
    std::filesystem::path folder_;
    std::vector<std::pair<std::vector<double>, std::string>> written_;
};

} // namespace trainyard

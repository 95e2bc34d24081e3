#pragma once

// How steps answer to rates: simulated, with one rate changed at a time.

#include "sim/study/own_steps/measured_steps.h"
#include "sim/study/own_steps/own_rates.h"

#include <mutex>

namespace trainyard {

// A profile with rates (all of own_rates()) changed by logarithms, each made once. Of any thread.
// Limits are of each rate by itself: no constant is moved by two.
class ChangedProfiles {
public:
    explicit ChangedProfiles(Json base) : base_(std::move(base)) {}

    const Json& base() const { return base_; }
    const RateLimits& limits();

    // Problems where a constant leaves its range.
    Checked<std::shared_ptr<const Profile>> with(std::span<const double> rates);

private:
    Json base_;
    std::mutex mutex_;
    std::optional<RateLimits> limits_;
    std::vector<std::pair<std::vector<double>, Checked<std::shared_ptr<const Profile>>>> made_;
};

// A small change of a rate's logarithm within its limits, for a difference quotient.
double nudge_of(const RateLimits& limits, std::size_t rate, double at);

// Simulates questions with the rates of a profile changed.
class RateTrials {
public:
    RateTrials(Session& session, Json base)
        : RateTrials(session, std::make_shared<ChangedProfiles>(std::move(base)))
    {}
    RateTrials(Session& session, std::shared_ptr<ChangedProfiles> profiles)
        : session_(session), profiles_(std::move(profiles))
    {}

    const Json& base() const { return profiles_->base(); }
    const RateLimits& limits() { return profiles_->limits(); }

    // The question with the rates (all of own_rates()) changed by these logarithms, memory unasked.
    Checked<Outcome> outcome(const ScenarioFile& question, std::span<const double> rates);

    // Its step time in s.
    Checked<double> time(const ScenarioFile& question, std::span<const double> rates);

    // The same with how it answers, around these rates.
    Checked<StepResponse> response(const ScenarioFile& question, std::span<const double> rates);

    // Whether the job may run: what it holds is no more than a device has.
    bool fits(const ScenarioFile& question);

private:
    Session& session_;
    std::shared_ptr<ChangedProfiles> profiles_;
};

} // namespace trainyard

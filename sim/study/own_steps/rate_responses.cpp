#include "sim/study/own_steps/rate_responses.h"

#include "sim/cost/profile_library.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr double nudge = -0.05; // of a logarithm, for the difference quotient

} // namespace

double StepResponse::log_change(std::span<const double> rates) const
{
    double sum = 1;
    for (std::size_t k = 0; k < shares.size(); ++k)
        sum += shares[k] * std::expm1(-rates[k]);
    return std::log(std::max(sum, 1e-3));
}

std::vector<double> StepResponse::slopes(std::span<const double> rates) const
{
    const double sum = std::exp(log_change(rates));
    std::vector<double> out;
    for (std::size_t k = 0; k < shares.size(); ++k)
        out.push_back(-shares[k] * std::exp(-rates[k]) / sum);
    return out;
}

Checked<std::shared_ptr<const Profile>> ChangedProfiles::with(std::span<const double> rates)
{
    const std::lock_guard lock(mutex_);
    for (const auto& [at, profile] : made_)
        if (std::ranges::equal(at, rates))
            return profile;
    Json changed = base_;
    for (std::size_t k = 0; k < rates.size(); ++k)
        if (rates[k] != 0)
            change_rate(changed, own_rates()[k], rates[k]);
    Checked<ProfileFile> read = profile_of_json(changed, "profile with changed rates");
    Checked<std::shared_ptr<const Profile>> made =
        read ? Checked<std::shared_ptr<const Profile>>(
                   std::make_shared<const Profile>(std::move(read->profile)))
             : tl::unexpected(read.error());
    made_.emplace_back(std::vector<double>(rates.begin(), rates.end()), made);
    return made;
}

Checked<Outcome> RateTrials::outcome(const ScenarioFile& question, std::span<const double> rates)
{
    const Checked<std::shared_ptr<const Profile>> constants = profiles_->with(rates);
    if (!constants)
        return tl::unexpected(constants.error());
    ScenarioFile asked = question;
    asked.constants = *constants;
    SimulateRequest request;
    request.memory = AllocatorView::nobody;
    return session_.simulate(asked, request);
}

Checked<double> RateTrials::time(const ScenarioFile& question, std::span<const double> rates)
{
    return outcome(question, rates).map([](const Outcome& of) {
        return of.step_time.value.value();
    });
}

bool RateTrials::fits(const ScenarioFile& question)
{
    const Checked<MemoryEstimate> memory = session_.memory(question);
    return memory && memory->fits();
}

Checked<StepResponse> RateTrials::response(const ScenarioFile& question,
                                           std::span<const double> rates)
{
    const Checked<double> here = time(question, rates);
    if (!here)
        return tl::unexpected(here.error());
    StepResponse out;
    out.log_time = std::log(*here);
    std::vector<double> moved(rates.begin(), rates.end());
    for (std::size_t k = 0; k < moved.size(); ++k) {
        out.shares.push_back(0);
        if (!told_by_steps(own_rates()[k], base()))
            continue;
        moved[k] += nudge;
        const Checked<double> there = time(question, moved);
        moved[k] -= nudge;
        if (!there)
            return tl::unexpected(there.error());
        // T(nudge) = T(0) (1 + s (exp(-nudge) - 1))
        out.shares[k] = (1 - *there / *here) / -std::expm1(-nudge);
    }
    return out;
}

} // namespace trainyard

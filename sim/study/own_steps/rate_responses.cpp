#include "sim/study/own_steps/rate_responses.h"

#include "sim/cost/profile_library.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {
namespace {

// The furthest change of one rate, to the side of `far`, with which the profile still reads.
double furthest(const Json& base, const OwnRate& rate, double far)
{
    const auto reads = [&](double change) {
        Json changed = base;
        change_rate(changed, rate, change);
        return profile_of_json(changed, "profile with changed rates").has_value();
    };
    if (reads(far))
        return std::copysign(std::numeric_limits<double>::infinity(), far);
    double inside = 0;
    for (int round = 0; round < 20; ++round) {
        const double middle = (inside + far) / 2;
        (reads(middle) ? inside : far) = middle;
    }
    return inside;
}

RateLimits limits_of(const Json& base)
{
    constexpr double far = 5; // of the logarithm: no rate is a hundred times another
    RateLimits out;
    for (const OwnRate& rate : own_rates()) {
        const bool there = stands_in(rate, base);
        out.lowest.push_back(there ? furthest(base, rate, -far) : 0);
        out.highest.push_back(there ? furthest(base, rate, far) : 0);
    }
    return out;
}

} // namespace

const RateLimits& ChangedProfiles::limits()
{
    const std::lock_guard lock(mutex_);
    if (!limits_)
        limits_ = limits_of(base_);
    return *limits_;
}

double nudge_of(const RateLimits& limits, std::size_t rate, double at)
{
    constexpr double usual = -0.05;
    return at + usual < limits.lowest[rate] ? -usual : usual;
}

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
        const double nudge = nudge_of(limits(), k, rates[k]);
        moved[k] += nudge;
        const Checked<double> there = time(question, moved);
        moved[k] = rates[k];
        if (!there)
            return tl::unexpected(there.error());
        // T(nudge) = T(0) (1 + s (exp(-nudge) - 1))
        out.shares[k] = (1 - *there / *here) / -std::expm1(-nudge);
    }
    return out;
}

} // namespace trainyard

#include "sim/study/own_steps/rate_responses.h"

#include "sim/base/files.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace fs = std::filesystem;

namespace {

constexpr double nudge = -0.05; // of a logarithm, for the difference quotient

fs::path new_folder()
{
    std::string name = (fs::temp_directory_path() / "trainyard-rates-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw WorldError{fmt::format("cannot make a folder {}", name)};
    return name;
}

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

RateTrials::RateTrials(Session& session, Json base)
    : session_(session), base_(std::move(base)), folder_(new_folder())
{}

RateTrials::~RateTrials()
{
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

std::string RateTrials::profile_with(std::span<const double> rates)
{
    const std::vector<double> wanted(rates.begin(), rates.end());
    for (const auto& [at, path] : written_)
        if (at == wanted)
            return path;
    Json profile = base_;
    for (std::size_t k = 0; k < wanted.size(); ++k)
        if (wanted[k] != 0)
            change_rate(profile, own_rates()[k], wanted[k]);
    const std::string path = (folder_ / fmt::format("{}.json", written_.size())).string();
    write_file(path, to_text(profile, JsonStyle::compact));
    written_.emplace_back(wanted, path);
    return path;
}

Checked<double> RateTrials::time(const ScenarioFile& question, std::span<const double> rates)
{
    ScenarioFile asked = question;
    asked.scenario.profile = profile_with(rates);
    asked.json["profile"] = asked.scenario.profile;
    SimulateRequest request;
    request.memory = AllocatorView::nobody;
    const Checked<Outcome> outcome = session_.simulate(asked, request);
    if (!outcome)
        return tl::unexpected(outcome.error());
    return outcome->step_time.value.value();
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
        if (!stands_in(own_rates()[k], base_))
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

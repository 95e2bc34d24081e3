#include "sim/study/traced/trace_rates.h"

#include "sim/cost/profile_library.h"
#include "sim/study/traced/expected_rates.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace trainyard {
namespace {

constexpr double least_share = 0.01;           // of the device's time
constexpr std::uint64_t least_bytes = 1 << 20; // below, latency counts

enum class TransferPlace : std::uint8_t { inside, across, all_to_all };
constexpr std::size_t place_count = 3;
constexpr std::size_t class_count = compared_work_count + place_count;

using ClassTimes = std::array<double, class_count>; // s

std::string title_of_class(std::size_t index)
{
    static constexpr std::array<std::string_view, place_count> places{
        "transfers inside a domain", "transfers across domains", "all-to-alls"};
    return std::string(index < compared_work_count ? title_of(static_cast<ComparedWork>(index))
                                                   : places[index - compared_work_count]);
}

// Whether a transfer tells of a rate, and in which class.
std::optional<std::size_t> class_of_transfer(const TransferRow& row)
{
    if (!row.expected || row.bytes < least_bytes || row.moving.value() <= 0 ||
        row.source == MovingFrom::own_start)
        return std::nullopt;
    const TransferPlace place = row.kind == CollectiveKind::all_to_all ? TransferPlace::all_to_all
                                : row.expected_across                  ? TransferPlace::across
                                                                       : TransferPlace::inside;
    return compared_work_count + static_cast<std::size_t>(place);
}

// One step as both sides have it, with some rates.
struct BothTimes {
    ClassTimes recorded{};
    ClassTimes simulated{};
    Seconds step;
    double recorded_kernels = 0;
    double simulated_kernels = 0;
};

class TraceProblem {
public:
    TraceProblem(const RunSummary& recorded, const ScenarioFile& scenario, const Json& base,
                 Session& session, const WorkControl& work)
        : recorded_(recorded), scenario_(scenario), trials_(session, base), work_(work)
    {}

    Checked<BothTimes> at(std::span<const double> rates)
    {
        work_.check();
        const Checked<Outcome> outcome = trials_.outcome(scenario_, rates);
        if (!outcome)
            return tl::unexpected(outcome.error());
        BothTimes out;
        out.step = to_seconds(outcome->result->step_time);
        const SideBySide sides = side_by_side(recorded_, *outcome);
        for (std::size_t w = 0; w < compared_work_count; ++w) {
            out.recorded[w] = sides.work[w].recorded.value();
            out.simulated[w] = sides.work[w].simulated.value();
            out.recorded_kernels += sides.work[w].recorded_ops;
            out.simulated_kernels += sides.work[w].simulated_ops;
        }
        RunSummary expected = recorded_;
        add_expected_rates(expected, *outcome->topology, *outcome->cost);
        for (const TransferRow& row : expected.transfers)
            if (const std::optional<std::size_t> index = class_of_transfer(row)) {
                out.recorded[*index] += row.count * row.moving.value();
                out.simulated[*index] += row.count * row.expected->value();
            }
        return out;
    }

    const RateLimits& limits() { return trials_.limits(); }

    // Which classes tell something.
    void choose(const BothTimes& times)
    {
        double device = 0;
        for (std::size_t w = 0; w < compared_work_count; ++w)
            device += times.recorded[w];
        for (std::size_t c = 0; c < class_count; ++c) {
            const double least = c < compared_work_count ? least_share * device : 0;
            if (times.recorded[c] > least && times.simulated[c] > 0)
                chosen.push_back(c);
        }
    }

    Checked<std::vector<StepResponse>> responses(const std::vector<double>& rates)
    {
        const Checked<BothTimes> here = at(rates);
        if (!here)
            return tl::unexpected(here.error());
        std::vector<StepResponse> out(chosen.size());
        for (std::size_t i = 0; i < chosen.size(); ++i)
            out[i].log_time = std::log(here->simulated[chosen[i]]);
        std::vector<double> moved = rates;
        for (std::size_t k = 0; k < moved.size(); ++k) {
            for (StepResponse& response : out)
                response.shares.push_back(0);
            if (!stands_in(own_rates()[k], trials_.base()))
                continue;
            const double nudge = nudge_of(limits(), k, rates[k]);
            moved[k] += nudge;
            const Checked<BothTimes> there = at(moved);
            moved[k] = rates[k];
            if (!there)
                return tl::unexpected(there.error());
            for (std::size_t i = 0; i < chosen.size(); ++i)
                out[i].shares[k] = (1 - there->simulated[chosen[i]] / here->simulated[chosen[i]]) /
                                   -std::expm1(-nudge);
        }
        return out;
    }

    std::vector<std::size_t> chosen; // classes

private:
    const RunSummary& recorded_;
    const ScenarioFile& scenario_;
    RateTrials trials_;
    const WorkControl& work_;
};

// No machine is twice as fast as stated, or six times what its rate is believed to vary, unless
// what is stated is of any: then the recording is of another job.
Problems too_fast(const RateFit& fit, const std::string& trace)
{
    constexpr double most_fast = 2;
    constexpr double most_spreads = 6;
    for (std::size_t k = 0; k < own_rates().size(); ++k)
        if (const double faster = std::exp(fit.changes[k]);
            faster > std::max(std::min(most_fast, std::exp(most_spreads * fit.prior[k])),
                              std::exp(2 * fit.prior[k])) &&
            fit.learnt(k) > 0.5)
            return {
                {trace, 0, "",
                 fmt::format("is not of the scenario's job: {} would be {:.2f} times the stated "
                             "one",
                             own_rates()[k].title, faster),
                 "trainyard import trace FILE ... --against SCENARIO shows what differs",
                 Severity::error}};
    return {};
}

// Nor does any rate that can be believed explain a class of weight that was recorded in half the
// time or less: then the recorded kernels are smaller than the scenario's.
Problems too_little(const std::vector<TracedClass>& classes, const std::string& trace)
{
    constexpr double most_left = 2;
    constexpr double of_weight = 0.1; // of the recorded time of all classes
    Seconds recorded;
    for (const TracedClass& one : classes)
        recorded += one.recorded;
    for (const TracedClass& one : classes)
        if (one.recorded >= of_weight * recorded && one.after > most_left * one.recorded)
            return {{trace, 0, "",
                     fmt::format("is not of the scenario's job: {} were recorded {:.1f} times as "
                                 "fast as the scenario's, at rates that can be believed",
                                 one.title, one.after / one.recorded),
                     "trainyard import trace FILE ... --against SCENARIO shows what differs",
                     Severity::error}};
    return {};
}

// Kernels that are not recognised count as memory-bound, which not all of them need be.
Problems too_unknown(const RunSummary& recorded, const std::string& trace)
{
    constexpr double most = 1.0 / 3;
    if (recorded.not_recognised <= most)
        return {};
    return {{trace, 0, "",
             fmt::format("holds kernels that are not recognised for {:.0f} % of the device's time: "
                         "what they tell of a rate is not known",
                         100 * recorded.not_recognised),
             "trainyard import trace FILE ... lists the longest", Severity::error}};
}

// What is likely of another job, and may be of this one.
std::vector<std::string> doubts_of(const TraceFit& fit, const RunSummary& recorded)
{
    constexpr double many_unknown = 0.1; // of the device's time
    constexpr double many = 1.5;         // times as many kernels
    constexpr double surprising = 3;     // standard deviations
    std::vector<std::string> out;
    for (std::size_t k = 0; k < own_rates().size(); ++k) {
        const OwnRate& rate = own_rates()[k];
        const double change = fit.rates.changes[k];
        if (const double slower = std::exp(-change); slower > rate.most_slow)
            out.push_back(fmt::format("{}: {:.0f} times slower than stated is more than {} make "
                                      "it. Is the scenario of this job?",
                                      rate.title, slower, rate.when_slow));
        if (change > surprising * fit.rates.prior[k] && fit.rates.learnt(k) > 0.5)
            out.push_back(fmt::format("{}: {:.2f} times as fast as stated is {:.0f} times what it "
                                      "is believed to vary. Does the scenario's job do more than "
                                      "the recorded one?",
                                      rate.title, std::exp(change), change / fit.rates.prior[k]));
    }
    if (fit.recorded_kernels > many * fit.simulated_kernels)
        out.push_back(fmt::format("The recording runs {:.0f} kernels a step, the scenario {:.0f}: "
                                  "what it does besides counts as slowness.",
                                  fit.recorded_kernels, fit.simulated_kernels));
    if (recorded.not_recognised > many_unknown)
        out.push_back(fmt::format("Kernels that are not recognised take {:.0f} % of the device's "
                                  "time, and count as memory-bound.",
                                  100 * recorded.not_recognised));
    return out;
}

Json profile_with(const Json& base, const RateFit& fit, const std::string& name,
                  const std::string& trace)
{
    Json out = base;
    out["description"] =
        fmt::format("{}, its rates as {} has them.", out["name"].as_string(), trace);
    out["name"] = name;
    for (std::size_t k = 0; k < own_rates().size(); ++k)
        if (fit.felt(k) || fit.changes[k] != 0)
            write_rate(out, own_rates()[k],
                       {fit.changes[k], fit.spread[k],
                        fmt::format("trace {}: log rate {:+.3f} +- {:.3f} against {:+.3f} +- "
                                    "{:.3f} before",
                                    trace, fit.changes[k], fit.spread[k], 0.0, fit.prior[k])});
    return out;
}

} // namespace

Checked<TraceFit> fit_trace(const RunSummary& recorded, const ScenarioFile& scenario,
                            const Json& base, Session& session, const std::string& name,
                            const std::string& trace, const WorkControl& work)
{
    if (Problems problems = too_unknown(recorded, trace); !problems.empty())
        return tl::unexpected(std::move(problems));
    TraceProblem problem(recorded, scenario, base, session, work);
    std::vector<double> prior;
    for (const OwnRate& rate : own_rates())
        prior.push_back(prior_spread(rate, base));
    const std::vector<double> as_stated(prior.size(), 0.0);
    const Checked<BothTimes> before = problem.at(as_stated);
    if (!before)
        return tl::unexpected(before.error());
    problem.choose(*before);
    if (problem.chosen.empty())
        return rejected(trace, "tells no rate: it has no kernels that the scenario has, "
                               "and no transfers of known beginning");
    std::vector<double> log_recorded;
    for (const std::size_t c : problem.chosen)
        log_recorded.push_back(std::log(before->recorded[c]));
    RateFitOptions options;
    options.unexplained = 0.05;
    Checked<RateFit> fit =
        fit_rates([&](const std::vector<double>& rates) { return problem.responses(rates); },
                  log_recorded, prior, problem.limits(), options);
    if (!fit)
        return tl::unexpected(fit.error());
    if (Problems problems = too_fast(*fit, trace); !problems.empty())
        return tl::unexpected(std::move(problems));
    const Checked<BothTimes> after = problem.at(fit->changes);
    if (!after)
        return tl::unexpected(after.error());
    TraceFit out;
    for (const std::size_t c : problem.chosen)
        out.classes.push_back({title_of_class(c), Seconds(before->recorded[c]),
                               Seconds(before->simulated[c]), Seconds(after->simulated[c])});
    if (Problems problems = too_little(out.classes, trace); !problems.empty())
        return tl::unexpected(std::move(problems));
    out.recorded = recorded.step;
    out.before = before->step;
    out.after = after->step;
    out.recorded_kernels = before->recorded_kernels;
    out.simulated_kernels = before->simulated_kernels;
    out.profile = profile_with(base, *fit, name, std::filesystem::path(trace).filename().string());
    out.rates = std::move(*fit);
    out.doubts = doubts_of(out, recorded);
    return out;
}

Checked<TraceFit> fit_traced_job(const JobTrace& job, const RunSummary& recorded,
                                 const TracedTarget& target, Session& session,
                                 const WorkControl& work)
{
    const BesideTransfers beside = beside_transfers(job, transfer_times(job));
    RunSummary alone = recorded;
    for (std::size_t r = 0; r < alone.ranks.size(); ++r)
        for (std::size_t w = 0; w < device_work_count; ++w)
            alone.ranks[r].work[w] -= beside.lost[r][w];
    Checked<TraceFit> fit =
        fit_trace(alone, target.scenario, target.base, session, target.name, target.trace, work);
    if (!fit)
        return fit;
    const Checked<ProfileFile> with_rates = profile_of_json(fit->profile, target.name);
    if (!with_rates)
        return tl::unexpected(with_rates.error());
    TracedConstants constants = traced_constants(
        with_rates->profile, recorded, beside, target.topology,
        fmt::format("trace {}", std::filesystem::path(target.trace).filename().string()));
    fit->curves = std::move(constants.curves);
    fit->losses = std::move(constants.losses);
    fit->left_out = std::move(constants.left_out);
    fit->profile = to_json(constants.profile);
    return fit;
}

} // namespace trainyard

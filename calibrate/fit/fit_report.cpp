#include "calibrate/fit/fit_report.h"

#include "calibrate/fit/configuration.h"
#include "calibrate/fit/group_sizes.h"
#include "calibrate/fit/measured_tables.h"
#include "calibrate/fit/nccl_prior.h"
#include "calibrate/fit/order_statistics.h"
#include "sim/cost/device_catalogue.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {
namespace {

// Curves of one machine and collective by number of ranks, on one node.
using CurvesByRanks = std::map<int, std::vector<TimedSize>>;

std::vector<std::pair<CollectiveKind, CurvesByRanks>> sets_of(std::span<const Sweep> sweeps)
{
    std::map<Configuration, CurvesByRanks> sets;
    for (const Launches& launches : by_configuration(sweeps)) {
        Configuration key = launches.configuration;
        if (key.nodes != 1 || key.hardware.empty())
            continue;
        key.ranks = 0;
        std::vector<std::vector<TimedSize>> points;
        for (const Sweep* sweep : launches.sweeps)
            points.push_back(clean(*sweep).points);
        std::vector<TimedSize>& medians = sets[key][launches.configuration.ranks];
        for (const MergedSize& size : merged(points))
            medians.push_back(size.point);
    }
    std::vector<std::pair<CollectiveKind, CurvesByRanks>> out;
    for (auto& [key, curves] : sets)
        out.emplace_back(key.collective, std::move(curves));
    return out;
}

GroupSizeErrors group_size_errors(const std::vector<std::pair<CollectiveKind, CurvesByRanks>>& sets,
                                  int ranks, int from, int and_from)
{
    GroupSizeErrors out{ranks, from, and_from, 0, 0};
    std::vector<double> errors;
    for (const auto& [kind, curves] : sets) {
        const std::array<int, 3> needed{ranks, from, and_from};
        const bool complete = std::all_of(needed.begin(), needed.end(), [&](int n) {
            const auto curve = curves.find(n);
            return curve != curves.end() && curve->second.size() >= enough_points;
        });
        if (!complete)
            continue;
        const KnotCurve a = fit_curve(curves.at(from));
        const KnotCurve b = fit_curve(curves.at(and_from));
        const CurveEstimate estimate = estimate_ranks(kind, {from, &a}, {and_from, &b}, ranks);
        errors.push_back(in_sample_errors(estimate.curve, curves.at(ranks)).mean());
    }
    out.sets = static_cast<int>(errors.size());
    if (!errors.empty())
        out.median = median(errors);
    return out;
}

// "H100" of H100-SXM5-80GB.
std::string generation_of(const Sweep& sweep)
{
    const std::string name =
        shipped_devices().name_in(sweep.device.empty() ? sweep.hardware : sweep.device);
    return name.substr(0, name.find('-'));
}

std::vector<PriorErrors> prior_errors(std::span<const Sweep> sweeps)
{
    std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> errors;
    for (const Sweep& sweep : sweeps) {
        if (clean(sweep).points.size() < enough_points)
            continue;
        if (const auto fit = fit_nccl_prior(sweep)) {
            auto& [fitted, raw] = errors[generation_of(sweep)];
            fitted.push_back(fit->error);
            raw.push_back(fit->raw_error);
        }
    }
    std::vector<PriorErrors> out;
    for (auto& [generation, both] : errors)
        out.push_back({generation, static_cast<int>(both.first.size()), median(both.first),
                       median(both.second)});
    return out;
}

// Five digits: what a file or a reader can use of an error.
double digits(double share)
{
    return std::round(share * 1e5) / 1e5;
}

Json band_json(const ErrorTally& tally)
{
    constexpr std::array<const char*, 4> names{"up_to_64KiB", "64KiB_to_1MiB", "1_to_16MiB",
                                               "above_16MiB"};
    Json out = Json::object();
    for (const SizeBand band : size_bands)
        out[names[index_of(band)]] =
            tally.count(band) > 0 ? Json(digits(tally.mean(band))) : Json();
    return out;
}

Json lines_json(const SweepFit& fit)
{
    Json out = Json::array();
    for (const AlphaBetaLine& line : fit.lines) {
        Json one = Json::object();
        one["alpha_s"] = line.alpha.value();
        one["rate_bytes_per_s"] = line.rate.value();
        out.push_back(std::move(one));
    }
    return out;
}

Json to_json(const SweepFit& fit)
{
    Json out = Json::object();
    out["source"] = fit.source;
    out["collective"] = std::string(to_name(fit.collective));
    out["ranks"] = fit.ranks;
    out["nodes"] = fit.nodes;
    out["points"] = static_cast<std::int64_t>(fit.points.size());
    const bool any = !fit.points.empty();
    out["in_sample_mape"] = any ? Json(digits(fit.in_sample.mean())) : Json();
    const bool left_out = fit.leave_one_out.count() > 0;
    out["loo_mape"] = left_out ? Json(digits(fit.leave_one_out.mean())) : Json();
    out["loo_mape_by_size"] = band_json(fit.leave_one_out);
    out["compact_mape"] = any ? Json(digits(fit.compact.mean())) : Json();
    out["lines"] = lines_json(fit);
    out["switch_points_bytes"] = Json::array();
    for (const Bytes size : switch_points(fit.lines))
        out["switch_points_bytes"].push_back(size.value());
    out["flags"] = Json::array();
    for (const std::string& flag : fit.flags)
        out["flags"].push_back(flag);
    return out;
}

Json summary_json(const FitReport& report)
{
    const FitSummary& summary = report.summary;
    Json out = Json::object();
    out["sweeps"] = static_cast<std::int64_t>(summary.sweeps);
    out["scored"] = static_cast<std::int64_t>(summary.scored);
    const bool scored = summary.scored > 0;
    out["loo_median"] = scored ? Json(digits(summary.loo_median)) : Json();
    out["loo_p90"] = scored ? Json(digits(summary.loo_p90)) : Json();
    out["in_sample_median"] = scored ? Json(digits(summary.in_sample_median)) : Json();
    out["compact_median"] = scored ? Json(digits(summary.compact_median)) : Json();
    out["loo_mape_by_size"] = band_json(summary.all);
    out["loo_mape_by_collective"] = Json::object();
    for (const auto& [kind, tally] : summary.by_collective)
        out["loo_mape_by_collective"][to_name(kind)] = band_json(tally);
    if (summary.held_out_launch.count() > 0)
        out["held_out_launch_mape"] = band_json(summary.held_out_launch);
    out["group_sizes"] = Json::array();
    for (const GroupSizeErrors& errors : report.group_sizes) {
        Json one = Json::object();
        one["ranks"] = errors.ranks;
        one["from"].push_back(errors.from);
        one["from"].push_back(errors.and_from);
        one["sets"] = errors.sets;
        one["median"] = digits(errors.median);
        out["group_sizes"].push_back(std::move(one));
    }
    out["nccl_prior"] = Json::array();
    for (const PriorErrors& errors : report.prior) {
        Json one = Json::object();
        one["generation"] = errors.generation;
        one["sweeps"] = errors.sweeps;
        one["median"] = digits(errors.median);
        one["median_without_factors"] = digits(errors.raw_median);
        out["nccl_prior"].push_back(std::move(one));
    }
    return out;
}

} // namespace

FitReport report_on(std::span<const Sweep> sweeps)
{
    FitReport out;
    for (const Sweep& sweep : sweeps)
        out.fits.push_back(fit_sweep(sweep));
    out.summary = summarise(out.fits);
    out.summary.held_out_launch = held_out_launch_errors(sweeps);
    const auto sets = sets_of(sweeps);
    for (const auto& errors : {group_size_errors(sets, 4, 2, 8), group_size_errors(sets, 8, 2, 4)})
        if (errors.sets > 0)
            out.group_sizes.push_back(errors);
    out.prior = prior_errors(sweeps);
    return out;
}

std::vector<Sweep> measured_sweeps(const Profile& profile)
{
    std::vector<Sweep> out;
    for (const KnotTable& table : profile.hardware.knots)
        for (Sweep& sweep : sweeps_of(table)) {
            sweep.hardware = profile.hardware.device.name;
            out.push_back(std::move(sweep));
        }
    return out;
}

Json to_json(const FitReport& report)
{
    Json out = Json::object();
    out["format"] = "trainyard.fit-report/1";
    out["sweeps"] = Json::array();
    for (const SweepFit& fit : report.fits)
        out["sweeps"].push_back(to_json(fit));
    out["summary"] = summary_json(report);
    return out;
}

} // namespace trainyard

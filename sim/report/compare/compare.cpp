#include "sim/report/compare/compare.h"

#include "sim/base/build_info.h"
#include "sim/report/compare/crossover.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

// Leaves of a JSON tree by dotted path. Lists are leaves.
void flatten(const Json& node, const std::string& path, std::map<std::string, std::string>& out)
{
    if (!node.is_object()) {
        out[path] = to_text(node, JsonStyle::compact);
        return;
    }
    for (const Json::Member& member : node.members())
        flatten(member.second, path.empty() ? member.first : path + "." + member.first, out);
}

std::vector<SettingDifference> differing_settings(std::span<const ComparedRun> runs)
{
    std::map<std::string, std::vector<std::string>> by_field;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        std::map<std::string, std::string> leaves;
        flatten(to_json(runs[i].outcome.scenario), "", leaves);
        for (auto& [field, value] : leaves) {
            auto& values = by_field[field];
            values.resize(runs.size());
            values[i] = std::move(value);
        }
    }
    by_field.erase("description");
    std::vector<SettingDifference> out;
    for (auto& [field, values] : by_field)
        if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end())
            out.push_back({field, std::move(values)});
    return out;
}

// All but those that are zero everywhere.
std::vector<MetricComparison> metrics_of(std::span<const ComparedRun> runs)
{
    std::vector<MetricComparison> out;
    for (const Figure* figure : grouped_figures_in(in_comparison)) {
        MetricComparison metric{figure, figure->title_for(runs[0].summary.device_word()), {}};
        for (const ComparedRun& run : runs) {
            const Json value = figure->value(run.summary);
            metric.values.push_back(value.is_null() ? 0.0 : value.as_double());
        }
        if (std::ranges::any_of(metric.values, [](double value) { return value != 0; }))
            out.push_back(std::move(metric));
    }
    return out;
}

} // namespace

std::optional<double> MetricComparison::change(std::size_t i) const
{
    if (values[0] == 0)
        return std::nullopt;
    return values[i] / values[0] - 1;
}

bool MetricComparison::differs() const
{
    return std::any_of(values.begin(), values.end(), [&](double value) {
        return std::abs(value - values[0]) > 1e-9 * std::max(std::abs(value), std::abs(values[0]));
    });
}

Comparison compare(std::span<const ComparedRun> runs)
{
    Comparison comparison;
    for (const ComparedRun& run : runs) {
        comparison.names.push_back(run.name);
        comparison.bottlenecks.emplace_back(to_name(run.summary.bottleneck.kind));
        comparison.fits.push_back(run.summary.fits);
        comparison.networks.push_back(run.outcome.engine.network);
    }
    for (const ComparedRun& run : runs.subspan(1))
        comparison.step_times.push_back(
            predict_ratio(runs.front().summary.step_time, run.summary.step_time));
    comparison.settings = differing_settings(runs);
    comparison.metrics = metrics_of(runs);
    for (const Crossover& crossover : crossovers(runs)) {
        comparison.crossovers.push_back(crossover_text(crossover));
        comparison.crossover_data.push_back(crossover_json(crossover));
    }
    return comparison;
}

Json comparison_json(const Comparison& comparison)
{
    Json settings = Json::object();
    for (const SettingDifference& setting : comparison.settings) {
        Json values = Json::array();
        for (const std::string& value : setting.values)
            values.push_back(value.empty() ? Json() : *parse_json(value, "scenario"));
        settings[setting.field] = std::move(values);
    }
    Json metrics = Json::object();
    for (const MetricComparison& metric : comparison.metrics) {
        Json values = Json::array();
        Json changes = Json::array();
        for (std::size_t i = 0; i < metric.values.size(); ++i) {
            values.push_back(metric.values[i]);
            changes.push_back(metric.change(i) ? Json(*metric.change(i)) : Json());
        }
        Json entry = Json::object();
        entry["values"] = std::move(values);
        entry["change"] = std::move(changes);
        metrics[metric.figure->key] = std::move(entry);
    }
    Json bottlenecks = Json::array();
    Json fits = Json::array();
    Json fidelities = Json::array();
    Json shares = Json::array();
    for (std::size_t i = 0; i < comparison.names.size(); ++i) {
        bottlenecks.push_back(comparison.bottlenecks[i]);
        fits.push_back(static_cast<bool>(comparison.fits[i]));
        const FidelityChoice& network = comparison.networks[i];
        fidelities.push_back(to_name(network.fidelity));
        shares.push_back(network.shared ? Json(network.shared->share) : Json());
    }
    Json out = Json::object();
    out["format"] = "trainyard.comparison/1";
    out["trainyard"] = version();
    out["names"] = comparison.names;
    out["settings"] = std::move(settings);
    out["metrics"] = std::move(metrics);
    Json ratios = Json::array();
    for (const RatioPrediction& ratio : comparison.step_times) {
        Json entry = Json::object();
        entry["value"] = ratio.value;
        entry["interval"] = Json(Json::Array{ratio.low, ratio.high});
        entry["quicker_probability"] = ratio.b_is_quicker;
        entry["basis"] = ratio.basis;
        ratios.push_back(std::move(entry));
    }
    out["step_time_ratios"] = std::move(ratios);
    out["bottlenecks"] = std::move(bottlenecks);
    out["fits"] = std::move(fits);
    out["fidelities"] = std::move(fidelities);
    out["shared_links_share_of_capacity"] = std::move(shares);
    if (!comparison.crossovers.empty())
        out["crossovers"] = comparison.crossover_data;
    return out;
}

Json comparison_json(std::span<const ComparedRun> runs)
{
    return comparison_json(compare(runs));
}

} // namespace trainyard

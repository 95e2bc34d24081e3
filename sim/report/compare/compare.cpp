#include "sim/report/compare/compare.h"

#include "sim/base/build_info.h"
#include "sim/report/compare/crossover.h"

#include <fmt/core.h>

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

// Adds a metric read from every summary, unless it is zero everywhere.
class MetricList {
public:
    explicit MetricList(std::span<const ComparedRun> runs) : runs_(runs) {}

    template <class Read>
    void add(std::string name, std::string title, MetricUnit unit, Read read)
    {
        MetricComparison metric{std::move(name), std::move(title), unit, {}};
        for (const ComparedRun& run : runs_)
            metric.values.push_back(read(run.summary));
        if (std::any_of(metric.values.begin(), metric.values.end(),
                        [](double value) { return value != 0; }))
            metrics_.push_back(std::move(metric));
    }

    std::vector<MetricComparison> take() { return std::move(metrics_); }

private:
    std::span<const ComparedRun> runs_;
    std::vector<MetricComparison> metrics_;
};

std::vector<MetricComparison> metrics_of(std::span<const ComparedRun> runs)
{
    MetricList list(runs);
    using enum MetricUnit;
    list.add("step_time_s", "step time", seconds,
             [](const Summary& s) { return s.step_time.value.value(); });
    list.add("tokens_per_s", "tokens/s", per_second,
             [](const Summary& s) { return s.tokens_per_s; });
    list.add("samples_per_s", "samples/s", per_second,
             [](const Summary& s) { return s.samples_per_s; });
    list.add("tokens_per_s_per_gpu", "tokens/s per GPU", per_second,
             [](const Summary& s) { return s.tokens_per_s_per_gpu; });
    list.add("mfu", "MFU", share, [](const Summary& s) { return s.mfu; });
    list.add("hfu", "HFU", share, [](const Summary& s) { return s.hfu; });
    list.add("peak_memory_bytes", "peak memory", bytes,
             [](const Summary& s) { return static_cast<double>(s.peak_memory.value()); });
    list.add("compute_utilization", "compute stream busy", share,
             [](const Summary& s) { return s.compute_utilization; });
    list.add("communication_exposed_fraction", "exposed communication", share,
             [](const Summary& s) { return s.communication_exposed_fraction; });
    list.add("communication_summed_fraction", "all transfers, added up", share,
             [](const Summary& s) { return s.communication_summed_fraction; });
    list.add("scaling_efficiency", "scaling efficiency", share,
             [](const Summary& s) { return s.scaling_efficiency.value_or(0.0); });
    for (const TimeKind kind : time_kinds())
        list.add(fmt::format("mean_{}_s", to_name(kind)), std::string(title_of(kind)), seconds,
                 [kind](const Summary& s) { return s.mean[index_of(kind)].value(); });
    return list.take();
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
    Json names = Json::array();
    for (const std::string& name : comparison.names)
        names.push_back(name);
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
        metrics[metric.name] = std::move(entry);
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
    out["names"] = std::move(names);
    out["settings"] = std::move(settings);
    out["metrics"] = std::move(metrics);
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

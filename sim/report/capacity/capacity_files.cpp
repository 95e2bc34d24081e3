// A capacity plan as JSON and CSV.

#include "sim/base/build_info.h"
#include "sim/report/capacity/capacity_report.h"
#include "sim/report/text/summary_csv.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace trainyard {

namespace {

// What of a row files have, by name. Of "cluster_gpus" a layout uses "gpus".
std::vector<CsvColumn> columns_of(const CapacityRow& row)
{
    std::vector<CsvColumn> out{{"cluster", row.cluster},   {"nodes", row.nodes},
                               {"cluster_gpus", row.gpus}, {"chosen", row.chosen},
                               {"on_front", row.on_front}, {"global_batch", row.global_batch},
                               {"layout", row.layout},     {"refusal", row.refusal}};
    const bool runs = row.figures.has_value();
    for (const Figure* figure : figures_in(in_sweep_csv))
        out.push_back({figure->key, runs ? figure->value(*row.figures) : Json()});
    const auto add = [&](const char* name, std::optional<double> value) {
        out.push_back({name, value ? Json(*value) : Json()});
    };
    add("work_per_gpu_to_smallest", row.scaling);
    add("unproven", row.unproven);
    const WholeTraining* const training = row.training ? &*row.training : nullptr;
    const auto of = [&](auto value) {
        return training != nullptr ? std::optional<double>(value(*training)) : std::nullopt;
    };
    add("batch_tokens", of([](const WholeTraining& t) { return t.request.batch_tokens; }));
    add("tokens", of([](const WholeTraining& t) { return t.request.tokens; }));
    add("wall_s", of([](const WholeTraining& t) { return t.time.mean().value(); }));
    add("wall_low_s", of([](const WholeTraining& t) { return t.wall.low.value(); }));
    add("wall_high_s", of([](const WholeTraining& t) { return t.wall.high.value(); }));
    add("goodput", of([](const WholeTraining& t) { return t.goodput(); }));
    add("spare_nodes", of([](const WholeTraining& t) { return 1.0 * t.process.spare_nodes; }));
    add("money", training != nullptr ? training->cost.money : std::nullopt);
    add("energy_kwh", training != nullptr ? training->cost.energy_kwh : std::nullopt);
    out.push_back({"misses", fmt::format("{}", fmt::join(row.misses, "; "))});
    return out;
}

} // namespace

Json to_json(const CapacityReport& report)
{
    Json clusters = Json::array();
    for (std::size_t kind = 0; kind < report.clusters.size(); ++kind) {
        Json sizes = Json::array();
        for (const CapacityRow& row : report.clusters[kind]) {
            Json one = Json::object();
            for (const CsvColumn& column : columns_of(row))
                one[column.name] = column.value;
            one["misses"] = row.misses;
            sizes.push_back(std::move(one));
        }
        const std::optional<SmallestFit>& fit = report.smallest[kind];
        clusters.push_back(Json::Object{{"best", report.best == kind},
                                        {"smallest", fit ? to_json(*fit) : Json()},
                                        {"sizes", std::move(sizes)}});
    }
    Json scaling = Json::array();
    for (const ScalingReport& one : report.scaling)
        scaling.push_back(to_json(one));
    Json guides = Json::array();
    for (const GuideReport& guide : report.guides)
        guides.push_back(to_json(guide));
    Json front = Json::array();
    for (const Objective objective : report.front)
        front.push_back(to_name(objective));
    return Json::Object{{"format", capacity_format},
                        {"trainyard", version()},
                        {"model", report.model},
                        {"goal", report.goal},
                        {"interrupted", report.interrupted},
                        {"memory_headroom", report.headroom},
                        {"tolerance", report.tolerance},
                        {"points", report.points},
                        {"simulated", report.simulated},
                        {"front", std::move(front)},
                        {"clusters", std::move(clusters)},
                        {"scaling", report.scaling.empty() ? Json() : std::move(scaling)},
                        {"guides", report.guides.empty() ? Json() : std::move(guides)},
                        {"training", report.training ? to_json(*report.training) : Json()}};
}

std::string capacity_csv(const CapacityReport& report)
{
    if (report.clusters.empty())
        return scaling_csv(report.scaling);
    std::string out;
    for (const std::vector<CapacityRow>& rows : report.clusters)
        for (const CapacityRow& row : rows) {
            const std::vector<CsvColumn> columns = columns_of(row);
            if (out.empty())
                out = csv_names(columns);
            out += csv_values(columns);
        }
    return out;
}

} // namespace trainyard

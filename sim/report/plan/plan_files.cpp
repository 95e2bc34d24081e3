// A plan as JSON and CSV.

#include "sim/base/build_info.h"
#include "sim/report/plan/plan_report.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/paste.h"
#include "sim/report/text/summary_csv.h"

namespace trainyard {

namespace {

// The layout of a row, field by field.
Json::Object layout_json(const PlanRow& row)
{
    const LayoutChoice& c = row.choice;
    return {
        {"strategy.tp", c.tp},
        {"strategy.cp", c.cp},
        {"strategy.pp", c.pp},
        {"strategy.vpp", c.vpp},
        {"strategy.ep", c.ep},
        {"strategy.etp", c.etp},
        {"strategy.dp", row.dp},
        {"strategy.zero", c.zero},
        {"strategy.schedule", c.schedule->name()},
        {"training.sequence_length", row.sequence_length > 0 ? Json(row.sequence_length) : Json()},
        {"training.global_batch", c.global_batch},
        {"training.micro_batch", c.micro_batch},
        {"training.recompute", to_name(c.recompute.kind)},
        {"training.recompute_layers", c.recompute.layers ? Json(*c.recompute.layers) : Json()}};
}

Json row_json(const PlanRow& row)
{
    Json out(layout_json(row));
    Json set = Json::object();
    for (const Override& change : row.changes)
        set[change.field] = json_value(change.value);
    out["set"] = std::move(set);
    for (const Figure* figure : figures_in(in_sweep_json))
        out[figure->key] = figure->value(row);
    if (row.bound > Seconds(0))
        out["bound_s"] = row.bound.value();
    if (row.loses_in) {
        out["loses_in"] = to_name(*row.loses_in);
        out["lost_s"] = row.lost.value();
    }
    out["input_hash"] = hash_text(row.input_hash);
    return out;
}

} // namespace

Json to_json(const PlanReport& report)
{
    const SearchResult& search = report.search;
    Json rows = json_list(report.rows, row_json);
    Json front = Json::array();
    for (const PlanRow& row : report.front)
        front.push_back(row_json(row));
    Json excluded = Json::array();
    for (const auto& [why, count] : search.excluded)
        excluded.push_back(Json::Object{{"reason", to_name(why.first)},
                                        {"at", why.second},
                                        {"points", count.points},
                                        {"example", count.example}});
    return Json::Object{
        {"format", plan_format},
        {"trainyard", version()},
        {"scenario", report.scenario},
        {"devices", report.devices},
        {"memory_headroom", report.headroom},
        {"fidelity", to_name(report.fidelity)},
        {"points", search.points},
        {"possible", search.possible},
        {"simulated", search.simulated},
        {"open", search.open},
        {"gap", search.gap()},
        {"best", std::move(rows)},
        {"front", search.front ? std::move(front) : Json()},
        {"front_open", search.front ? Json(search.front->open) : Json()},
        {"own", report.own ? row_json(*report.own) : Json()},
        {"own_fitting", report.own_fitting ? row_json(*report.own_fitting) : Json()},
        {"smallest", report.smallest ? to_json(*report.smallest) : Json()},
        {"excluded", std::move(excluded)},
        {"training", report.training ? to_json(*report.training) : Json()}};
}

std::string plan_csv(const PlanReport& report)
{
    std::string out;
    const auto add = [&](const char* list, const PlanRow& row) {
        std::vector<CsvColumn> columns{{"list", list}};
        for (const auto& [field, value] : layout_json(row))
            columns.push_back({field, value});
        for (const Figure* figure : figures_in(in_sweep_csv))
            columns.push_back({figure->key, figure->value(row)});
        columns.push_back({"bound_s", row.bound > Seconds(0) ? Json(row.bound.value()) : Json()});
        columns.push_back({"input_hash", hash_text(row.input_hash)});
        if (out.empty())
            out = csv_names(columns);
        out += csv_values(columns);
    };
    for (const PlanRow& row : report.rows)
        add("best", row);
    for (const PlanRow& row : report.front)
        add("front", row);
    return out;
}

} // namespace trainyard

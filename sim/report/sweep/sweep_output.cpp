#include "sim/report/sweep/sweep_output.h"

#include "sim/base/build_info.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/paste.h"
#include "sim/report/text/summary_csv.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

Json axes_json(const SweepGrid& grid)
{
    Json out = Json::array();
    for (const SweepAxis& axis : grid.axes) {
        Json values = Json::array();
        for (const std::string& value : axis.values)
            values.push_back(json_value(value));
        out.push_back(Json::Object{{"field", axis.field}, {"values", std::move(values)}});
    }
    return out;
}

// "a", "b": members of an object without its braces, so that more can follow.
std::string members_text(const Json::Object& members)
{
    std::string text = to_text(Json(members), JsonStyle::compact);
    return text.substr(1, text.size() - 2);
}

} // namespace

void GridOrder::add(PointRow row)
{
    if (row.index != next_) {
        waiting_.emplace(row.index, std::move(row));
        return;
    }
    sink_(row);
    ++next_;
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
         first = waiting_.erase(first), ++next_)
        sink_(first->second);
}

void GridOrder::finish()
{
    for (const auto& [index, row] : waiting_)
        sink_(row);
    waiting_.clear();
}

std::string sweep_csv_head(const SweepGrid& grid)
{
    std::string out = "point";
    for (const SweepAxis& axis : grid.axes)
        out += "," + csv_field(axis.field);
    return out + ",feasible,reason,hint,gpus,step_time_s,step_time_low_s,step_time_high_s,grade,"
                 "tokens_per_s,samples_per_s,mfu,peak_memory_bytes,device_memory_bytes,bottleneck,"
                 "trainyard,input_hash\n";
}

std::string sweep_csv_line(const PointRow& row)
{
    std::string out = fmt::format("{}", row.index);
    for (const std::string& value : row.values)
        out += "," + csv_field(value);
    if (!row.feasible())
        return out + fmt::format(",false,{},{},,,,,,,,,,,,{},\n", csv_field(row.reason),
                                 csv_field(row.hint), version());
    const Prediction& step = row.step_time;
    return out + fmt::format(",true,,,{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.gpus,
                             step.value.value(), step.low.value(), step.high.value(),
                             to_name(step.grade), row.tokens_per_s, row.samples_per_s, row.mfu,
                             row.peak_memory.value(), row.capacity.value(), to_name(row.bottleneck),
                             version(), hash_text(row.input_hash));
}

Json to_json(const SweepGrid& grid, const PointRow& row)
{
    Json set = Json::object();
    for (std::size_t i = 0; i < row.values.size(); ++i)
        set[grid.axes[i].field] = json_value(row.values[i]);
    Json out = Json::object();
    out["point"] = std::uint64_t{row.index};
    out["set"] = std::move(set);
    out["feasible"] = row.feasible();
    if (!row.feasible()) {
        out["reason"] = row.reason;
        if (!row.hint.empty())
            out["hint"] = row.hint;
        return out;
    }
    const Prediction& step = row.step_time;
    out["gpus"] = row.gpus;
    out["step_time_s"] = step.value.value();
    out["step_time_interval_s"] = Json::Array{step.low.value(), step.high.value()};
    out["grade"] = to_name(step.grade);
    out["tokens_per_s"] = row.tokens_per_s;
    out["samples_per_s"] = row.samples_per_s;
    out["mfu"] = row.mfu;
    out["peak_memory_bytes"] = row.peak_memory.value();
    out["device_memory_bytes"] = row.capacity.value();
    out["bottleneck"] = to_name(row.bottleneck);
    out["input_hash"] = hash_text(row.input_hash);
    return out;
}

std::string sweep_json_head(const std::string& scenario, const SweepGrid& grid)
{
    const Json::Object head{{"format", sweep_format},
                            {"trainyard", version()},
                            {"scenario", scenario},
                            {"axes", axes_json(grid)}};
    return "{" + members_text(head) + ",\"points\":[\n";
}

std::string sweep_json_tail(const SweepTitle& title, const SweepBest& best)
{
    const Json::Object tail{
        {"measure", to_name(title.measure)},
        {"best", best.best().empty() ? Json() : to_json(title.grid, best.best().front())},
        {"feasible", std::uint64_t{best.feasible_count()}},
        {"infeasible", std::uint64_t{best.infeasible_count()}},
        {"complete", title.end.done == title.end.points}};
    return "\n]," + members_text(tail) + "}\n";
}

} // namespace trainyard

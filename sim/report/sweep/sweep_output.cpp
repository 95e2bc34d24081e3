#include "sim/report/sweep/sweep_output.h"

#include "sim/base/build_info.h"
#include "sim/base/quoted.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/paste.h"

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
    return out + ",feasible,reason,hint,at,leaves_room,global_batch,global_batch_asked,gpus,step_"
                 "time_s,step_time_low_s,step_time_high_s,grade,"
                 "tokens_per_s,samples_per_s,mfu,peak_memory_bytes,device_memory_bytes,bottleneck,"
                 "fidelity,links_asked,trainyard,input_hash\n";
}

std::string sweep_csv_line(const PointRow& row, double headroom)
{
    std::string out = fmt::format("{}", row.index);
    for (const std::string& value : row.values)
        out += "," + csv_field(value);
    const std::string asked = row.moved ? fmt::format("{}", row.moved->asked) : "";
    if (!row.feasible())
        return out + fmt::format(",false,{},{},{},,{},{},,,,,,,,,,,,,,{},\n", csv_field(row.reason),
                                 csv_field(row.hint), csv_field(row.hindrance.pointer),
                                 row.moved ? fmt::format("{}", row.moved->taken) : "", asked,
                                 version());
    const Prediction& step = row.step_time;
    return out + fmt::format(",true,,,,{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                             leaves_room(row, headroom), row.global_batch, asked, row.gpus,
                             step.value.value(), step.low.value(), step.high.value(),
                             to_name(step.grade), row.tokens_per_s, row.samples_per_s, row.mfu,
                             row.peak_memory.value(), row.capacity.value(), to_name(row.bottleneck),
                             to_name(row.fidelity),
                             row.links_asked > 0 ? fmt::format("{}", row.links_asked) : "",
                             version(), hash_text(row.input_hash));
}

Json to_json(const SweepGrid& grid, const PointRow& row, double headroom)
{
    Json set = Json::object();
    for (const Override& change : changes_of(grid, row))
        set[change.field] = json_value(change.value);
    Json out = Json::object();
    out["point"] = std::uint64_t{row.index};
    out["set"] = std::move(set);
    if (row.moved)
        out["global_batch_asked"] = row.moved->asked;
    out["feasible"] = row.feasible();
    if (!row.feasible()) {
        out["reason"] = row.reason;
        if (!row.hint.empty())
            out["hint"] = row.hint;
        if (!row.hindrance.pointer.empty())
            out["at"] = row.hindrance.pointer;
        return out;
    }
    out["leaves_room"] = leaves_room(row, headroom);
    out["global_batch"] = row.global_batch;
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
    out["fidelity"] = to_name(row.fidelity);
    if (row.links_asked > 0)
        out["links_asked"] = row.links_asked;
    out["input_hash"] = hash_text(row.input_hash);
    return out;
}

std::string sweep_json_head(const SweepTitle& title, double headroom)
{
    Json following = Json::object();
    for (const FollowingField& field : title.following)
        following[field.freed.field] = json_value(field.freed.value);
    const Json::Object head{{"format", sweep_format},
                            {"trainyard", version()},
                            {"scenario", title.scenario},
                            {"axes", axes_json(title.grid)},
                            {"following", std::move(following)},
                            {"memory_headroom", headroom}};
    return "{" + members_text(head) + ",\"points\":[\n";
}

std::string sweep_json_tail(const SweepTitle& title, const SweepBest& best)
{
    const double headroom = best.headroom();
    Json reasons = Json::array();
    for (const ReasonCount& reason : best.reasons())
        reasons.push_back(Json::Object{{"kind", to_name(reason.hindrance.kind)},
                                       {"at", reason.hindrance.pointer},
                                       {"count", std::uint64_t{reason.count}},
                                       {"example", to_json(title.grid, reason.example, headroom)}});
    const PointRow* const taken = best.recommended();
    const Json::Object tail{
        {"measure", to_name(title.measure)},
        {"best", taken == nullptr ? Json() : to_json(title.grid, *taken, headroom)},
        {"feasible", std::uint64_t{best.feasible_count()}},
        {"leave_room", std::uint64_t{best.roomy_count()}},
        {"infeasible", std::uint64_t{best.infeasible_count()}},
        {"reasons", std::move(reasons)},
        {"complete", title.end.done == title.end.points}};
    return "\n]," + members_text(tail) + "}\n";
}

} // namespace trainyard

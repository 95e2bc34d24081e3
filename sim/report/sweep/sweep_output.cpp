#include "sim/report/sweep/sweep_output.h"

#include "sim/base/build_info.h"
#include "sim/report/text/describe.h"
#include "sim/report/text/paste.h"
#include "sim/report/text/summary_csv.h"

namespace trainyard {
namespace {

Json axes_json(const SweepGrid& grid)
{
    Json out = Json::array();
    for (const SweepAxis& axis : grid.axes) {
        Json values = json_list(axis.values, json_value);
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

// The same whatever the point; of one that cannot be most say nothing.
std::vector<CsvColumn> columns_of(const SweepGrid& grid, const PointRow& row, double headroom)
{
    const bool feasible = row.feasible();
    const auto known = [](bool is_known, Json value) {
        return is_known ? std::move(value) : Json();
    };
    std::vector<CsvColumn> out{{"point", std::uint64_t{row.index}}};
    for (std::size_t i = 0; i < row.values.size(); ++i)
        out.push_back({grid.axes[i].field, row.values[i]});
    out.push_back({"feasible", feasible});
    out.push_back({"reason", row.reason});
    out.push_back({"hint", row.hint});
    out.push_back({"at", row.hindrance.pointer});
    out.push_back({"leaves_room", known(feasible, leaves_room(row, headroom))});
    out.push_back({"global_batch", feasible    ? Json(row.global_batch)
                                   : row.moved ? Json(row.moved->taken)
                                               : Json()});
    out.push_back({"global_batch_asked", row.moved ? Json(row.moved->asked) : Json()});
    for (const Figure* figure : figures_in(in_sweep_csv)) {
        const bool memory = figure->group == FigureGroup::memory && row.capacity > Bytes(0);
        out.push_back({figure->key, known(feasible || memory, figure->value(row))});
    }
    out.push_back({"fidelity", known(feasible, to_name(row.fidelity))});
    out.push_back({"links_asked", known(row.links_asked > 0, row.links_asked)});
    out.push_back({"trainyard", version()});
    out.push_back({"input_hash", known(feasible, hash_text(row.input_hash))});
    return out;
}

} // namespace

bool GridOrder::is_next(std::size_t index) const
{
    return points_ ? next_ < points_->size() && (*points_)[next_] == index : next_ == index;
}

void GridOrder::add(PointRow row)
{
    if (!is_next(row.index)) {
        waiting_.emplace(row.index, std::move(row));
        return;
    }
    sink_(row);
    ++next_;
    for (auto first = waiting_.begin(); first != waiting_.end() && is_next(first->first);
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
    PointRow row;
    row.values.resize(grid.axes.size());
    return csv_names(columns_of(grid, row, usual_headroom));
}

std::string sweep_csv_line(const SweepGrid& grid, const PointRow& row, double headroom)
{
    return csv_values(columns_of(grid, row, headroom));
}

Json to_json(const SweepGrid& grid, const PointRow& row, double headroom)
{
    Json out = to_json(grid, row, headroom, figures_in(in_sweep_json));
    if (!row.feasible())
        return out;
    out["fidelity"] = to_name(row.fidelity);
    if (row.links_asked > 0)
        out["links_asked"] = row.links_asked;
    out["input_hash"] = hash_text(row.input_hash);
    return out;
}

Json to_json(const SweepGrid& grid, const PointRow& row, double headroom,
             std::span<const Figure* const> figures)
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
        out["kind"] = to_name(row.hindrance.kind);
        if (!row.hindrance.pointer.empty())
            out["at"] = row.hindrance.pointer;
        if (row.capacity > Bytes(0)) {
            out["peak_memory_bytes"] = row.peak_memory.value();
            out["device_memory_bytes"] = row.capacity.value();
        }
        return out;
    }
    out["leaves_room"] = leaves_room(row, headroom);
    if (row.global_batch > 0)
        out["global_batch"] = row.global_batch;
    for (const Figure* figure : figures)
        out[figure->key] = figure->value(row);
    return out;
}

std::string sweep_json_head(const SweepTitle& title, double headroom)
{
    Json following = Json::object();
    for (const FollowingField& field : title.following)
        following[field.freed.field] = json_value(field.freed.value);
    Json::Object head{{"format", sweep_format},
                      {"trainyard", version()},
                      {"scenario", title.scenario},
                      {"axes", axes_json(title.grid)},
                      {"following", std::move(following)},
                      {"memory_headroom", headroom}};
    if (title.asked.is_object())
        head.insert(head.begin() + 3, {"scenario_json", title.asked});
    return "{" + members_text(head) + ",\"points\":[\n";
}

std::string sweep_json_tail(const SweepTitle& title, const SweepBest& best)
{
    return sweep_json_tail(title, best, [&](const PointRow& row) {
        return to_json(title.grid, row, best.headroom());
    });
}

std::string sweep_json_tail(const SweepTitle& title, const SweepBest& best,
                            const std::function<Json(const PointRow&)>& point)
{
    Json reasons = Json::array();
    for (const ReasonCount& reason : best.reasons())
        reasons.push_back(Json::Object{{"kind", to_name(reason.hindrance.kind)},
                                       {"at", reason.hindrance.pointer},
                                       {"count", std::uint64_t{reason.count}},
                                       {"example", point(reason.example)}});
    const PointRow* const taken = best.recommended();
    const Json::Object tail{{"measure", to_name(title.measure)},
                            {"best", taken == nullptr ? Json() : point(*taken)},
                            {"feasible", std::uint64_t{best.feasible_count()}},
                            {"leave_room", std::uint64_t{best.roomy_count()}},
                            {"infeasible", std::uint64_t{best.infeasible_count()}},
                            {"reasons", std::move(reasons)},
                            {"complete", title.end.done == title.end.points}};
    return "\n]," + members_text(tail) + "}\n";
}

} // namespace trainyard

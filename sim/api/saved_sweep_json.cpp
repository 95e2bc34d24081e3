// Sweeps as `trainyard sweep --json` prints them.

#include "sim/api/saved_sweep_parts.h"
#include "sim/base/fields.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>

namespace trainyard {

namespace {

std::string text_in(const Json& object, std::string_view key)
{
    const Json* const value = object.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

// A value as `--set` takes it.
std::string value_text(const Json& value)
{
    return value.is_string() ? value.as_string() : to_text(value, JsonStyle::compact);
}

Checked<SweepGrid> grid_in(const Json& json, const std::string& file)
{
    const auto refuse = [&](const Json& at, std::string message) {
        return rejected(file, std::move(message), "trainyard sweep --json writes it whole",
                        at.line());
    };
    SweepGrid grid;
    const Json* const axes = json.find("axes");
    if (axes == nullptr || !axes->is_array())
        return refuse(json, "a sweep without \"axes\": nothing says what was swept");
    std::size_t points = 1;
    for (const Json& one : axes->items()) {
        SweepAxis axis{text_in(one, "field"), {}};
        if (const Json* values = one.find("values"); values != nullptr && values->is_array())
            for (const Json& value : values->items())
                axis.values.push_back(value_text(value));
        if (axis.field.empty() || axis.values.empty())
            return refuse(one, "an axis without a field or without values");
        if (points > std::numeric_limits<std::size_t>::max() / axis.values.size() / 2)
            return refuse(one, "the axes have more combinations than can be counted");
        points *= axis.values.size();
        grid.axes.push_back(std::move(axis));
    }
    return grid;
}

void read_figures(const Json& point, PointRow& row)
{
    for (const auto& [key, value] : point.members())
        if (value.is_number())
            set_figure(row, key, value.as_double());
    if (const Json* interval = point.find("step_time_interval_s");
        interval != nullptr && interval->is_array() && interval->items().size() == 2 &&
        interval->items()[0].is_number() && interval->items()[1].is_number())
    {
        row.step_time.low = Seconds(interval->items()[0].as_double());
        row.step_time.high = Seconds(interval->items()[1].as_double());
    }
}

// Points that cannot be: files before `kind` was written have the field alone.
Hindrance hindrance_in(const Json& point)
{
    const std::string field = text_in(point, "at");
    const std::string kind = text_in(point, "kind");
    const bool memory = kind.empty() ? field.empty() : kind == to_name(Hindrance::Kind::memory);
    return {memory ? Hindrance::Kind::memory : Hindrance::Kind::input, field};
}

// What is wrong with it; nothing: it is in `row`.
std::optional<std::string> read_point(const Json& point, std::size_t points, PointRow& row)
{
    const Json* const index = point.is_object() ? point.find("point") : nullptr;
    const Json* const feasible = index != nullptr ? point.find("feasible") : nullptr;
    if (index == nullptr || !index->is_integer() || feasible == nullptr || !feasible->is_bool())
        return "no point: \"point\" and \"feasible\" are expected";
    if (index->as_integer() < 0 || static_cast<std::size_t>(index->as_integer()) >= points)
        return fmt::format("point {} is none of the {} that the axes make", index->as_integer(),
                           points);
    row = unknown_row();
    row.index = static_cast<std::size_t>(index->as_integer());
    read_figures(point, row);
    if (!feasible->as_bool()) {
        row.reason = text_in(point, "reason");
        if (row.reason.empty())
            row.reason = "cannot be";
        row.hint = text_in(point, "hint");
        row.hindrance = hindrance_in(point);
        return {};
    }
    const Json* const step = point.find("step_time_s");
    if (step == nullptr || !step->is_number())
        return "a point that can be, without \"step_time_s\"";
    if (const Json* batch = point.find("global_batch"); batch != nullptr && batch->is_integer())
        row.global_batch = batch->as_integer();
    return {};
}

} // namespace

Checked<SavedSweep> sweep_from_json(const Json& json, const std::string& file,
                                    const WorkControl& work)
{
    if (text_in(json, "format") != sweep_format)
        return rejected(file, fmt::format("no sweep of the format {}", sweep_format),
                        "trainyard sweep --json writes one", json.line());
    Checked<SweepGrid> grid = grid_in(json, file);
    if (!grid)
        return tl::unexpected(std::move(grid.error()));
    SavedSweep out;
    out.file = file;
    out.title.scenario = text_in(json, "scenario");
    out.title.grid = std::move(*grid);
    if (const Json* asked = json.find("scenario_json"); asked != nullptr && asked->is_object())
        out.title.asked = *asked;
    if (const Json* room = json.find("memory_headroom"); room != nullptr && room->is_number())
        out.headroom = room->as_double();
    const Json* const points = json.find("points");
    if (points == nullptr || !points->is_array())
        return rejected(file, "a sweep without \"points\"",
                        "trainyard sweep --json writes it whole", json.line());
    const std::size_t all = out.title.grid.points();
    std::set<std::size_t> seen;
    for (const Json& point : points->items()) {
        work.check();
        PointRow row;
        if (std::optional<std::string> wrong = read_point(point, all, row))
            return rejected(file, std::move(*wrong), "", point.line());
        if (!seen.insert(row.index).second)
            return rejected(file, fmt::format("point {} twice", row.index), "", point.line());
        out.rows.push_back(std::move(row));
    }
    const Json* const complete = json.find("complete");
    const bool whole = complete == nullptr || !complete->is_bool() || complete->as_bool();
    out.title.end.done = out.rows.size();
    out.title.end.points = whole ? out.rows.size() : all;
    out.title.end.cancelled = !whole;
    return out;
}

} // namespace trainyard

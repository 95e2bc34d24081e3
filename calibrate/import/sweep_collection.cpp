#include "calibrate/import/sweep_collection.h"

#include "calibrate/import/json_fields.h"
#include "calibrate/import/log_text.h"
#include "calibrate/import/settle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// A number x with x * unit == value: the one with few digits where there is one.
double in_units(double value, double unit)
{
    const double near = value / unit;
    const double plain = std::round(near * 1e6) / 1e6;
    for (const double x : {plain, near, std::nextafter(near, 0.0), std::nextafter(near, HUGE_VAL)})
        if (x * unit == value)
            return x;
    return near;
}

std::string first_text(const Json* json)
{
    if (json != nullptr && json->is_array() && !json->items().empty())
        json = &json->items().front();
    return json != nullptr && json->is_string() ? printable(json->as_string(), 20) : std::string{};
}

std::string version_in(const Json& json)
{
    const std::string text = printable(text_at(json, "nccl_version"), 20);
    const auto code = integer_in(text);
    return code ? version_of_code(*code) : text.substr(0, text.find('+')); // "2.29.3+cuda13.1"
}

std::map<std::string, std::string> variables_in(const Json& json)
{
    std::map<std::string, std::string> out;
    for (const Json& entry : list_at(json, "env")) {
        const std::string text = entry.is_string() ? entry.as_string() : std::string{};
        const std::size_t equals = text.find('=');
        if (equals != std::string::npos && changes_paths(text.substr(0, equals)) &&
            text.find('$') == std::string::npos)
            out[printable(text.substr(0, equals))] = printable(text.substr(equals + 1), 200);
    }
    return out;
}

void take_row(RawSweep& raw, const Json& json)
{
    const auto size = integer_at(json, "size_B");
    const auto time = number_at(json, "time_us");
    if (!size || *size < 0 || !time || *time < 0) {
        ++raw.lost_rows;
        return;
    }
    SweepTiming timing{Seconds(*time * 1e-6),
                       Bandwidth(std::max(number_at(json, "algbw_GBps").value_or(0), 0.0) * 1e9),
                       Bandwidth(std::max(number_at(json, "busbw_GBps").value_or(0), 0.0) * 1e9),
                       integer_in(text_at(json, "wrong"))};
    const Bytes bytes(static_cast<std::uint64_t>(*size));
    const std::int64_t count = std::max<std::int64_t>(integer_at(json, "count").value_or(0), 0);
    const Json* const in_place = json.find("inplace");
    if (in_place == nullptr || !in_place->is_bool() || !in_place->as_bool()) {
        raw.rows.push_back({bytes, count, timing, std::nullopt});
        return;
    }
    const bool joins = !raw.rows.empty() && raw.rows.back().size == bytes &&
                       raw.rows.back().count == count && !raw.rows.back().in_place;
    if (joins)
        raw.rows.back().in_place = timing;
    else
        raw.rows.push_back({bytes, count, std::nullopt, timing});
}

RawSweep raw_sweep(const Json& json, std::size_t number)
{
    RawSweep raw;
    const std::string id = printable(text_at(json, "id"), 200);
    raw.where = id.empty() ? fmt::format("sweep {}", number) : id;
    raw.data_type = printable(text_at(json, "dtype"), 20);
    raw.reduction = first_text(json.find("redop"));
    raw.root = static_cast<int>(
        std::clamp<std::int64_t>(integer_at(json, "root").value_or(-1), -1, 1'000'000));
    if (const auto average = number_at(json, "published_avg_busbw_GBps"))
        raw.average_bus_bandwidth = *average * 1e9;
    raw.context.nccl_version = version_in(json);
    raw.context.tests_version = printable(text_at(json, "nccl_tests_version"), 20);
    raw.context.variables = variables_in(json);
    for (const Json& row : list_at(json, "rows"))
        take_row(raw, row);
    return raw;
}

SweepHints stated(const Json& json)
{
    const auto small = [&json](std::string_view key) -> std::optional<int> {
        const auto value = integer_at(json, key);
        return value && *value >= 1 && *value <= 1'000'000 ? std::optional(static_cast<int>(*value))
                                                           : std::nullopt;
    };
    return {collective_named(text_at(json, "collective")), small("nranks"), small("nodes")};
}

void take_words(Sweep& sweep, const Json& json, const std::string& file)
{
    const std::string id = text_at(json, "id");
    sweep.source = printable(id.empty() ? text_at(json, "source") : id, 200);
    if (sweep.source.empty())
        sweep.source = file;
    sweep.hardware = printable(text_at(json, "hardware"), 200);
    sweep.device = printable(text_at(json, "device"), 60);
    if (const auto backend = from_name<Backend>(text_at(json, "backend")))
        sweep.backend = *backend;
    for (const Json& flag : list_at(json, "flags")) {
        const std::string text = flag.is_string() ? printable(flag.as_string(), 300) : "";
        if (!text.empty() && sweep.flags.size() < most_notes &&
            std::find(sweep.flags.begin(), sweep.flags.end(), text) == sweep.flags.end())
            sweep.flags.push_back(text);
    }
}

Json to_json(const SweepRow& row, const SweepTiming& timing, bool in_place)
{
    Json out = Json::object();
    out["size_B"] = row.size.value();
    out["count"] = row.count;
    out["time_us"] = in_units(timing.time.value(), 1e-6);
    out["algbw_GBps"] = in_units(timing.algorithm_bandwidth.value(), 1e9);
    out["busbw_GBps"] = in_units(timing.bus_bandwidth.value(), 1e9);
    out["inplace"] = in_place;
    out["wrong"] = timing.wrong ? Json(fmt::to_string(*timing.wrong)) : Json(nullptr);
    return out;
}

Json to_json(const Sweep& sweep)
{
    Json out = Json::object();
    out["source"] = sweep.source;
    out["hardware"] = sweep.hardware;
    out["device"] = sweep.device;
    out["backend"] = std::string(to_name(sweep.backend));
    out["nodes"] = sweep.nodes;
    out["nranks"] = sweep.ranks;
    out["nccl_version"] = sweep.nccl_version;
    out["nccl_tests_version"] = sweep.nccl_tests_version;
    out["collective"] = std::string(to_name(sweep.collective));
    out["dtype"] = sweep.data_type;
    out["redop"] = sweep.reduction;
    out["root"] = sweep.root;
    out["env"] = Json::array();
    for (const auto& [name, value] : sweep.variables)
        out["env"].push_back(name + "=" + value);
    out["published_avg_busbw_GBps"] =
        sweep.average_bus_bandwidth ? Json(in_units(sweep.average_bus_bandwidth->value(), 1e9))
                                    : Json(nullptr);
    out["flags"] = Json::array();
    for (const std::string& flag : sweep.flags)
        out["flags"].push_back(flag);
    out["rows"] = Json::array();
    for (const SweepRow& row : sweep.rows) {
        if (row.out_of_place)
            out["rows"].push_back(to_json(row, *row.out_of_place, false));
        if (row.in_place)
            out["rows"].push_back(to_json(row, *row.in_place, true));
    }
    return out;
}

const Json* collection_in(const Json& json)
{
    return json.is_array() ? &json : json.find("sweeps");
}

} // namespace

bool is_sweep_collection(const Json& json)
{
    const Json* const list = collection_in(json);
    if (list == nullptr || !list->is_array())
        return false;
    if (list->items().empty())
        return !json.is_array();
    const Json& first = list->items().front();
    return first.find("rows") != nullptr && first.find("collective") != nullptr;
}

ImportedSweeps read_sweep_collection(const Json& json, const std::string& file)
{
    ImportedSweeps out;
    const Json* const list = collection_in(json);
    if (list == nullptr || !list->is_array())
        return out;
    std::size_t number = 0;
    for (const Json& entry : list->items()) {
        const RawSweep raw = raw_sweep(entry, ++number);
        auto sweep = settle(raw, stated(entry), file, out.notes);
        if (!sweep) {
            add_note(out.notes.flagged, fmt::format("{}: refused: {}", raw.where, sweep.error()));
            continue;
        }
        take_words(*sweep, entry, file);
        out.sweeps.push_back(std::move(*sweep));
    }
    return out;
}

Json to_json(const std::vector<Sweep>& sweeps)
{
    Json out = Json::object();
    out["format"] = sweeps_format;
    out["sweeps"] = Json::array();
    for (const Sweep& sweep : sweeps)
        out["sweeps"].push_back(to_json(sweep));
    return out;
}

} // namespace trainyard

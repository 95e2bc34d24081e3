#include "calibrate/import/nccl_json.h"

#include "calibrate/import/json_fields.h"
#include "calibrate/import/log_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::optional<SweepTiming> timing_in(const Json& result, std::string_view side, bool& host_time)
{
    const Json* const values = result.find(side);
    if (values == nullptr)
        return std::nullopt;
    host_time = host_time || values->find("cpu_time") != nullptr;
    const auto time = number_at(*values, host_time ? "cpu_time" : "time");
    const auto rate = number_at(*values, "alg_bw");
    const auto bus = number_at(*values, "bus_bw");
    if (!time || !rate || !bus || *time < 0 || *rate < 0 || *bus < 0)
        return std::nullopt;
    SweepTiming out{Seconds(*time * 1e-6), Bandwidth(*rate * 1e9), Bandwidth(*bus * 1e9),
                    std::nullopt};
    if (const auto wrong = number_at(*values, "nwrong"); wrong && *wrong >= 0 && *wrong < 9e18)
        out.wrong = static_cast<std::int64_t>(*wrong);
    return out;
}

// "root" is a number in a text, blanks before it.
int root_in(const Json& result)
{
    const auto root = integer_in(trimmed(text_at(result, "root")));
    return static_cast<int>(std::clamp<std::int64_t>(
        root.value_or(integer_at(result, "root").value_or(-1)), -1, 1'000'000));
}

void take_result(RawSweep& raw, const Json& result)
{
    const auto size = integer_at(result, "size");
    SweepRow row;
    row.count = std::max<std::int64_t>(integer_at(result, "count").value_or(0), 0);
    row.out_of_place = timing_in(result, "out_of_place", raw.host_time);
    row.in_place = timing_in(result, "in_place", raw.host_time);
    if (!size || *size < 0 || (!row.out_of_place && !row.in_place)) {
        ++raw.lost_rows;
        return;
    }
    row.size = Bytes(static_cast<std::uint64_t>(*size));
    raw.rows.push_back(std::move(row));
}

NcclDevice device_of(const Json& entry)
{
    const auto small = [&entry](std::string_view key) {
        return static_cast<int>(
            std::clamp<std::int64_t>(integer_at(entry, key).value_or(0), 0, 10'000'000));
    };
    return {small("rank"),
            small("group"),
            small("device"),
            printable(text_at(entry, "hostname")),
            printable(text_at(entry, "device_hex"), 20),
            printable(text_at(entry, "device_info"), 60)};
}

// The program's name and launch options among its arguments.
std::string program_of(const Json& json)
{
    const Json::Array& arguments = list_at(json, "args");
    if (arguments.empty() || !arguments.front().is_string())
        return {};
    return program_in(arguments.front().as_string());
}

NcclContext context_of(const Json& json, ImportNotes& notes)
{
    NcclContext context;
    context.program = program_of(json);
    context.nccl_version = version_of_code(integer_at(json, "nccl_version").value_or(0));
    int dropped = 0;
    for (const Json& entry : list_at(json, "env")) {
        const std::string text = entry.is_string() ? entry.as_string() : std::string{};
        const std::size_t equals = text.find('=');
        const std::string name = text.substr(0, equals);
        if (equals != std::string::npos && changes_paths(name))
            context.variables[printable(name)] = printable(text.substr(equals + 1), 200);
        else
            ++dropped;
    }
    if (dropped > 0)
        add_note(notes.ignored,
                 fmt::format("{} environment variables: they may hold secrets", dropped));
    const Json* const config = json.find("config");
    if (config == nullptr)
        return context;
    context.threads = integer_at(*config, "nthreads");
    context.gpus = integer_at(*config, "ngpus");
    context.min_bytes = integer_at(*config, "minimum_bytes");
    context.max_bytes = integer_at(*config, "maximum_bytes");
    for (const Json& entry : list_at(*config, "devices"))
        context.devices.push_back(device_of(entry));
    return context;
}

} // namespace

bool is_nccl_json(const Json& json)
{
    const Json* const results = json.find("results");
    return results != nullptr && results->is_array() &&
           (json.find("nccl_version") != nullptr || json.find("average_bus_bandwidth") != nullptr ||
            json.find("args") != nullptr || json.find("config") != nullptr);
}

std::vector<RawSweep> read_nccl_json(const Json& json, ImportNotes& notes)
{
    const auto version = integer_at(json, "version");
    if (version && (*version < 1 || *version > 3))
        add_note(notes.assumed,
                 fmt::format("version {} of the JSON form reads like version 3", *version));
    const NcclContext context = context_of(json, notes);
    std::vector<RawSweep> sweeps;
    int number = 0;
    for (const Json& result : list_at(json, "results")) {
        ++number;
        const std::string type = printable(text_at(result, "type"), 20);
        const std::string reduction = printable(text_at(result, "redop"), 20);
        const int root = root_in(result);
        const bool starts = sweeps.empty() || sweeps.back().data_type != type ||
                            sweeps.back().reduction != reduction || sweeps.back().root != root;
        if (starts) {
            RawSweep raw;
            raw.where = fmt::format("result {}", number);
            raw.data_type = type;
            raw.reduction = reduction;
            raw.root = root;
            raw.context = context;
            sweeps.push_back(std::move(raw));
        }
        take_result(sweeps.back(), result);
    }
    if (sweeps.size() != 1)
        return sweeps;
    if (const Json* const average = json.find("average_bus_bandwidth"))
        if (const auto value = number_at(*average, "bandwidth"))
            sweeps.front().average_bus_bandwidth = *value * 1e9;
    if (const Json* const bounds = json.find("out_of_bounds")) {
        sweeps.front().out_of_bounds = integer_at(*bounds, "count");
        sweeps.front().ended = true;
    }
    return sweeps;
}

} // namespace trainyard

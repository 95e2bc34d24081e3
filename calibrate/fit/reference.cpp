#include "calibrate/fit/reference.h"

#include "calibrate/fit/order_statistics.h"
#include "sim/base/build_info.h"
#include "sim/base/fields.h"
#include "sim/cost/device_catalogue.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

template <>
std::vector<EnumName<Standing>> enum_names<Standing>()
{
    return {{Standing::faster, "faster"},
            {Standing::as_published, "as published"},
            {Standing::slower, "slower"}};
}

namespace {

constexpr std::string_view reference_format = "trainyard.reference/1";

struct GroupKey {
    std::string device;
    CollectiveKind collective{};
    int ranks = 0;
    int nodes = 1;

    auto operator<=>(const GroupKey&) const = default;
};

bool is_comparable(const Sweep& sweep)
{
    const bool integer = sweep.data_type.starts_with("int") || sweep.data_type.starts_with("uint");
    return sweep.algorithm == "auto" && sweep.protocol == "auto" &&
           !(integer && reduces(sweep.collective)) && sweep.ranks > sweep.nodes;
}

// Microseconds with five digits.
double microseconds(Seconds time)
{
    const double us = time.value() * 1e6;
    const double unit = std::pow(10.0, std::floor(std::log10(us)) - 4);
    return std::round(std::round(us / unit) * unit * 1e6) / 1e6;
}

Standing judge(const ReferenceGroup& group, const BandStanding& band, const Interval& published)
{
    constexpr int few = 2;
    const double margin = group.sweeps > few ? 1.05 : 1.10;
    if (band.ratio < published.low / margin)
        return Standing::faster;
    return band.ratio > published.high * margin ? Standing::slower : Standing::as_published;
}

std::vector<BandStanding> standings(const KnotTable& table, const ReferenceGroup& group)
{
    std::vector<BandStanding> out;
    for (const SizeBand band : size_bands) {
        double ratio = 0; // sums of logarithms
        double low = 0;
        double high = 0;
        int sizes = 0;
        for (const ReferenceSize& size : group.sizes) {
            if (band_of(size.size) != band || size.size < table.samples.knots.front().size ||
                size.size > table.samples.knots.back().size)
                continue;
            ratio += std::log(time_at(table.samples, size.size) / size.median);
            low += std::log(size.low / size.median);
            high += std::log(size.high / size.median);
            ++sizes;
        }
        if (sizes == 0)
            continue;
        BandStanding one{band, sizes, std::exp(ratio / sizes)};
        one.standing = judge(group, one, {std::exp(low / sizes), std::exp(high / sizes)});
        out.push_back(one);
    }
    return out;
}

bool read_sizes(const Reader& rows, ReferenceGroup& group)
{
    if (!rows.node().is_array())
        return false;
    for (const Json& row : rows.node().items()) {
        if (!row.is_array() || row.items().size() != 4)
            return false;
        for (const Json& cell : row.items())
            if (!cell.is_number() || !(cell.as_double() > 0))
                return false;
        const auto time = [&](std::size_t i) { return Seconds(row.items()[i].as_double() * 1e-6); };
        group.sizes.push_back({Bytes(static_cast<std::uint64_t>(row.items()[0].as_double())),
                               time(1), time(2), time(3)});
    }
    return true;
}

bool read_group(const Reader& reader, ReferenceGroup& group)
{
    const auto number = [&](const char* key, int& out) {
        return reader.node().find(key) != nullptr &&
               FieldValue<int>::read(reader.member(key), out) && out > 0;
    };
    return reader.node().find("device") != nullptr && reader.node().find("rows") != nullptr &&
           reader.node().find("collective") != nullptr &&
           FieldValue<std::string>::read(reader.member("device"), group.device) &&
           FieldValue<CollectiveKind>::read(reader.member("collective"), group.collective) &&
           number("ranks", group.ranks) && number("nodes", group.nodes) &&
           number("sweeps", group.sweeps) && read_sizes(reader.member("rows"), group);
}

} // namespace

std::vector<ReferenceGroup> reference_of(std::span<const Sweep> sweeps, const Folders& folders)
{
    const DeviceCatalogue devices(folders);
    std::map<GroupKey, std::vector<std::vector<TimedSize>>> groups;
    for (const Sweep& sweep : sweeps) {
        const std::string device =
            devices.name_in(sweep.device.empty() ? sweep.hardware : sweep.device);
        if (device.empty() || !is_comparable(sweep))
            continue;
        groups[{device, sweep.collective, sweep.ranks, sweep.nodes}].push_back(clean(sweep).points);
    }
    std::vector<ReferenceGroup> out;
    for (const auto& [key, launches] : groups) {
        ReferenceGroup group{
            key.device, key.collective, key.ranks, key.nodes, static_cast<int>(launches.size()),
            {}};
        std::map<Bytes, std::vector<double>> times;
        for (const std::vector<TimedSize>& points : launches)
            for (const TimedSize& point : points)
                times[point.size].push_back(point.time.value());
        for (const auto& [size, all] : times)
            if (2 * all.size() >= launches.size()) // sizes that most of them have
                group.sizes.push_back({size, Seconds(percentile(all, 0.1)), Seconds(median(all)),
                                       Seconds(percentile(all, 0.9))});
        out.push_back(std::move(group));
    }
    return out;
}

Json to_json(std::span<const ReferenceGroup> groups)
{
    Json out = Json::object();
    out["format"] = reference_format;
    for (const char* title :
         {"size [B]", "10th percentile [us]", "median [us]", "90th percentile [us]"})
        out["columns"].push_back(title);
    out["groups"] = Json::array();
    for (const ReferenceGroup& group : groups) {
        Json one = Json::object();
        one["device"] = group.device;
        one["collective"] = std::string(to_name(group.collective));
        one["ranks"] = group.ranks;
        one["nodes"] = group.nodes;
        one["sweeps"] = group.sweeps;
        one["rows"] = Json::array();
        for (const ReferenceSize& size : group.sizes) {
            Json row = Json::array();
            row.push_back(size.size.value());
            for (const Seconds time : {size.low, size.median, size.high})
                row.push_back(microseconds(time));
            one["rows"].push_back(std::move(row));
        }
        out["groups"].push_back(std::move(one));
    }
    return out;
}

Checked<std::vector<ReferenceGroup>> read_reference(const Json& json, const std::string& file)
{
    Problems problems;
    const Reader reader(json, file, problems);
    std::vector<ReferenceGroup> out;
    const Json* groups = json.find("groups");
    if (groups == nullptr || !groups->is_array()) {
        reader.error("no list of groups", "a file of published figures is wanted here");
        return tl::unexpected(problems);
    }
    for (std::size_t i = 0; i < groups->items().size(); ++i) {
        ReferenceGroup group;
        const Reader one = reader.member("groups").element(i);
        if (!read_group(one, group)) {
            one.error("this is no group of published figures");
            return tl::unexpected(problems);
        }
        out.push_back(std::move(group));
    }
    return out;
}

Checked<std::vector<ReferenceGroup>> shipped_reference()
{
    const std::string path = (data_dir() / "calibrate" / "reference" / "collectives.json").string();
    const Checked<Json> json = read_json_file(path);
    if (!json)
        return tl::unexpected(json.error());
    return read_reference(*json, path);
}

std::vector<TableStanding> compare_with(std::span<const KnotTable> tables,
                                        const std::string& device,
                                        std::span<const ReferenceGroup> reference)
{
    const bool racks = shipped_devices().nvlink_domain_of(device) > 0;
    std::vector<TableStanding> out;
    for (const KnotTable& table : tables) {
        if (table.grade != Grade::measured || table.in_place || table.algorithm != "auto" ||
            table.protocol != "auto")
            continue;
        const int ranks = table.ranks_per_domain * table.domains;
        const auto group =
            std::find_if(reference.begin(), reference.end(), [&](const ReferenceGroup& one) {
                return one.device == device && one.collective == table.collective &&
                       one.ranks == ranks &&
                       (one.nodes == table.domains ||
                        (table.domains == 1 && one.nodes > 1 && racks));
            });
        TableStanding standing;
        standing.table = &table;
        if (group != reference.end()) {
            standing.group = &*group;
            standing.bands = standings(table, *group);
        }
        out.push_back(std::move(standing));
    }
    return out;
}

} // namespace trainyard

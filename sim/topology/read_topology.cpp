#include "sim/topology/read_topology.h"

#include "sim/base/fields.h"
#include "sim/base/file_format.h"
#include "sim/base/input_limits.h"
#include "sim/base/reader.h"
#include "sim/topology/cluster.h"
#include "sim/topology/cluster_model.h"
#include "sim/topology/explicit_checks.h"
#include "sim/topology/explicit_model.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

// The deepest place along `pointer` that the document has: where a flaw is best shown.
Reader deepest(Reader reader, std::string_view pointer)
{
    while (!pointer.empty()) {
        const std::size_t end = pointer.find('/', 1);
        const std::string key(pointer.substr(1, end - 1));
        if (reader.node().find(key) != nullptr)
            reader = reader.member(key);
        else if (reader.node().is_array())
            reader = reader.element(static_cast<std::size_t>(std::stoul(key)));
        else
            break;
        pointer = end == std::string_view::npos ? std::string_view() : pointer.substr(end);
    }
    return reader;
}

void check_format(const Reader& reader)
{
    if (reader.node().find("format") == nullptr)
        reader.error("\"format\" is missing: is this a cluster description?",
                     fmt::format("add \"format\": \"{}\"", topology_format));
    else
        expect_format(reader, topology_format);
}

void report(const Reader& reader, const std::vector<ClusterFlaw>& found)
{
    for (const ClusterFlaw& flaw : found) {
        const Reader place = deepest(reader, flaw.pointer);
        if (flaw.severity == Severity::error)
            place.error(flaw.message, flaw.hint);
        else
            place.warn(flaw.message, flaw.hint);
    }
}

template <class Description>
Checked<TopologyFile> read_as(const Reader& reader, Problems& problems,
                              Topology (*make)(const Description&))
{
    Description description;
    fields_of<Description>().read(reader, description);
    if (!has_errors(problems))
        report(reader, flaws(description));
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    return TopologyFile{make(description), std::move(problems)};
}

Json with_format(const Json& fields)
{
    Json out = Json::object();
    out["format"] = topology_format;
    for (const Json::Member& member : fields.members())
        out[member.first] = member.second;
    return out;
}

} // namespace

Checked<TopologyFile> inspect_topology(const Json& json, const std::string& file,
                                       const Presets& presets)
{
    Problems problems;
    const Json expanded = expand_presets(json, presets, file, problems);
    const Reader reader(expanded, file, problems);
    if (!json.is_object())
        reader.error(fmt::format("expected an object, found {}", json.kind_name()));
    else
        check_format(reader);
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    const bool generated = expanded.find("generator") != nullptr;
    const bool listed = expanded.find("devices") != nullptr;
    if (generated == listed) {
        reader.error(generated ? "both a generator and explicit devices"
                               : "neither a generator nor explicit devices",
                     "\"generator\": \"cluster\" with nodes, node and fabric; or lists of "
                     "devices, switches, nics and links");
        return tl::unexpected(std::move(problems));
    }
    return generated ? read_as<ClusterDescription>(reader, problems, make_cluster)
                     : read_as<ExplicitDescription>(reader, problems, make_explicit);
}

Checked<TopologyFile> inspect_topology(const Json& json, const std::string& file)
{
    const Checked<Presets> presets = load_presets();
    if (!presets)
        return tl::unexpected(presets.error());
    return inspect_topology(json, file, *presets);
}

Checked<Topology> read_topology(const Json& json, const std::string& file)
{
    Checked<TopologyFile> read = inspect_topology(json, file);
    if (!read)
        return tl::unexpected(std::move(read.error()));
    return std::move(read->topology);
}

Checked<Topology> read_topology_file(const std::string& path)
{
    const Checked<Json> json = read_json_file(path, input_limits);
    if (!json)
        return tl::unexpected(json.error());
    return read_topology(*json, path);
}

Json write_topology(const Topology& topology)
{
    if (const auto* given = dynamic_cast<const ExplicitModel*>(&topology.model()))
        return with_format(fields_of<ExplicitDescription>().write(given->description()));
    const auto& model = dynamic_cast<const ClusterModel&>(topology.model());
    return with_format(fields_of<ClusterDescription>().write(model.description()));
}

Json topology_schema()
{
    Json generated = fields_of<ClusterDescription>().schema();
    Json& node = *generated.find("properties")->find("node");
    node = with_preset(std::move(node));
    Json& fabric = *generated.find("properties")->find("fabric");
    Json& network = *fabric.find("properties")->find("network");
    network = with_preset(std::move(network));
    Json listed = fields_of<ExplicitDescription>().schema();
    Json& spoken = *listed.find("properties")->find("network");
    spoken = with_preset(std::move(spoken));
    Json schema = Json::object();
    schema["title"] = "topology";
    schema["anyOf"].push_back(std::move(generated));
    schema["anyOf"].push_back(std::move(listed));
    return schema;
}

} // namespace trainyard

#include "sim/topology/read_topology.h"

#include "sim/topology/cluster.h"
#include "sim/topology/cluster_model.h"

#include <fmt/format.h>

namespace trainyard {
namespace {

// The deepest place along `pointer` that the document has: where a flaw is best shown.
Reader deepest(Reader reader, std::string_view pointer)
{
    while (!pointer.empty()) {
        const std::size_t end = pointer.find('/', 1);
        const std::string_view key = pointer.substr(1, end - 1);
        if (reader.node().find(key) == nullptr)
            break;
        reader = reader.member(key);
        pointer = end == std::string_view::npos ? std::string_view() : pointer.substr(end);
    }
    return reader;
}

void check_format(const Reader& reader)
{
    const Json* format = reader.node().find("format");
    const std::string hint = fmt::format("\"format\": \"{}\"", topology_format);
    if (format == nullptr)
        reader.error("\"format\" is missing: is this a cluster description?", "add " + hint);
    else if (!(*format == Json(topology_format)))
        reader.member("format").error("not the format of a cluster description", hint);
}

Checked<TopologyFile> read_cluster(const Json& json, const std::string& file,
                                   const Presets& presets)
{
    Problems problems;
    const Json expanded = expand_presets(json, presets, file, problems);
    const Reader reader(expanded, file, problems);
    check_format(reader);
    ClusterDescription description;
    if (!has_errors(problems))
        fields_of<ClusterDescription>().read(reader, description);
    if (!has_errors(problems))
        for (const ClusterFlaw& flaw : flaws(description)) {
            const Reader place = deepest(reader, flaw.pointer);
            if (flaw.severity == Severity::error)
                place.error(flaw.message, flaw.hint);
            else
                place.warn(flaw.message, flaw.hint);
        }
    if (has_errors(problems))
        return tl::unexpected(std::move(problems));
    return TopologyFile{make_cluster(description), std::move(problems)};
}

} // namespace

Checked<TopologyFile> inspect_topology(const Json& json, const std::string& file,
                                       const Presets& presets)
{
    return read_cluster(json, file, presets);
}

Checked<Topology> read_topology(const Json& json, const std::string& file)
{
    const Checked<Presets> presets = load_presets();
    if (!presets)
        return tl::unexpected(presets.error());
    Checked<TopologyFile> read = inspect_topology(json, file, *presets);
    if (!read)
        return tl::unexpected(std::move(read.error()));
    return std::move(read->topology);
}

Checked<Topology> read_topology_file(const std::string& path)
{
    const Checked<Json> json = read_json_file(path);
    if (!json)
        return tl::unexpected(json.error());
    return read_topology(*json, path);
}

Json write_topology(const Topology& topology)
{
    const auto& model = dynamic_cast<const ClusterModel&>(topology.model());
    Json out = Json::object();
    out["format"] = topology_format;
    const Json fields = fields_of<ClusterDescription>().write(model.description());
    for (const Json::Member& member : fields.members())
        out[member.first] = member.second;
    return out;
}

Json topology_schema()
{
    Json schema = fields_of<ClusterDescription>().schema();
    Json& node = *schema.find("properties")->find("node");
    node = with_preset(std::move(node));
    Json& network = *schema.find("properties")->find("fabric")->find("properties")->find("network");
    network = with_preset(std::move(network));
    return schema;
}

} // namespace trainyard

#include "sim/topology/presets.h"

#include "sim/base/build_info.h"
#include "sim/base/input_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::string_view preset_format = "trainyard.topology-presets/1";

std::vector<std::string> names_of(const Json& presets)
{
    std::vector<std::string> names;
    for (const Json::Member& member : presets.members())
        names.push_back(member.first);
    return names;
}

// Members of `changes` replace or join those of `base`; objects merge member by member.
void overlay(Json& base, const Json& changes)
{
    if (!base.is_object() || !changes.is_object()) {
        base = changes;
        return;
    }
    base.set_line(changes.line());
    for (const Json::Member& change : changes.members()) {
        if (change.first == "preset")
            continue;
        if (Json* present = base.find(change.first))
            overlay(*present, change.second);
        else
            base[change.first] = change.second;
    }
}

// A preset: its name in `kind` ("nodes", "networks") and the document that it is looked up in.
struct Shelf {
    std::string_view kind;
    const Json& presets;
};

// A device of the place's own that other presets are made for: most likely left behind when the
// preset was changed.
void warn_of_other_device(const Json& place, const std::string& pointer, const std::string& name,
                          const Shelf& shelf, const std::string& file, Problems& problems)
{
    const Json* own = place.is_object() ? place.find("device") : nullptr;
    const Json* usual = shelf.presets.find(name)->find("device");
    if (own == nullptr || !own->is_string() || usual == nullptr || *own == *usual)
        return;
    std::vector<std::string> made_for_it;
    for (const auto& [other, preset] : shelf.presets.members())
        if (const Json* device = preset.find("device"); device != nullptr && *device == *own)
            made_for_it.push_back(other);
    if (made_for_it.empty())
        return;
    problems.push_back(
        {file, own->line(), pointer + "/device",
         fmt::format("\"{}\" takes the place of the \"{}\" of preset \"{}\"", own->as_string(),
                     usual->as_string(), name),
         fmt::format("leave \"device\" out for the preset's; presets made for {}: {}",
                     own->as_string(), fmt::join(made_for_it, ", ")),
         Severity::warning});
}

void expand(Json& place, const std::string& pointer, const Shelf& shelf, const std::string& file,
            Problems& problems)
{
    const Json* name = place.is_string() ? &place : place.find("preset");
    if (name == nullptr)
        return;
    const std::string where = place.is_string() ? pointer : pointer + "/preset";
    if (!name->is_string()) {
        problems.push_back({file, name->line(), where, "expected the name of a preset",
                            suggestion("", names_of(shelf.presets))});
        return;
    }
    const Json* preset = shelf.presets.find(name->as_string());
    if (preset == nullptr) {
        problems.push_back(
            {file, name->line(), where,
             fmt::format("\"{}\" is not among the {} presets", name->as_string(), shelf.kind),
             suggestion(name->as_string(), names_of(shelf.presets))});
        return;
    }
    warn_of_other_device(place, pointer, name->as_string(), shelf, file, problems);
    Json expanded = *preset;
    expanded.set_lines(name->line());
    if (place.is_object())
        overlay(expanded, place);
    place = std::move(expanded);
}

// A fabric that names no network has the usual one of its nodes.
void add_usual_network(Json* fabric, const Json* node)
{
    const Json* usual = node == nullptr ? nullptr : node->find("usual_network");
    if (fabric == nullptr || !fabric->is_object() || usual == nullptr ||
        fabric->find("network") != nullptr)
        return;
    (*fabric)["network"] = *usual;
    fabric->find("network")->set_line(fabric->line());
}

Checked<Json> read_shelf(const char* file_name, const char* member)
{
    const std::string path = (data_dir() / "topologies" / "presets" / file_name).string();
    Checked<Json> document = read_json_file(path, input_limits);
    if (!document)
        return document;
    const Json* format = document->find("format");
    const Json* shelf = document->find(member);
    if (format == nullptr || !(*format == Json(preset_format)) || shelf == nullptr ||
        !shelf->is_object())
        return tl::unexpected(Problems{
            {path, document->line(), "",
             fmt::format("expected \"format\": \"{}\" and an object \"{}\"", preset_format, member),
             ""}});
    return *shelf;
}

} // namespace

Checked<Presets> load_presets()
{
    Checked<Json> nodes = read_shelf("nodes.json", "nodes");
    if (!nodes)
        return tl::unexpected(nodes.error());
    Checked<Json> networks = read_shelf("networks.json", "networks");
    if (!networks)
        return tl::unexpected(networks.error());
    return Presets{std::move(*nodes), std::move(*networks)};
}

Json expand_presets(Json cluster, const Presets& presets, const std::string& file,
                    Problems& problems)
{
    if (Json* node = cluster.find("node"))
        expand(*node, "/node", {"node", presets.nodes}, file, problems);
    Json* fabric = cluster.find("fabric");
    add_usual_network(fabric, cluster.find("node"));
    if (Json* network = fabric == nullptr ? nullptr : fabric->find("network"))
        expand(*network, "/fabric/network", {"network", presets.networks}, file, problems);
    if (Json* network = cluster.find("network"))
        expand(*network, "/network", {"network", presets.networks}, file, problems);
    return cluster;
}

Json with_preset(Json schema)
{
    Json name = Json::object();
    name["type"] = "string";
    name["description"] = "a preset's name";
    if (Json* properties = schema.find("properties"))
        (*properties)["preset"] = name;
    schema.members().erase(
        std::remove_if(schema.members().begin(), schema.members().end(),
                       [](const Json::Member& m) { return m.first == "required"; }),
        schema.members().end());
    Json out = Json::object();
    out["anyOf"].push_back(name);
    out["anyOf"].push_back(std::move(schema));
    return out;
}

} // namespace trainyard

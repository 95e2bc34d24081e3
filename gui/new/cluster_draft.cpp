#include "gui/new/cluster_draft.h"

#include "sim/base/fields.h"
#include "sim/base/words.h"
#include "sim/cost/device_catalogue.h"
#include "sim/study/scenario.h"
#include "sim/topology/cluster.h"
#include "sim/topology/read_topology.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace trainyard::gui {

namespace {

const Json* value_at(const Json& root, std::string_view field)
{
    const Json* at = &root;
    while (at != nullptr) {
        const auto dot = field.find('.');
        at = at->find(field.substr(0, dot));
        if (dot == std::string_view::npos)
            return at;
        field = field.substr(dot + 1);
    }
    return nullptr;
}

// Fields that were taken out, and objects that say nothing any more.
void drop_empty(Json& json)
{
    if (!json.is_object())
        return;
    for (Json::Member& member : json.members())
        drop_empty(member.second);
    std::erase_if(json.members(), [](const Json::Member& member) {
        const Json& value = member.second;
        return value.is_null() || (value.is_object() && value.members().empty());
    });
}

void take_out(Json& object, std::string_view key)
{
    std::erase_if(object.members(),
                  [&](const Json::Member& member) { return member.first == key; });
}

// A preset named by a text alone, as the object that says the same.
void spell_out_preset(Json* place)
{
    if (place == nullptr || !place->is_string())
        return;
    Json object = Json::object();
    object["preset"] = *place;
    *place = std::move(object);
}

std::string preset_of(const Json* place)
{
    const Json* const name = place != nullptr ? place->find("preset") : nullptr;
    return name != nullptr && name->is_string() ? name->as_string() : std::string();
}

} // namespace

Checked<ClusterChoices> cluster_choices()
{
    Checked<Presets> presets = load_presets();
    if (!presets)
        return tl::unexpected(std::move(presets.error()));
    ClusterChoices out;
    const std::vector<KnownDevice>& devices = shipped_devices().all();
    const auto known = [&](const std::string& key) {
        const auto found = std::ranges::find(devices, key, &KnownDevice::key);
        return found != devices.end() ? &*found : nullptr;
    };
    std::vector<std::pair<bool, ClusterChoices::Node>> nodes;
    for (const auto& [name, preset] : presets->nodes.members()) {
        const Json* const device = preset.find("device");
        const Json* const gpus = preset.find("gpus");
        if (device == nullptr || gpus == nullptr)
            continue;
        const KnownDevice* const one = known(device->as_string());
        nodes.emplace_back(
            one == nullptr || one->device.usual_node.preset != name,
            ClusterChoices::Node{name, one != nullptr ? one->device.name : device->as_string(),
                                 static_cast<int>(gpus->as_integer())});
    }
    std::ranges::stable_sort(nodes, {}, [](const auto& entry) {
        return std::tuple(entry.second.device, entry.first, entry.second.preset);
    });
    for (auto& [unusual, node] : nodes)
        out.nodes.push_back(std::move(node));
    out.presets = std::move(*presets);
    return out;
}

const FormField& cluster_form()
{
    static const FormField root = form_of(fields_of<ClusterDescription>().schema());
    return root;
}

ClusterDraft::ClusterDraft(std::shared_ptr<const ClusterChoices> choices)
    : choices_(std::move(choices)), json_(Json::object())
{
    json_["format"] = topology_format;
    json_["generator"] = "cluster";
    json_["nodes"] = 16;
    json_["node"]["preset"] = "dgx-h100";
    json_["fabric"]["kind"] = "rail";
}

ClusterDraft::ClusterDraft(std::shared_ptr<const ClusterChoices> choices, Json topology)
    : choices_(std::move(choices)), json_(std::move(topology))
{
    spell_out_preset(object("node"));
    if (Json* const fabric = object("fabric"))
        spell_out_preset(fabric->find("network"));
}

bool ClusterDraft::generated(const Json& topology)
{
    return topology.is_object() && topology.find("generator") != nullptr;
}

Json* ClusterDraft::object(const char* key)
{
    return json_.find(key);
}

std::string ClusterDraft::text(const std::string& field) const
{
    const Json* const value = value_at(json_, field);
    return value != nullptr && !value->is_object() ? edit_text(*value) : std::string();
}

std::string ClusterDraft::usual_network() const
{
    const Json* const usual_one = usual("node.usual_network");
    return usual_one != nullptr && usual_one->is_string() ? usual_one->as_string() : std::string();
}

// Of the preset that a field belongs to.
const Json* ClusterDraft::usual(const std::string& field) const
{
    const auto within = [&](const Json& shelf, const std::string& name,
                            std::string_view prefix) -> const Json* {
        const Json* const preset = shelf.find(name);
        return preset != nullptr ? value_at(*preset, std::string_view(field).substr(prefix.size()))
                                 : nullptr;
    };
    constexpr std::string_view of_node = "node.";
    constexpr std::string_view of_network = "fabric.network.";
    if (field.starts_with(of_node))
        return within(choices_->presets.nodes, node(), of_node);
    if (field.starts_with(of_network))
        return within(choices_->presets.networks, network().empty() ? usual_network() : network(),
                      of_network);
    return nullptr;
}

std::string ClusterDraft::usual_text(const std::string& field) const
{
    if (const Json* const value = usual(field))
        return edit_text(*value);
    if (field == "node.nic_rate" || field == "fabric.uplink_rate") { // the network's own
        const std::string given = text("fabric.network.port_rate");
        return given.empty() ? usual_text("fabric.network.port_rate") : given;
    }
    const FormField* const known = find_field(cluster_form(), field);
    const std::string out = known != nullptr ? known->default_text() : std::string();
    return out == "0" ? std::string() : out; // as many as follow from the rest
}

std::optional<Diagnostic> ClusterDraft::set(const std::string& field, const std::string& text)
{
    Json scenario = Json::object();
    scenario["topology"] = json_;
    const bool of_network = field.starts_with("fabric.network.");
    if (of_network && !text.empty() && value_at(json_, "fabric.network") == nullptr)
        scenario["topology"]["fabric"]["network"]["preset"] = usual_network();
    if (auto problem =
            apply_override(scenario, {"topology." + field, text.empty() ? "null" : text}))
        return problem;
    json_ = std::move(scenario["topology"]);
    drop_empty(json_);
    return std::nullopt;
}

std::vector<std::string> ClusterDraft::node_presets() const
{
    std::vector<std::string> out;
    for (const ClusterChoices::Node& node : choices_->nodes)
        out.push_back(node.preset);
    return out;
}

std::vector<std::string> ClusterDraft::network_presets() const
{
    std::vector<std::string> out;
    for (const auto& [name, preset] : choices_->presets.networks.members())
        out.push_back(name);
    return out;
}

std::string ClusterDraft::node() const
{
    return preset_of(json_.find("node"));
}

void ClusterDraft::choose_node(const std::string& preset)
{
    const double gpus = static_cast<double>(whole("nodes")) * whole("node.gpus");
    json_["node"] = Json::object();
    json_["node"]["preset"] = preset;
    if (Json* const fabric = object("fabric"))
        take_out(*fabric, "network");
    take_out(json_, "name"); // said what it was
    take_out(json_, "description");
    take_out(json_, "source");
    const int rack = nodes_per_rack();
    if (const int unit = rack * whole("node.gpus"); unit > 0 && gpus > 0)
        json_["nodes"] = rack * std::max(1, static_cast<int>(std::ceil(gpus / unit)));
}

std::string ClusterDraft::network() const
{
    return preset_of(value_at(json_, "fabric.network"));
}

void ClusterDraft::choose_network(const std::string& preset)
{
    Json* const fabric = object("fabric");
    if (fabric == nullptr)
        return;
    take_out(*fabric, "network");
    if (!preset.empty())
        (*fabric)["network"]["preset"] = preset;
}

std::string ClusterDraft::fabric() const
{
    return text("fabric.kind");
}

void ClusterDraft::choose_fabric(const std::string& kind)
{
    if (kind.empty())
        take_out(json_, "fabric");
    else
        json_["fabric"]["kind"] = kind;
}

int ClusterDraft::whole(const std::string& field) const
{
    const std::string given = text(field);
    return to_number<int>(given.empty() ? usual_text(field) : given).value_or(0);
}

int ClusterDraft::nodes_per_rack() const
{
    const int gpus = whole("node.gpus");
    const int domain = whole("node.nvlink.domain");
    return gpus > 0 && domain > gpus && domain % gpus == 0 ? domain / gpus : 1;
}

std::string ClusterDraft::racks_text() const
{
    const int nodes = whole("nodes");
    const int rack = nodes_per_rack();
    return nodes > 0 && nodes % rack == 0 ? std::to_string(nodes / rack) : std::string();
}

void ClusterDraft::set_racks(const std::string& text)
{
    constexpr int most = 1 << 20; // nodes: the checks refuse more
    const std::optional<int> count = to_number<int>(text);
    if (count && *count > 0 && *count <= most)
        json_["nodes"] = *count * nodes_per_rack();
    else
        json_["nodes"] = count ? Json(*count) : Json(text);
}

} // namespace trainyard::gui

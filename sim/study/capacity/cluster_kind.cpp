#include "sim/base/spelling.h"
#include "sim/cost/device_catalogue.h"
#include "sim/study/capacity/capacity_request.h"
#include "sim/study/inputs.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/problems.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

namespace trainyard {

namespace {

constexpr int most_devices = 1'000'000;

// All of it: words around a device's name, as in paths, make it none.
bool is_device_name(const std::string& text)
{
    const KnownDevice* const known = shipped_devices().named_in(text);
    return known != nullptr && known->device.usual_node.gpus > 0 &&
           (text == known->key ||
            std::ranges::find(known->plain_names, plain_name(text)) != known->plain_names.end());
}

// The nearest numbers of GPUs that are whole nodes.
std::string whole_nodes_near(int gpus, const ClusterKind& kind)
{
    const int fewer = gpus / kind.gpus_per_node * kind.gpus_per_node;
    const std::string more = fmt::format("{}x{}", fewer + kind.gpus_per_node, kind.name);
    return fewer > 0 ? fmt::format("{}x{} or {}", fewer, kind.name, more) : more;
}

// A topology whose "nodes" can be replaced, and how many devices one of them has.
Checked<ClusterKind> of_topology(std::string name, const Source& topology,
                                 const ScenarioFile& place)
{
    const Checked<Input> input = find_input(topology, InputKind::topology, place);
    if (!input)
        return tl::unexpected(input.error());
    const Json* const nodes = input->json.find("nodes");
    if (nodes == nullptr || !nodes->is_number())
        return tl::unexpected(
            one_problem(fmt::format("{} has no \"nodes\" that could be more or fewer", name),
                        "a topology with \"generator\": \"cluster\", or a GPU: h100"));
    ClusterKind kind;
    kind.name = std::move(name);
    kind.topology = input->json;
    const Checked<TopologyFile> read = inspect_topology(input->json, input->file);
    if (!read)
        return tl::unexpected(read.error());
    const int given = std::max(1, static_cast<int>(nodes->as_double()));
    kind.gpus_per_node = read->topology.device_count() / given;
    Json larger = input->json;
    larger["nodes"] = 2;
    if (!inspect_topology(larger, input->file)) // nothing joins nodes
        kind.nodes = given;
    return kind;
}

Checked<ClusterKind> with_gpus(ClusterKind kind, std::optional<int> gpus)
{
    if (!gpus)
        return kind;
    if (*gpus < kind.gpus_per_node && !kind.gpu.empty())
        kind.gpus_per_node = *gpus;
    if (*gpus < 1 || *gpus % kind.gpus_per_node != 0)
        return tl::unexpected(one_problem(
            fmt::format("{} x {} are no whole nodes of {}", *gpus, kind.name, kind.gpus_per_node),
            whole_nodes_near(*gpus, kind)));
    kind.nodes = *gpus / kind.gpus_per_node;
    return kind;
}

} // namespace

Checked<ClusterKind> cluster_kind(const std::string& text, const std::filesystem::path& folder)
{
    // "256xh100"
    int count = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    const bool counted = rest != text.data() && rest != end && (*rest == 'x' || *rest == 'X');
    if (counted && (error != std::errc() || count < 1 || count > most_devices))
        return tl::unexpected(
            one_problem(fmt::format("{} are no GPUs of a cluster", std::string(text.data(), rest)),
                        fmt::format("from 1 to {}", most_devices)));
    const std::string name = counted ? std::string(rest + 1, end) : text;
    const std::optional<int> gpus = counted ? std::optional(count) : std::nullopt;
    if (!name.ends_with(".json")) {
        if (!is_device_name(name))
            return tl::unexpected(one_problem(
                fmt::format("\"{}\" is no known GPU and no topology file", name), known_gpus()));
        ClusterKind kind;
        kind.name = name;
        kind.gpu = name;
        kind.gpus_per_node = usual_gpus_per_node(name);
        return with_gpus(std::move(kind), gpus);
    }
    ScenarioFile place;
    place.base = folder;
    Checked<ClusterKind> kind = of_topology(name, Source{name, {}}, place);
    if (!kind)
        return kind;
    return with_gpus(std::move(*kind), gpus);
}

Checked<ClusterKind> cluster_kind(const ScenarioFile& scenario)
{
    const std::string& path = scenario.scenario.topology.path;
    return of_topology(path.empty() ? "own cluster" : path, scenario.scenario.topology, scenario);
}

} // namespace trainyard

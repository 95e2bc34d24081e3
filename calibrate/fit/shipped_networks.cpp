#include "calibrate/fit/shipped_networks.h"

#include "calibrate/fit/written_constant.h"
#include "sim/cost/profile_library.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

namespace fs = std::filesystem;

Problems nothing_of(const std::string& what)
{
    return {{"", 0, "", what, "the plan names a sweep by its id", Severity::error}};
}

// The NVLink domains of a run: its nodes, or racks of several.
GroupShape shape_of(const NetworkRun& run, const Sweep& sweep, const Hardware& hardware)
{
    GroupShape out;
    out.ranks = sweep.ranks;
    out.ranks_per_domain = run.rack > 0 ? run.rack : sweep.ranks / sweep.nodes;
    out.domains = out.ranks / out.ranks_per_domain;
    out.nodes = sweep.nodes;
    out.ranks_per_node = out.gpus_per_node = sweep.ranks / sweep.nodes;
    out.nodes_per_domain = out.nodes / out.domains;
    out.nvlink = hardware.device.nvlink;
    out.nvswitch = out.nvlink.value() > 0;
    out.in_switch_reduction = hardware.fabric.nvls_efficiency > 0;
    out.network.name = hardware.network.name;
    out.network.transport = run.transport;
    out.network.nics = run.nics;
    out.network.nic_rate = run.nic_rate;
    out.network.in_network_reduction = run.reduces;
    return out;
}

std::vector<TimedSize> points_of(const Sweep& sweep, Bytes from)
{
    std::vector<TimedSize> out = clean(sweep).points;
    std::erase_if(out, [&](const TimedSize& point) { return point.size < from; });
    return out;
}

NetworkClass with_prior(NetworkClass network, const NetworkRule& rule)
{
    network.latency = rule.latency;
    network.efficiency = rule.efficiency;
    if (rule.max_per_communicator.value() > 0)
        network.max_per_communicator = rule.max_per_communicator;
    return network;
}

void put(Json& file, const FittedConstant& constant, const std::string& source)
{
    const double width = std::log(constant.value / constant.low); // above, a share ends at 1
    const bool narrowed = width < 0.9 * prior_width(constant.path);
    put_constant(file, constant, narrowed ? "published" : "extrapolated", source);
}

std::string names_of(const NetworkRule& rule)
{
    std::string out;
    for (const NetworkRun& run : rule.runs)
        out += (out.empty() ? "" : ", ") + run.source;
    return out;
}

double mean_error(std::span<const NetworkSweep> sweeps, const NetworkFit& fit,
                  const std::string& network)
{
    double sum = 0;
    int count = 0;
    for (const NetworkSweep& one : sweeps)
        if (network.empty() || one.network.name == network) {
            sum += network_error(one, fit);
            ++count;
        }
    return sum / std::max(1, count);
}

} // namespace

Checked<std::vector<NetworkSweep>>
network_sweeps(const KnotPlan& plan, std::span<const Sweep> sweeps, const fs::path& profiles)
{
    std::vector<NetworkSweep> out;
    for (const NetworkRule& rule : plan.networks)
        for (const NetworkRun& run : rule.runs) {
            const auto sweep = std::find_if(sweeps.begin(), sweeps.end(), [&](const Sweep& one) {
                return one.source == run.source;
            });
            if (sweep == sweeps.end())
                return tl::unexpected(nothing_of("no sweep " + run.source));
            ProfileRequest request;
            request.device = run.device;
            request.network.name = rule.network;
            request.software = "ddp-eager"; // any: no part of it is used
            const Checked<Profile> profile = assemble(request, {profiles});
            if (!profile)
                return tl::unexpected(profile.error());
            const Hardware& hardware = profile->hardware;
            out.push_back({run.source, sweep->collective, points_of(*sweep, run.from),
                           shape_of(run, *sweep, hardware), hardware.fabric,
                           with_prior(hardware.network, rule), run.ring});
        }
    return out;
}

Checked<std::map<std::string, Json>>
shipped_networks(const KnotPlan& plan, std::span<const Sweep> sweeps, const fs::path& profiles)
{
    const auto runs = network_sweeps(plan, sweeps, profiles);
    if (!runs)
        return tl::unexpected(runs.error());
    const auto any =
        plan.networks.empty()
            ? tl::unexpected(nothing_of("no network"))
            : assemble({plan.networks.front().runs.front().device, "", {}, "ddp-eager"},
                       {profiles});
    if (!any)
        return tl::unexpected(any.error());
    const NetworkFit fit = fit_networks(*runs, any->hardware.collectives);
    std::map<std::string, Json> out;
    const auto file = [&](const std::string& name) -> Json* {
        const Checked<Json> json = read_json_file((profiles / name).string());
        return json ? &(out[name] = *json) : nullptr;
    };
    for (const NetworkRule& rule : plan.networks) {
        Json* json = file("networks/" + rule.network + ".json");
        if (json == nullptr)
            return tl::unexpected(nothing_of("no network " + rule.network));
        const std::string source =
            fmt::format("joint fit of {} published nccl-tests sweeps across domains "
                        "(calibrate/sweeps); here {}: mean error {:.1f} %",
                        fit.sweeps, names_of(rule), 100 * mean_error(*runs, fit, rule.network));
        for (const FittedConstant& constant : fit.constants.at(rule.network))
            if (constant.path != "max_per_communicator" || rule.max_per_communicator.value() > 0)
                put(*json, constant, source);
    }
    if (Json* json = file("collectives/nccl.json"))
        for (const FittedConstant& constant : fit.shared)
            put(*json, constant,
                fmt::format("joint fit of {} published nccl-tests sweeps across domains "
                            "(calibrate/sweeps), mean error {:.1f} %",
                            fit.sweeps, 100 * mean_error(*runs, fit, "")));
    return out;
}

} // namespace trainyard

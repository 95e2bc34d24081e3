#include "calibrate/measure/output/machine_study.h"

#include "calibrate/measure/discover/graph_check.h"
#include "calibrate/measure/discover/pci_address.h"
#include "calibrate/measure/output/measured_values.h"
#include "sim/topology/read_topology.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

bool on_gpus(const MeasuredRun& run)
{
    return run.backend == "nccl";
}

std::vector<std::string> hosts_of(const MeasuredRun& run)
{
    std::vector<std::string> out;
    for (const RankFacts& rank : run.ranks)
        if (std::find(out.begin(), out.end(), rank.host) == out.end())
            out.push_back(rank.host);
    return out;
}

std::vector<std::string> names_of(const MeasuredRun& run)
{
    const bool several = hosts_of(run).size() > 1;
    std::vector<std::string> out;
    for (const RankFacts& rank : run.ranks) {
        const std::string device =
            on_gpus(run)
                ? fmt::format("GPU {}", rank.place.local_rank)
                : fmt::format("rank {}", several ? rank.place.local_rank : rank.place.rank);
        out.push_back(several ? rank.host + " " + device : device);
    }
    return out;
}

const NodeReport& node_of(const DiscoveredCluster& machine, const std::string& host)
{
    const auto found = std::find_if(machine.nodes.begin(), machine.nodes.end(),
                                    [&](const NodeReport& node) { return node.host == host; });
    return found == machine.nodes.end() ? machine.nodes.front() : *found;
}

// CUDA may number devices otherwise than the driver, or see some of them only.
int device_of(const RankFacts& rank, const NodeMap& map)
{
    const auto named = rank.facts.properties.find("pci_bus_id");
    const std::string address =
        named == rank.facts.properties.end() ? "" : pci_address(named->second);
    for (std::size_t i = 0; !address.empty() && i < map.gpus.size(); ++i)
        if (pci_address(map.gpus[i].address) == address)
            return static_cast<int>(i);
    return rank.place.local_rank;
}

// Each rank's host, and its device there. A host whose node is not known has the seats of places.
std::vector<Seat> seats_of(const MeasuredRun& run, const std::optional<DiscoveredCluster>& machine)
{
    const std::vector<std::string> hosts = hosts_of(run);
    std::vector<Seat> out;
    for (const RankFacts& rank : run.ranks) {
        const auto host = std::find(hosts.begin(), hosts.end(), rank.host) - hosts.begin();
        out.push_back(
            {static_cast<int>(host),
             machine ? device_of(rank, node_of(*machine, rank.host).map) : rank.place.local_rank});
    }
    return out;
}

Words pair_classes(const MeasuredRun& run, const std::optional<DiscoveredCluster>& machine)
{
    const std::vector<std::string> hosts = hosts_of(run);
    const std::vector<Seat> seats = seats_of(run, machine);
    std::vector<Words> words;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
        std::size_t devices = 0;
        for (const Seat& seat : seats)
            if (seat.node == static_cast<int>(host))
                devices = std::max(devices, static_cast<std::size_t>(seat.device) + 1);
        const Words* const known = machine ? &node_of(*machine, hosts[host]).classes : nullptr;
        const Words alike(devices, std::vector<std::string>(devices, on_gpus(run) ? "GPU" : "CPU"));
        words.push_back(known != nullptr && known->size() >= devices ? *known : alike);
    }
    return classes_of(seats, words);
}

// Whether the devices of the topology are the ranks' in their order.
bool is_topology_of(const MeasuredRun& run, const DiscoveredCluster& machine)
{
    const std::vector<Seat> seats = seats_of(run, machine);
    if (machine.nodes.size() != hosts_of(run).size() ||
        machine.description.devices.size() != run.ranks.size())
        return false;
    int before = 0; // devices of earlier hosts
    for (std::size_t i = 0; i < seats.size(); ++i) {
        if (i > 0 && seats[i].node != seats[i - 1].node)
            before = static_cast<int>(i);
        if (before + seats[i].device != static_cast<int>(i) ||
            machine.nodes[static_cast<std::size_t>(seats[i].node)].host != run.ranks[i].host)
            return false;
    }
    return true;
}

// What each device reached at the largest product that all computed at once.
std::vector<DeviceRate> gemm_rates(const MeasuredRun& run)
{
    const MeasuredPoint* largest = nullptr;
    double most = 0;
    for (const MeasuredPoint& point : run.points) {
        const auto* const local = std::get_if<LocalWork>(&point.point.work);
        if (local == nullptr || local->kind != LocalKind::gemm || point.by_rank.empty())
            continue;
        const double flops = 2.0 * static_cast<double>(local->m) * static_cast<double>(local->n) *
                             static_cast<double>(local->k);
        if (flops > most) {
            most = flops;
            largest = &point;
        }
    }
    std::vector<DeviceRate> out;
    if (largest == nullptr)
        return out;
    const std::vector<std::string> names = names_of(run);
    for (std::size_t i = 0; i < largest->by_rank.size(); ++i) {
        const auto rank = static_cast<std::size_t>(largest->point.group.members[i]);
        const double seconds = largest->by_rank[i];
        out.push_back(
            {names[rank], run.ranks[rank].facts.device, seconds > 0 ? most / seconds : 0});
    }
    return out;
}

} // namespace

PairStudy pair_study(const MeasuredRun& run, const std::optional<DiscoveredCluster>& machine)
{
    PairStudy out;
    const std::size_t n = run.ranks.size();
    out.names = names_of(run);
    out.classes = pair_classes(run, machine);
    out.rates.assign(n, std::vector<std::optional<double>>(n));
    for (const MeasuredPoint& point : run.points) {
        const auto* const exchange = std::get_if<ExchangeWork>(&point.point.work);
        if (exchange == nullptr || exchange->messages.size() != 1 || !(point.estimate.median > 0))
            continue;
        const std::vector<int>& members = point.point.group.members;
        const OrderedPair pair{members[static_cast<std::size_t>(exchange->messages[0].from)],
                               members[static_cast<std::size_t>(exchange->messages[0].to)]};
        const double rate = static_cast<double>(exchange->size.value()) / point.estimate.median;
        auto& first =
            out.rates[static_cast<std::size_t>(pair.from)][static_cast<std::size_t>(pair.to)];
        if (!first) {
            first = rate;
            continue;
        }
        const auto known = std::find_if(out.again.begin(), out.again.end(),
                                        [&](const MeasuredAgain& a) { return a.pair == pair; });
        if (known == out.again.end())
            out.again.push_back({pair, {rate}});
        else
            known->values.push_back(rate);
    }
    if (machine && is_topology_of(run, *machine))
        out.parts = shared_parts(machine->description);
    return out;
}

MachineStudy study_of(const MeasuredRun& run, const std::optional<DiscoveredCluster>& machine)
{
    MachineStudy out;
    out.pairs = pair_matrices(run);
    const PairStudy pairs = pair_study(run, machine);
    // Ranks on CPUs share cores, and on one host memory, with whatever else runs there.
    if (on_gpus(run) || hosts_of(run).size() > 1)
        out.slow_pairs = verdicts(pairs);
    if (on_gpus(run))
        out.slow_devices = slow_devices(gemm_rates(run));
    out.stragglers = stragglers(run.points);
    out.doubts = run.doubts;
    for (const RankFacts& rank : run.ranks)
        for (const std::string& warning : rank.facts.warnings)
            if (std::find(out.doubts.begin(), out.doubts.end(), warning) == out.doubts.end())
                out.doubts.push_back(warning);
    if (!machine)
        return out;
    const bool several = machine->nodes.size() > 1;
    for (const NodeReport& node : machine->nodes)
        for (const std::string& text : node.believed)
            out.doubts.push_back(several ? fmt::format("host {}: {}", node.host, text) : text);
    // What processes reach through memory is far below what memory carries: only links of GPUs
    // tell.
    if (on_gpus(run) && hosts_of(run).size() == 1 && is_topology_of(run, *machine))
        if (const Checked<Topology> topology = read_topology(machine->topology, "topology"))
            for (std::string& text : graph_doubts(pairs, *topology))
                out.doubts.push_back(std::move(text));
    return out;
}

std::string describe(const MachineStudy& study)
{
    std::string out;
    const auto blame = [&](const std::vector<SlowVerdict>& verdicts) {
        for (const SlowVerdict& verdict : verdicts)
            out += fmt::format("slow: {}: {}\n", verdict.what, verdict.evidence);
    };
    blame(study.slow_pairs.slow);
    blame(study.slow_devices);
    for (const std::string& text : study.stragglers)
        out += fmt::format("late: {}\n", text);
    for (const std::string& text : study.slow_pairs.recovered)
        out += fmt::format("noise: {}\n", text);
    for (const std::string& text : study.doubts)
        out += fmt::format("doubtful: {}\n", text);
    return out;
}

} // namespace trainyard

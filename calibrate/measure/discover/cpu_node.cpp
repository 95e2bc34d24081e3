#include "calibrate/measure/discover/cpu_node.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// A copy through memory uses at least one channel: DDR4-3200 gives 25.6 GB/s (JEDEC JESD79-4).
constexpr Bandwidth through_memory{25.6e9};

constexpr int most_ranks = 1024;

void add_nic(const HostFacts& host, NodeMap& map, ImportNotes& notes)
{
    const NetworkPort* best = nullptr;
    for (const NetworkPort& port : host.ports)
        if (port.up && (best == nullptr || port.rate > best->rate || (port.rdma && !best->rdma)))
            best = &port;
    if (best == nullptr)
        return;
    map.network = !best->rdma        ? "tcp"
                  : best->infiniband ? infiniband_of(best->rate)
                                     : roce_of(best->rate);
    if (!(best->rate.value() > 0))
        add_note(notes.assumed, fmt::format("{} has the usual rate of {}: the system shows none",
                                            best->name, map.network));
    const PciDevice* const device = find_device(host, best->address);
    int socket = 0;
    for (const NumaNode& node : host.numa)
        if (device != nullptr && node.id == device->numa)
            socket = node.socket;
    int parent = 0;
    for (std::size_t i = 0; i < host.sockets.size(); ++i)
        if (host.sockets[i].id == socket)
            parent = static_cast<int>(i);
    const Bandwidth pcie =
        best->rate.value() > 0 ? std::max(best->rate, through_memory) : through_memory;
    map.nics.push_back({best->name, parent, pcie, best->rate});
}

} // namespace

std::string cpu_device(const HostFacts& host)
{
    return host.cpu.empty() ? "CPU" : "CPU " + host.cpu;
}

NodeMap map_of_cpus(const HostFacts& host, int ranks, ImportNotes& notes)
{
    NodeMap map;
    map.name = host.name.empty() ? "this-machine" : host.name;
    const int sockets = std::max(1, static_cast<int>(host.sockets.size()));
    if (host.sockets.empty())
        add_note(notes.assumed, "one processor: the system shows none");
    const int devices = std::clamp(ranks == 0 ? sockets : ranks, 1, most_ranks);
    for (int i = 0; i < sockets; ++i)
        map.switches.push_back({fmt::format("memory{}", i), -1, between_cpus});
    for (int i = 0; i < devices; ++i)
        map.gpus.push_back({fmt::format("cpu{}", i), cpu_device(host),
                            static_cast<int>(static_cast<std::int64_t>(i) * sockets / devices),
                            through_memory});
    if (devices > sockets)
        add_note(notes.assumed, fmt::format("each of the {} devices is a share of one of {} "
                                            "processor{}",
                                            devices, sockets, sockets == 1 ? "" : "s"));
    add_note(notes.assumed,
             fmt::format("ranks meet in memory at {:g} GB/s, processors at {:g} GB/s: the system "
                         "shows no rates",
                         through_memory.value() / 1e9, between_cpus.value() / 1e9));
    add_nic(host, map, notes);
    return map;
}

} // namespace trainyard

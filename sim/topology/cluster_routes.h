#pragma once

// Which links join two devices of a compact cluster.
//
// Inside an NVLink domain: NVLink. Inside a node without it: PCIe. Between domains: through a NIC
// at the GPU's own PCIe switch, up only as many layers of switches as the pair needs, and among
// equal links the flow's hash decides. When that pair of NICs meets only above the leaf switches
// but another GPU of the sender's node has a NIC on the receiver's leaf, the message first goes to
// that GPU over NVLink (PXN): fabric links are the scarce ones.

#include "sim/topology/cluster_links.h"
#include "sim/topology/ecmp.h"

#include <functional>
#include <span>

namespace trainyard {

class ClusterRoutes {
public:
    ClusterRoutes(const NodeTemplate& node, const ClosShape& shape, const ClusterLinks& links);

    // Requires different devices that are connected.
    std::vector<LinkId> route(DeviceId from, DeviceId to, PathChoice& choice) const;

    // The same without the links that are cut; empty when nothing else joins them. First another of
    // the equal paths; then PCIe inside the node; then through the NICs of other GPUs of the two
    // nodes, the fewest links, evenly over the flows.
    std::vector<LinkId> around(DeviceId from, DeviceId to, PathChoice& choice,
                               const std::function<bool(LinkId)>& cut) const;

    // NICs that `gpu` of a node uses: those of its PCIe switch, or all where the NICs are fewer
    // than the switches.
    std::pair<int, int> nics_of(int gpu) const; // first, past the last

    int nics_in_reach() const
    {
        const auto [first, last] = nics_of(0);
        return last - first;
    }

    int switch_of_gpu(int gpu) const { return gpu / gpus_per_switch_; }
    // -1: at the CPU.
    int switch_of_nic(int nic) const { return nics_at_host_ ? -1 : nic / nics_per_switch_; }
    int leaf_of(int node, int nic) const;

private:
    struct Walk; // a path under construction

    std::vector<LinkId> clear_route(DeviceId from, DeviceId to, PathChoice& choice,
                                    const std::function<bool(LinkId)>& cut,
                                    std::uint64_t most_tries) const;
    std::vector<LinkId> any_clear_route(DeviceId from, DeviceId to, PathChoice& choice,
                                        const std::function<bool(LinkId)>& cut) const;
    std::vector<LinkId> clear_inside(DeviceId from, DeviceId to, PathChoice& choice,
                                     const std::function<bool(LinkId)>& cut) const;
    std::vector<LinkId> over_pcie(int node, int from, int to) const;
    int layers_between(int leaf, int other) const; // 0: same leaf, 1: over a spine, 2: over a core
    // The fewest between any NICs of two nodes.
    int fewest_between(int node, int other_node) const;
    int layers_between(int node, int gpu, int other_node, int other_gpu) const;
    bool nvlink_step(Walk& walk, int node, int from, int to) const;
    void pcie_route(Walk& walk, int node, int from, int to) const;
    int relay(const Walk& walk, int from_node, int from_gpu, int to_node, int to_gpu) const;
    void network_route(Walk& walk, int from_node, int from_gpu, int to_node, int to_gpu) const;
    void climb(Walk& walk, int leaf, int to_node, std::span<const int> to_nics, int layers) const;

    NodeTemplate node_;
    ClosShape shape_;
    const ClusterLinks& links_;
    std::vector<NvlinkWire> wires_;
    int nodes_per_domain_;
    int gpus_per_switch_;
    int nics_per_switch_;
    bool nics_at_host_;
    std::vector<int> rail_of_nic_; // of a node
};

} // namespace trainyard

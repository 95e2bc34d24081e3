#pragma once

// A cluster as the simulator sees it: devices in nodes and NVLink domains, directed links, and
// paths.
//
// A value. Large clusters stay compact (a node template x count and a fabric); explicit graphs are
// held as given. Both answer the same questions. Nothing here depends on a job.

#include "sim/base/ids.h"
#include "sim/base/quantity.h"

#include <memory>
#include <string>
#include <vector>

namespace trainyard {

enum class LinkKind : std::uint8_t {
    nvlink,
    c2c,
    pcie,
    nic,
    leaf_up,
    leaf_down,
    spine_up,
    spine_down,
    other
};

// What carries traffic between nodes.
enum class Transport : std::uint8_t { none, infiniband, roce, efa, tcp };

// One direction of one link.
struct Link {
    LinkKind kind = LinkKind::other;
    Bandwidth capacity; // line rate
    Seconds latency;    // of one traversal
};

// What one device is attached to.
struct DeviceAttachment {
    std::string model; // key of the device constants, e.g. "H100-SXM5-80GB"
    NodeId node;
    DomainId domain;
    Bandwidth nvlink;                 // per direction, all its NVLinks together; 0: none
    bool nvswitch = false;            // NVLinks end in switches: any pair at full rate
    bool in_switch_reduction = false; // multicast and reduction in the NVSwitch (NVLS)
    Bandwidth pcie;                   // per direction, to its host or PCIe switch
    Bandwidth host_link;              // to host memory: PCIe, or C2C on Grace
};

// The way out of one node.
struct NodeNetwork {
    Transport transport = Transport::none;
    std::string name; // "NDR400", "EFA", ...: key of the network constants
    int nics = 0;
    Bandwidth nic_rate;                // line rate of one NIC, one direction
    bool gpu_direct = true;            // GPUDirect RDMA
    bool in_network_reduction = false; // SHARP
    double oversubscription =
        1.0;             // of the worst fabric layer above the leaf (or rail) switches, >= 1
    int switch_hops = 1; // switches between two nodes that are farthest apart

    bool operator==(const NodeNetwork&) const = default;
};

class TopologyModel; // compact or explicit; see topology_model.h

class Topology {
public:
    explicit Topology(std::shared_ptr<const TopologyModel> model) : model_(std::move(model)) {}

    const std::string& name() const;
    int device_count() const;
    int node_count() const;
    int domain_count() const;

    // Devices are numbered node by node; the devices of a node, and the nodes of a domain, are
    // consecutive.
    DeviceAttachment device(DeviceId id) const;
    NodeNetwork network(NodeId id) const;
    std::vector<DeviceId> devices_of(NodeId node) const;

    std::size_t link_count() const;
    Link link(LinkId id) const;
    std::string link_name(LinkId id) const; // "node3/gpu5/nvlink up": for people

    // The links from one device to another, in order. Among equal paths `flow` chooses (ECMP hash;
    // rails where the fabric has them). Empty when from == to. Requires a connected pair (`check`
    // reports others at the border).
    std::vector<LinkId> path(DeviceId from, DeviceId to, std::uint64_t flow = 0) const;

    const TopologyModel& model() const { return *model_; }

private:
    std::shared_ptr<const TopologyModel> model_;
};

} // namespace trainyard

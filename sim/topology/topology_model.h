#pragma once

// What stands behind a Topology: a compact cluster (cluster_model.h) or an explicit graph
// (explicit_model.h). Both answer the same questions.

#include "sim/topology/ecmp.h"
#include "sim/topology/topology.h"

#include <functional>
#include <optional>
#include <span>

namespace trainyard {

// Names of the two things that a link joins, e.g. "node3/gpu5" and "node3/nvswitch".
struct LinkEnds {
    std::string from;
    std::string to;

    bool operator==(const LinkEnds&) const = default;
};

// The links from one layer of switches up to the next.
struct FabricLayer {
    std::string name;              // "leaf to spine", "spine to core"
    std::int64_t links = 0;        // in one direction
    Bandwidth capacity;            // of all of them, one direction
    double oversubscription = 1.0; // line rate of all NICs below / capacity, not below 1

    bool operator==(const FabricLayer&) const = default;
};

// The switches of a fabric, by layer; empty layers are absent.
struct SwitchLayer {
    std::string name; // "leaf", "spine", "core"
    std::int64_t switches = 0;

    bool operator==(const SwitchLayer&) const = default;
};

struct Placement {
    NodeId node;
    DomainId domain;

    bool operator==(const Placement&) const = default;
};

// The links that carry a block of switches' traffic up to the next layer, or down from it: a leaf's
// uplinks, all uplinks of a pod's spines. Paths spread over them.
struct Trunk {
    std::uint32_t number = 0; // the same for all its links
    std::uint32_t layer = 0;  // index into fabric_layers()
    Bandwidth capacity;       // of all its links

    bool operator==(const Trunk&) const = default;
};

using CutLinks = std::function<bool(LinkId)>;

class TopologyModel {
public:
    virtual ~TopologyModel() = default;
    TopologyModel() = default;
    TopologyModel(const TopologyModel&) = delete;
    TopologyModel& operator=(const TopologyModel&) = delete;

    virtual const std::string& name() const = 0;
    virtual int device_count() const = 0;
    virtual int node_count() const = 0;
    virtual int domain_count() const = 0;

    virtual DeviceAttachment device(DeviceId id) const = 0;
    virtual Placement placement(DeviceId id) const = 0; // part of device(), cheaper
    virtual std::string device_name(DeviceId id) const = 0;
    virtual NodeNetwork network(NodeId id) const = 0;
    virtual std::vector<DeviceId> devices_of(NodeId node) const = 0;
    virtual int gpus_in_node(NodeId node) const = 0; // used or not
    // NICs among which the traffic of one of its devices is spread: all of them as near.
    virtual int nics_in_reach(NodeId node) const = 0;
    virtual int nodes_in_domain(DomainId id) const = 0;

    // Rate per GPU and direction that members of one domain reach among themselves over NVLink
    // alone; 0 when some neighbours would go over PCIe (a server with NVLink pairs). Requires two
    // or more.
    virtual Bandwidth nvlink_among(std::span<const DeviceId> members) const = 0;

    virtual std::size_t link_count() const = 0;
    virtual Link link(LinkId id) const = 0;
    virtual std::string link_name(LinkId id) const = 0;
    virtual LinkEnds link_ends(LinkId id) const = 0;

    // None for links that do not lead from one layer of switches to another.
    virtual std::optional<Trunk> trunk(LinkId id) const = 0;

    // A shortest path; `choice` decides among equal ones. Empty when from == to or nothing joins
    // them.
    virtual std::vector<LinkId> route(DeviceId from, DeviceId to, PathChoice& choice) const = 0;
    // A path without the links that are cut: inside a node over PCIe where NVLink does not lead,
    // out of it through any NIC, up any uplinks. Empty when there is none.
    virtual std::vector<LinkId> route_around(DeviceId from, DeviceId to, PathChoice& choice,
                                             const CutLinks& cut) const = 0;
    // The same cluster with all its links in a good state.
    virtual const TopologyModel& sound() const { return *this; }

    // Whether every usual path crosses a dead link, so that traffic takes other ways.
    virtual bool rerouted(DeviceId, DeviceId) const { return false; }

    virtual std::uint64_t ecmp_seed() const = 0;

    virtual std::vector<SwitchLayer> switch_layers() const = 0;
    virtual std::vector<FabricLayer> fabric_layers() const = 0;

    // One direction, between the first and the second half of the NVLink domains (of the devices
    // where there is one domain).
    virtual Bandwidth bisection() const = 0;
};

} // namespace trainyard

#pragma once

// What a cluster is made of, counted: for `topo show`.

#include "sim/base/json.h"
#include "sim/topology/topology_model.h"

#include <map>

namespace trainyard {

// Links of one kind, rate and latency; both directions counted.
struct LinkClass {
    LinkKind kind = LinkKind::other;
    std::int64_t links = 0;
    Bandwidth capacity; // of one
    Seconds latency;

    bool operator==(const LinkClass&) const = default;
};

struct TopologySummary {
    std::string name;
    int devices = 0;
    int nodes = 0;
    std::map<std::string, int> devices_by_model;
    std::map<int, int> nodes_by_size;   // devices in a node -> such nodes
    std::map<int, int> domains_by_size; // devices in an NVLink domain -> such domains
    DeviceAttachment device;            // of the first device
    NodeNetwork network;                // of the first node
    std::vector<SwitchLayer> switches;
    std::vector<LinkClass> links;
    std::vector<FabricLayer> layers;
    Bandwidth bisection; // one direction, between halves of whole NVLink domains

    // Of a node's NICs, shared out over its devices; one direction.
    Bandwidth network_rate_per_device() const;

    bool operator==(const TopologySummary&) const = default;
};

// Looks at every device and link once.
TopologySummary summarize(const Topology& topology);

// A page of text, and the same for programs.
std::string describe(const TopologySummary& summary);
Json to_json(const TopologySummary& summary);

} // namespace trainyard

#pragma once

// A run as the topology shows it: the cluster, the state of its links and what loads them.

#include "gui/topology/topology_layout.h"
#include "sim/report/link_load.h"

namespace trainyard::gui {

enum class LinkState : std::uint8_t { sound, changed, dead };

struct TopologyRun {
    // `graph`: of the same cluster, else it is made. Not for the thread that paints. Throws
    // Cancelled.
    TopologyRun(std::shared_ptr<const Outcome> of, std::shared_ptr<const ClusterGraph> graph,
                const WorkControl& work);

    std::string name(LinkId link) const { return outcome->topology->link_name(link); }

    std::shared_ptr<const Outcome> outcome;
    std::shared_ptr<const ClusterGraph> graph;
    std::unique_ptr<const LinkLoads> loads;
    std::vector<double> capacity; // by link, bytes per second: what it has now
    std::vector<LinkState> state; // by link
};

// What time the picture is of.
struct LoadTime {
    SimTime from;
    SimTime to; // from: a moment

    bool moment() const { return to == from; }
    bool operator==(const LoadTime&) const = default;
};

// One direction of a bundle.
struct WayUse {
    double capacity = 0; // bytes per second, all links
    double load = 0;     // likewise
    double worst = 0;    // utilisation of ...
    LinkId busiest{};    // ... that link
    std::uint32_t links = 0;
    std::uint32_t dead = 0;
    std::uint32_t changed = 0; // slower or longer

    double mean() const { return capacity > 0 ? load / capacity : 0; }
    bool operator==(const WayUse&) const = default;
};

struct BundleUse {
    WayUse there;
    WayUse back;

    double worst() const { return std::max(there.worst, back.worst); }
    bool operator==(const BundleUse&) const = default;
};

// Bytes per second on each link at that time. Where the engine counted the whole step's bytes link
// by link and all of it is asked for, its count.
std::vector<double> link_loads(const TopologyRun& run, LoadTime time);

// By bundle. Linear in the links.
std::vector<BundleUse> bundle_uses(const TopologyLayout& layout, const TopologyRun& run,
                                   const std::vector<double>& loads);

// The same of a cluster that nothing runs on: capacities of sound links.
std::vector<BundleUse> idle_uses(const TopologyLayout& layout);

// The measured step.
LoadTime step_of(const Outcome& outcome);

} // namespace trainyard::gui

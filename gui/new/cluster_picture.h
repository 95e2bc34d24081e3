#pragma once

// What a described cluster comes out as: what is wrong with it, its figures, and the drawing of it.
// Made in the background.

#include "gui/topology/topology_run.h"
#include "sim/base/diagnostic.h"
#include "sim/base/json.h"
#include "sim/topology/summary.h"

#include <QString>

namespace trainyard::gui {

struct ClusterCheck {
    Problems problems;                        // pointers from the topology's root
    std::shared_ptr<const Topology> topology; // null where it cannot be
};

// Quick whatever the cluster's size.
ClusterCheck check_cluster(const Json& topology, const std::string& file);

struct ClusterPicture {
    TopologySummary summary;
    std::shared_ptr<const TopologyLayout> layout; // null: too large to be drawn
    std::vector<BundleUse> uses;                  // by bundle: capacities, without load
};

// Looks at every link: about a second for some hundred thousand GPUs. Throws Cancelled.
ClusterPicture picture_of(std::shared_ptr<const Topology> topology, const WorkControl& work);

// As people compare clusters by it.
struct ClusterFact {
    QString name;
    QString value;
};
std::vector<ClusterFact> facts_of(const TopologySummary& summary);

} // namespace trainyard::gui

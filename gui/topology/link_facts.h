#pragma once

// What there is to say of links, places and flows, in words.

#include "gui/topology/topology_scene.h"

#include <QString>
#include <utility>
#include <vector>

namespace trainyard::gui {

// "at 12.3 ms into the step", "mean of the step", "mean from ... to ...".
QString time_words(const TopologyRun& run, LoadTime time);

// "node0/nic3 out: 12.1 GB/s of 50 GB/s, 24.2 %, at 12.3 ms into the step"
QString link_words(const TopologyRun& run, LinkId link, LoadTime time);

struct LinkFact {
    QString name;
    QString value;
};
std::vector<LinkFact> link_facts(const TopologyRun& run, LinkId link, LoadTime time);

// "sound", "broken", "has 50 % of its line rate left, 2 us more per traversal"
QString state_words(const TopologyRun& run, LinkId link);

// Rich text of what is under the pointer.
QString tip_of_place(const TopologyScene& scene, std::uint32_t item);
QString tip_of_bundle(const TopologyScene& scene, std::uint32_t bundle, BundleWay way);

// "ranks 0-7", "128 ranks from 3 on"
QString ranks_words(const std::vector<RankId>& ranks);

// "ring", "tree", "all-to-all", ...
QString pattern_words(TrafficPattern pattern, bool message);

// "45.9 GB/s"
QString rate_words(Bandwidth rate);

// "43.2 %"
QString share_words(double share);

} // namespace trainyard::gui

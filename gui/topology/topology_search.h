#pragma once

// Finding a device, a switch or a link by a part of its name.

#include "gui/topology/topology_run.h"

#include <optional>

namespace trainyard::gui {

// One of both.
struct TopologyMatch {
    std::optional<std::uint32_t> place;
    std::optional<LinkId> link;

    bool operator==(const TopologyMatch&) const = default;
};

struct TopologyMatches {
    std::vector<TopologyMatch> found; // at most as many as asked for
    std::size_t count = 0;            // in all
};

// Whatever the case: what is called just so first, then things, then links, each in the cluster's
// order. None for an empty text. Linear in things and links; throws Cancelled.
TopologyMatches find_in_cluster(const TopologyRun& run, const std::string& text, std::size_t most,
                                const WorkControl& work);

} // namespace trainyard::gui

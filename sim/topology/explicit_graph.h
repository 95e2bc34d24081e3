#pragma once

// The graph behind an explicit description (Boost.Graph inside): shortest paths, reachability,
// cuts.
//
// A path costs, in this order: its links other than NVLink, its links, its latency. So a message
// rather changes GPU over NVLink than climb to another layer of switches, as compact clusters have
// it (cluster_routes.h). Messages pass through another GPU only if they reach it over NVLink, and
// only in the sender's node or, between devices of one NVLink domain, in that domain.

#include "sim/topology/ecmp.h"
#include "sim/topology/explicit_pieces.h"

#include <functional>
#include <memory>

namespace trainyard {

class ExplicitGraph {
public:
    // Without the links that are cut.
    explicit ExplicitGraph(
        const ExplicitPieces& pieces,
        const std::function<bool(LinkId)>& cut = [](LinkId) { return false; });
    ~ExplicitGraph();

    // Links by number; empty when nothing joins the devices. O(links x log pieces).
    std::vector<LinkId> route(int from, int to, PathChoice& choice) const;

    // Which devices `from` can send to. O(links).
    std::vector<bool> reachable_from(int from) const;

    // What the devices of `first_half` can send to the others at once: a maximum flow.
    Bandwidth cut(const std::vector<bool>& first_half) const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> graph_;
};

} // namespace trainyard

#pragma once

// Which share of the bytes leaving a member crosses which link.

#include "sim/base/ids.h"
#include "sim/topology/topology.h"

#include <map>
#include <span>

namespace trainyard {

class LinkShares {
public:
    // `flow` chooses among equal paths.
    LinkShares(const Topology& topology, std::uint64_t flow);

    void add(RankId from, RankId to, double share);

    // Bytes that a member sends to the others of its domain over direct NVLinks: every link takes
    // its part, since rings are laid over all of them.
    void add_over_wires(RankId from, std::span<const RankId> domain, double share);

    const std::map<LinkId, double>& by_link() const { return shares_; }

private:
    void add_by_channels(DeviceId from, DeviceId to, double share, int channels);

    const Topology& topology_;
    std::uint64_t flow_;
    int nics_;
    std::map<LinkId, double> shares_;
};

} // namespace trainyard

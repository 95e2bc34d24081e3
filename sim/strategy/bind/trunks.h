#pragma once

// Links between switches as transfers share them.
//
// Flows spread over the links of a trunk, as adaptive routing or many queue pairs make them, unless
// the cluster is said to let them collide (PerturbedModel::has_collisions). So a trunk is one link:
// its first carries what all of them do. Costs take it the same way (fabric_share.h,
// link_health.h).

#include "sim/program/binding.h"
#include "sim/topology/topology.h"

#include <unordered_map>

namespace trainyard {

class Trunks {
public:
    explicit Trunks(const Topology& topology);

    // The link that carries for a link: the first of its trunk; itself where it has none, or where
    // flows collide.
    LinkId carrier(LinkId link) const { return carrier_[link.value]; }

    // All that a carrier carries for.
    std::span<const LinkId> links(LinkId carrier) const;

    bool any() const { return !links_.empty(); }

    // In place of the uses of single links.
    std::vector<LinkUse> carried(std::span<const LinkUse> uses) const;
    Ways carried(const Ways& ways) const;

private:
    std::vector<LinkId> carrier_;                           // by link
    std::unordered_map<LinkId, std::vector<LinkId>> links_; // by carrier of several
};

// What one link of a trunk loses for a time.
struct TrunkLoss {
    SimTime from{};
    SimTime until{};
    Bandwidth lost;
};

// What is left of a trunk of `usual` capacity, in the order of time; losses that overlap add up.
std::vector<LinkWindow> trunk_windows(LinkId carrier, ByteRate usual,
                                      std::span<const TrunkLoss> losses);

} // namespace trainyard

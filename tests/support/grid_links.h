#pragma once

// Links for a grid job with eight tensor-parallel ranks per node: rails over leaves of 32 nodes,
// each with half as many uplinks as NICs, chosen by hash.

#include "tests/support/grid_job.h"

namespace trainyard::test {

class GridFabric {
public:
    explicit GridFabric(GridJob& job) : binding_(job.binding)
    {
        const std::size_t ranks = binding_.lanes.size();
        nic_ = add_links(2 * ranks, nic_rate);
        uplink_ = add_links(2 * spines * leaf_of(ranks - 1) + 2 * spines, nic_rate);
        nvlink_ = add_links(2 * ranks, 9 * nic_rate);
    }

    void bind()
    {
        for (std::size_t g = 0; g < binding_.groups.size(); ++g) {
            Group& group = binding_.groups[g];
            for (std::size_t i = 0; i < group.members.size(); ++i)
                group.ring_hops.add(path(group.members[i].value,
                                         group.members[(i + 1) % group.members.size()].value, g));
            group.ring = sum_of(group.ring_hops);
        }
        for (std::uint32_t lane = 0; lane < binding_.lanes.size(); ++lane)
            for (Peer& peer : binding_.lanes[lane].peers)
                if (peer.lane.valid())
                    peer.links = path(lane, peer.lane.value, 0);
    }

private:
    static constexpr std::uint64_t nic_rate = 50'000'000'000;
    static constexpr std::size_t rails = 8;
    static constexpr std::size_t nodes_per_leaf = 32;
    static constexpr std::size_t spines = 16;

    std::size_t add_links(std::size_t count, std::uint64_t rate)
    {
        const std::size_t first = binding_.links.size();
        binding_.links.resize(first + count, ByteRate(rate));
        return first;
    }
    static std::size_t leaf_of(std::size_t rank)
    {
        return rank / rails / nodes_per_leaf * rails + rank % rails;
    }

    std::vector<LinkUse> path(std::uint32_t from, std::uint32_t to, std::uint64_t flow) const
    {
        const auto link = [](std::size_t first, std::size_t number) {
            return LinkUse{make_id<LinkId>(first + number)};
        };
        if (from / rails == to / rails)
            return {link(nvlink_, 2 * from), link(nvlink_, 2 * to + 1)};
        std::vector<LinkUse> path{link(nic_, 2 * from), link(nic_, 2 * to + 1)};
        if (leaf_of(from) != leaf_of(to)) {
            const std::size_t spine = hash_key(from, to, flow) % spines;
            path.push_back(link(uplink_, 2 * (spines * leaf_of(from) + spine)));
            path.push_back(link(uplink_, 2 * (spines * leaf_of(to) + spine) + 1));
        }
        return path;
    }

    Binding& binding_;
    std::size_t nic_ = 0;    // of each rank: out, in
    std::size_t uplink_ = 0; // of each leaf and spine: up, down
    std::size_t nvlink_ = 0; // of each rank: out, in
};

} // namespace trainyard::test

#pragma once

// Who puts how much on which links: what links have in common as colour refinement sees it.

#include "sim/strategy/bind/rank_groups.h"
#include "sim/strategy/bind/rank_traffic.h"

namespace trainyard {

// Two words as one of 64 bits that tells of both.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b);

// By link: a number for what is alike of links before anybody uses them.
std::vector<std::uint32_t> link_colours(const RankTraffic& traffic);

// Who puts how much on which links: the traffic of a group as a whole, each message of a rank and
// its hop in each ring are users.
class LinkUsers {
public:
    // Of a link: a user; of a user: a link. `weight`: how much, and by which pattern.
    struct Edge {
        std::uint32_t to = 0;
        std::uint64_t weight = 0;
    };

    LinkUsers(const RankTraffic& traffic, const Neighbourhood& neighbourhood);

    std::uint32_t groups() const { return groups_; } // users 0 to this
    // What a rank sends: users one after the other, first messages, then hops.
    std::uint32_t first_send(std::size_t rank) const { return first_send_[rank]; }
    std::uint32_t end_of_sends(std::size_t rank) const { return first_send_[rank + 1]; }
    std::uint32_t sender(std::uint32_t user) const
    {
        return static_cast<std::uint32_t>(std::ranges::upper_bound(first_send_, user) -
                                          first_send_.begin() - 1);
    }
    std::span<const Edge> links_of(std::uint32_t user) const
    {
        return part(of_user_, end_of_user_, user);
    }
    std::span<const Edge> users_of(std::uint32_t link) const
    {
        return part(of_link_, end_of_link_, link);
    }

private:
    void add(std::span<const LinkUse> uses);
    void end_user() { end_of_user_.push_back(of_user_.size()); }
    void turn_around(std::size_t links);
    static std::span<const Edge> part(const std::vector<Edge>& edges,
                                      const std::vector<std::size_t>& ends, std::uint32_t index)
    {
        const std::size_t first = index == 0 ? 0 : ends[index - 1];
        return std::span(edges).subspan(first, ends[index] - first);
    }

    std::uint32_t groups_;
    std::uint32_t pattern_ = 0;
    std::vector<std::uint32_t> first_send_; // by rank
    std::vector<Edge> of_user_;
    std::vector<std::size_t> end_of_user_;
    std::vector<Edge> of_link_;
    std::vector<std::size_t> end_of_link_;
};

} // namespace trainyard

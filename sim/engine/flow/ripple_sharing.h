#pragma once

// Max-min fair rates kept up to date by following what changed.
//
// Every link has a level: what each of its users may take at most so that it is just full. A user's
// demand on a link is the least of its ceiling and the levels of its other links; the level is
// where the link is full when each user takes the lesser of level and demand. Max-min rates are the
// fixpoint of all levels. When flows come or go only the levels of their links can change at first;
// a changed level is passed on through those users whose demand elsewhere it changes. In integers
// the fixpoint is one whatever the order of evaluation (tests/property/test_ripple.cpp), so the
// result is that of the full solve.
//
// A link whose users could all have their ceiling together, and a byte per second more (shares are
// rounded down; not so with one user), limits nobody: it is no candidate and never evaluated.
// Complexity of a settlement: evaluations of changed links x their users; of add and remove: links
// of the flow.

#include "sim/engine/flow/link_sharing.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace trainyard::engine {

class RippleSharing final : public LinkSharing {
public:
    explicit RippleSharing(std::span<const ByteRate> capacities);

    std::uint32_t add(std::uint32_t owner, ByteRate ceiling,
                      std::span<const LinkUse> links) override;
    void remove(std::uint32_t flow) override;
    void set_capacity(LinkId link, ByteRate capacity) override;
    std::span<const RateChange> settle() override;
    ByteRate rate(std::uint32_t flow) const override { return ByteRate(flows_[flow].rate); }
    bool keep(std::uint32_t owner, std::span<const LinkUse> links) override;
    void give_up(std::uint32_t owner, std::span<const LinkUse> links) override;
    std::vector<std::uint32_t> take_disturbed() override { return std::exchange(disturbed_, {}); }
    bool alone(std::uint32_t flow, std::span<const LinkUse> links) const override;
    ByteRate rate_alone(ByteRate ceiling, std::span<const LinkUse> links) const override;
    void note_kept(ByteRate rate, std::span<const LinkUse> links) override;
    void watch_loads() override;
    void note_loads() override;
    double busiest_share(LinkId link) const override;

private:
    static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    // Few flows meet on a link and most cross few links: their lists lie beside the rest, so that
    // a flow that comes or goes touches two cache lines per link.
    struct User {
        std::uint32_t flow = 0;
        std::uint32_t use = 0; // of the flow
    };
    struct alignas(64) Link {
        u128 wanted = 0; // sum of coefficient x (ceiling + 1)
        std::uint64_t capacity = 0;
        std::uint64_t level = unlimited;
        std::uint64_t coefficients = 0; // their sum
        std::uint32_t keeper = none;
        bool queued = false;
        bool load_changed = false;
        boost::container::small_vector<User, 2> users;
        u128 load = 0; // bytes per second x 2^16, while watched
        u128 busiest = 0;
    };
    struct Use {
        std::uint32_t link = 0;
        std::uint32_t coefficient = 0;
        std::uint32_t place = 0; // in Link::users
    };
    // Of a flow: the least of its ceiling and the levels of its links, the link of that level
    // (`none`: the ceiling), and the least without that link.
    struct Limit {
        std::uint64_t least = 0;
        std::uint64_t second = 0;
        std::uint32_t tightest = none;
    };
    struct alignas(64) Flow {
        Limit limit;
        std::uint64_t ceiling = 0;
        std::uint64_t rate = 0;
        std::uint32_t owner = 0;
        bool active = false;
        bool marked = false;
        boost::container::small_vector<Use, 4> uses;
    };
    struct Asking {
        std::uint64_t demand = 0;
        std::uint32_t coefficient = 0;
    };

    // One user alone needs no byte more than its ceiling.
    static bool candidate(const Link& link)
    {
        const u128 wanted = link.users.size() == 1 ? link.wanted - link.coefficients : link.wanted;
        return wanted > static_cast<u128>(link.capacity) << 16;
    }
    // What a flow could take if the link were not there.
    std::uint64_t demand_on(std::uint32_t link, std::uint32_t flow) const
    {
        const Limit& limit = flows_[flow].limit;
        return limit.tightest == link ? limit.second : limit.least;
    }

    std::uint32_t new_flow();
    void note(std::uint32_t link);
    void mark(std::uint32_t flow);
    std::uint64_t water_level(std::uint32_t link);
    void pass_on(std::uint32_t link, std::uint64_t old_level);
    void relimit(std::uint32_t flow, std::uint32_t link, std::uint64_t old_level);
    Limit limit_of(const Flow& flow) const;
    void note_others(const Flow& flow, std::uint32_t link);
    void add_load(const Flow& flow, std::uint64_t old_rate, std::uint64_t new_rate);

    std::span<const ByteRate> at_start_; // capacities
    std::vector<Link> links_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> queue_; // links to evaluate
    std::vector<std::uint32_t> marked_;
    std::vector<Asking> asking_; // of one evaluation
    std::vector<RateChange> changes_;
    std::vector<std::uint32_t> disturbed_; // keepers
    std::vector<std::uint32_t> changed_loads_;
    bool watching_ = false; // loads
};

} // namespace trainyard::engine

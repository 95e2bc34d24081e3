#include "sim/engine/flow/ripple_sharing.h"

#include <algorithm>

namespace trainyard::engine {

namespace {

constexpr u128 wanted_by(std::uint32_t coefficient, std::uint64_t ceiling)
{
    return static_cast<u128>(coefficient) * (u128{ceiling} + 1);
}

} // namespace

RippleSharing::RippleSharing(std::span<const ByteRate> capacities)
    : at_start_(capacities), links_(capacities.size())
{
    for (std::size_t l = 0; l < capacities.size(); ++l)
        links_[l].capacity = capacities[l].value();
}

std::uint32_t RippleSharing::new_flow()
{
    if (!free_.empty()) {
        const std::uint32_t id = free_.back();
        free_.pop_back();
        return id;
    }
    flows_.emplace_back();
    return static_cast<std::uint32_t>(flows_.size() - 1);
}

// Has a link evaluated at the next settlement.
void RippleSharing::note(std::uint32_t link)
{
    if (links_[link].queued)
        return;
    links_[link].queued = true;
    queue_.push_back(link);
}

void RippleSharing::mark(std::uint32_t flow)
{
    if (flows_[flow].marked)
        return;
    flows_[flow].marked = true;
    marked_.push_back(flow);
}

std::uint32_t RippleSharing::add(std::uint32_t owner, ByteRate ceiling,
                                 std::span<const LinkUse> links)
{
    const std::uint32_t id = new_flow();
    Flow& flow = flows_[id];
    flow.ceiling = ceiling.value();
    flow.rate = 0;
    flow.owner = owner;
    flow.active = true;
    flow.uses.clear();
    for (const LinkUse& use : links) {
        if (use.coefficient == 0)
            continue;
        Link& link = links_[use.link.value];
        if (link.keeper != none)
            disturbed_.push_back(link.keeper);
        // A link met twice is one use with the sum of both.
        if (!link.users.empty() && link.users.back().flow == id) {
            flow.uses[link.users.back().use].coefficient += use.coefficient;
        } else {
            const auto place = static_cast<std::uint32_t>(link.users.size());
            link.users.push_back({id, static_cast<std::uint32_t>(flow.uses.size())});
            flow.uses.push_back({use.link.value, use.coefficient, place});
        }
        link.coefficients += use.coefficient;
        link.wanted += wanted_by(use.coefficient, flow.ceiling);
        if (candidate(link))
            note(use.link.value);
    }
    flow.limit = limit_of(flow);
    mark(id);
    return id;
}

void RippleSharing::remove(std::uint32_t id)
{
    Flow& flow = flows_[id];
    for (const Use& use : flow.uses) {
        Link& link = links_[use.link];
        if (candidate(link))
            note(use.link);
        link.coefficients -= use.coefficient;
        link.wanted -= wanted_by(use.coefficient, flow.ceiling);
        const User& moved = link.users[use.place] = link.users.back();
        flows_[moved.flow].uses[moved.use].place = use.place;
        link.users.pop_back();
    }
    if (watching_)
        add_load(flow, flow.rate, 0);
    flow.active = false;
    free_.push_back(id);
}

void RippleSharing::set_capacity(LinkId id, ByteRate capacity)
{
    Link& link = links_[id.value];
    const bool before = candidate(link);
    link.capacity = capacity.value();
    if (before || candidate(link))
        note(id.value);
    if (link.keeper != none)
        disturbed_.push_back(link.keeper);
}

bool RippleSharing::keep(std::uint32_t owner, std::span<const LinkUse> links)
{
    for (std::size_t i = 0; i < links.size(); ++i) {
        Link& link = links_[links[i].link.value];
        if (link.users.empty() && link.keeper == none) {
            link.keeper = owner;
            continue;
        }
        give_up(owner, links.first(i));
        return false;
    }
    return true;
}

void RippleSharing::give_up(std::uint32_t owner, std::span<const LinkUse> links)
{
    for (const LinkUse& use : links)
        if (links_[use.link.value].keeper == owner)
            links_[use.link.value].keeper = none;
}

bool RippleSharing::alone(std::uint32_t flow, std::span<const LinkUse> links) const
{
    return std::ranges::all_of(links, [&](const LinkUse& use) {
        const Link& link = links_[use.link.value];
        return link.keeper == none &&
               (link.users.empty() || (link.users.size() == 1 && link.users.front().flow == flow));
    });
}

ByteRate RippleSharing::rate_alone(ByteRate ceiling, std::span<const LinkUse> links) const
{
    u128 rate = ceiling.value();
    for (const LinkUse& use : links)
        if (use.coefficient > 0)
            rate = std::min(rate, (static_cast<u128>(links_[use.link.value].capacity) << 16) /
                                      use.coefficient);
    return ByteRate(static_cast<std::uint64_t>(rate));
}

void RippleSharing::note_kept(ByteRate rate, std::span<const LinkUse> links)
{
    if (!watching_)
        return;
    for (const LinkUse& use : links) {
        Link& link = links_[use.link.value];
        link.busiest = std::max(link.busiest, static_cast<u128>(use.coefficient) * rate.value());
    }
}

// The level at which a link is full when each user takes the lesser of the level and its demand.
std::uint64_t RippleSharing::water_level(std::uint32_t id)
{
    const Link& link = links_[id];
    if (!candidate(link))
        return unlimited;
    u128 left = static_cast<u128>(link.capacity) << 16;
    std::uint64_t wanting = link.coefficients;
    u128 share = left / wanting;
    asking_.clear();
    for (const User& user : link.users) {
        const std::uint64_t demand = demand_on(id, user.flow);
        const std::uint32_t coefficient = flows_[user.flow].uses[user.use].coefficient;
        if (demand >= share) {
            asking_.push_back({demand, coefficient});
        } else {
            left -= static_cast<u128>(demand) * coefficient;
            wanting -= coefficient;
        }
    }
    // Whoever wants less than the share has it; the share of the others grows.
    for (std::size_t before = link.users.size(); asking_.size() < before;) {
        if (asking_.empty())
            return unlimited;
        before = asking_.size();
        share = left / wanting;
        std::erase_if(asking_, [&](const Asking& user) {
            if (user.demand < share) {
                left -= static_cast<u128>(user.demand) * user.coefficient;
                wanting -= user.coefficient;
            }
            return user.demand < share;
        });
    }
    return share < unlimited ? static_cast<std::uint64_t>(share) : unlimited;
}

RippleSharing::Limit RippleSharing::limit_of(const Flow& flow) const
{
    Limit limit{flow.ceiling, unlimited, none};
    for (const Use& use : flow.uses) {
        const std::uint64_t level = links_[use.link].level;
        if (level < limit.least) {
            limit.second = limit.least;
            limit.least = level;
            limit.tightest = use.link;
        } else if (level < limit.second) {
            limit.second = level;
        }
    }
    return limit;
}

// Brings the limit of a user up to date with the new level of one of its links.
void RippleSharing::relimit(std::uint32_t id, std::uint32_t link, std::uint64_t old_level)
{
    Limit& limit = flows_[id].limit;
    const std::uint64_t level = links_[link].level;
    if (link == limit.tightest) {
        if (level <= limit.second)
            limit.least = level;
        else
            limit = limit_of(flows_[id]);
    } else if (level < limit.least) {
        limit = {level, limit.least, link};
    } else if (limit.tightest != none) {
        if (level < limit.second)
            limit.second = level;
        else if (old_level == limit.second && level > old_level)
            limit = limit_of(flows_[id]);
    }
}

void RippleSharing::note_others(const Flow& flow, std::uint32_t link)
{
    for (const Use& use : flow.uses)
        if (use.link != link && candidate(links_[use.link]))
            note(use.link);
}

// A link has a new level: whose rate it changes, and which links that can change in turn.
void RippleSharing::pass_on(std::uint32_t id, std::uint64_t old_level)
{
    const std::uint64_t lower = std::min(old_level, links_[id].level);
    for (const User& user : links_[id].users) {
        const bool matters = demand_on(id, user.flow) > lower;
        relimit(user.flow, id, old_level);
        if (!matters)
            continue;
        mark(user.flow);
        note_others(flows_[user.flow], id);
    }
}

std::span<const RateChange> RippleSharing::settle()
{
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        const std::uint32_t id = queue_[i];
        Link& link = links_[id];
        link.queued = false;
        const std::uint64_t old_level = link.level;
        link.level = water_level(id);
        if (link.level != old_level)
            pass_on(id, old_level);
    }
    queue_.clear();
    changes_.clear();
    for (const std::uint32_t id : marked_) {
        Flow& flow = flows_[id];
        flow.marked = false;
        const std::uint64_t rate = flow.limit.least;
        if (!flow.active || rate == flow.rate)
            continue;
        if (watching_)
            add_load(flow, flow.rate, rate);
        flow.rate = rate;
        changes_.push_back({flow.owner, ByteRate(rate)});
    }
    marked_.clear();
    return changes_;
}

void RippleSharing::add_load(const Flow& flow, std::uint64_t old_rate, std::uint64_t new_rate)
{
    for (const Use& use : flow.uses) {
        Link& link = links_[use.link];
        link.load += static_cast<u128>(use.coefficient) * new_rate;
        link.load -= static_cast<u128>(use.coefficient) * old_rate;
        if (!link.load_changed) {
            link.load_changed = true;
            changed_loads_.push_back(use.link);
        }
    }
}

void RippleSharing::note_loads()
{
    for (const std::uint32_t id : changed_loads_) {
        Link& link = links_[id];
        link.busiest = std::max(link.busiest, link.load);
        link.load_changed = false;
    }
    changed_loads_.clear();
}

void RippleSharing::watch_loads()
{
    watching_ = true;
    for (const Flow& flow : flows_)
        if (flow.active)
            add_load(flow, 0, flow.rate);
}

double RippleSharing::busiest_share(LinkId link) const
{
    return load_share(links_[link.value].busiest, at_start_[link.value]);
}

} // namespace trainyard::engine

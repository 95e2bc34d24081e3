#include "sim/engine/sharing.h"

#include <algorithm>
#include <numeric>

namespace trainyard::engine {

void FairSharing::prepare(std::span<const Demand> demands)
{
    for (const std::uint32_t link : touched_)
        links_[link] = Filling{};
    touched_.clear();
    for (const Demand& demand : demands)
        for (const LinkUse& use : demand.links) {
            if (use.coefficient == 0)
                continue;
            Filling& link = links_[use.link.value];
            if (!link.touched) {
                link.touched = true;
                link.left = static_cast<u128>(capacities_[use.link.value].value()) << 16;
                touched_.push_back(use.link.value);
            }
            link.wanting += use.coefficient;
            ++link.user_count;
        }
    for (const std::uint32_t link : touched_)
        if (links_[link].wanting > 0)
            links_[link].share = links_[link].left / links_[link].wanting;
    open_ = touched_;
    list_users(demands);
    by_ceiling_.resize(demands.size());
    std::iota(by_ceiling_.begin(), by_ceiling_.end(), 0U);
    std::sort(by_ceiling_.begin(), by_ceiling_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return demands[a].ceiling < demands[b].ceiling;
    });
    next_ceiling_ = 0;
    fixed_.assign(demands.size(), 0);
    rates_.assign(demands.size(), ByteRate(0));
}

void FairSharing::list_users(std::span<const Demand> demands)
{
    std::uint32_t first = 0;
    for (const std::uint32_t link : touched_) {
        links_[link].user_first = first;
        first += links_[link].user_count;
        links_[link].user_count = 0;
    }
    users_.resize(first);
    for (std::uint32_t d = 0; d < demands.size(); ++d)
        for (const LinkUse& use : demands[d].links) {
            if (use.coefficient == 0)
                continue;
            Filling& link = links_[use.link.value];
            users_[link.user_first + link.user_count++] = d;
        }
}

// What the tightest link still in demand offers; without any, more than any ceiling.
u128 FairSharing::least_share()
{
    u128 least = ~u128{0};
    std::size_t kept = 0;
    for (const std::uint32_t id : open_) {
        if (links_[id].wanting == 0)
            continue;
        open_[kept++] = id;
        least = std::min(least, links_[id].share);
    }
    open_.resize(kept);
    return least;
}

void FairSharing::collect(std::uint32_t demand)
{
    if (fixed_[demand] != 0)
        return;
    fixed_[demand] = 1;
    collected_.push_back(demand);
}

// The demands whose ceiling is below the share.
void FairSharing::collect_small(std::span<const Demand> demands, u128 share)
{
    while (next_ceiling_ < by_ceiling_.size() &&
           demands[by_ceiling_[next_ceiling_]].ceiling.value() < share)
        collect(by_ceiling_[next_ceiling_++]);
}

// The users of all links that offer just the share.
void FairSharing::collect_tight(u128 share)
{
    for (const std::uint32_t id : open_)
        if (links_[id].share == share)
            for (std::uint32_t i = 0; i < links_[id].user_count; ++i)
                collect(users_[links_[id].user_first + i]);
}

// Fixes them at the lesser of ceiling and share; all were chosen before any takes its part away.
void FairSharing::fix_collected(std::span<const Demand> demands, u128 share)
{
    for (const std::uint32_t d : collected_) {
        const u128 rate = std::min(share, u128{demands[d].ceiling.value()});
        rates_[d] = ByteRate(static_cast<std::uint64_t>(rate));
        for (const LinkUse& use : demands[d].links) {
            Filling& link = links_[use.link.value];
            link.left -= use.coefficient * rate;
            link.used += use.coefficient * rate;
            link.wanting -= use.coefficient;
        }
    }
    for (const std::uint32_t d : collected_)
        for (const LinkUse& use : demands[d].links) {
            Filling& link = links_[use.link.value];
            if (link.wanting > 0)
                link.share = link.left / link.wanting;
        }
    collected_.clear();
}

const std::vector<ByteRate>& FairSharing::solve(std::span<const Demand> demands)
{
    prepare(demands);
    for (std::size_t fixed = 0; fixed < demands.size();) {
        const u128 share = least_share();
        collect_small(demands, share);
        if (collected_.empty())
            collect_tight(share);
        fixed += collected_.size();
        fix_collected(demands, share);
    }
    return rates_;
}

} // namespace trainyard::engine

#include "sim/engine/sharing.h"

#include <algorithm>

namespace trainyard::engine {

u128 FairSharing::load(LinkId link) const
{
    return link.value < links_.size() ? links_[link.value].used : 0;
}

void FairSharing::prepare(std::span<const Demand> demands)
{
    links_.resize(capacities_.size());
    for (const LinkId link : touched_)
        links_[link.value] = Filling{};
    touched_.clear();
    open_.clear();
    rates_.assign(demands.size(), ByteRate(0));
    for (std::size_t d = 0; d < demands.size(); ++d) {
        open_.push_back(static_cast<std::uint32_t>(d));
        for (const LinkUse& use : demands[d].links) {
            Filling& link = links_[use.link.value];
            if (!link.touched) {
                link.touched = true;
                link.left = static_cast<u128>(capacities_[use.link.value].value()) << 16;
                touched_.push_back(use.link);
            }
            link.wanting += use.coefficient;
        }
    }
}

// What the tightest link still in demand offers.
u128 FairSharing::least_share() const
{
    u128 least = ~u128{0};
    for (const LinkId id : touched_) {
        const Filling& link = links_[id.value];
        if (link.wanting > 0)
            least = std::min(least, link.left / link.wanting);
    }
    return least;
}

bool FairSharing::on_tightest_link(const Demand& demand, u128 share) const
{
    return std::any_of(demand.links.begin(), demand.links.end(), [&](const LinkUse& use) {
        const Filling& link = links_[use.link.value];
        return use.coefficient > 0 && link.left / link.wanting == share;
    });
}

// Fixes the open demands chosen, each at the lesser of ceiling and share; only then takes what they
// use away. False if none was chosen.
template <class IsFixed>
bool FairSharing::fix(std::span<const Demand> demands, u128 share, const IsFixed& is_fixed)
{
    fixed_.clear();
    std::size_t kept = 0;
    for (const std::uint32_t d : open_) {
        if (is_fixed(demands[d]))
            fixed_.push_back(d);
        else
            open_[kept++] = d;
    }
    open_.resize(kept);
    for (const std::uint32_t d : fixed_) {
        const u128 rate = std::min(share, u128{demands[d].ceiling.value()});
        rates_[d] = ByteRate(static_cast<std::uint64_t>(rate));
        for (const LinkUse& use : demands[d].links) {
            Filling& link = links_[use.link.value];
            link.left -= use.coefficient * rate;
            link.used += use.coefficient * rate;
            link.wanting -= use.coefficient;
        }
    }
    return !fixed_.empty();
}

const std::vector<ByteRate>& FairSharing::solve(std::span<const Demand> demands)
{
    prepare(demands);
    while (!open_.empty()) {
        const u128 share = least_share();
        const auto small = [&](const Demand& demand) { return demand.ceiling.value() < share; };
        const auto tight = [&](const Demand& demand) { return on_tightest_link(demand, share); };
        if (!fix(demands, share, small))
            fix(demands, share, tight);
    }
    return rates_;
}

} // namespace trainyard::engine

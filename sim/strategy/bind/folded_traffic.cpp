#include "sim/strategy/bind/folded_traffic.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace trainyard {

namespace {

class Folder {
public:
    Folder(const RankTraffic& traffic, const Neighbourhood& neighbourhood,
           const RankClasses& classes)
        : traffic_(traffic), neighbourhood_(neighbourhood), classes_(classes)
    {}

    std::optional<RankTraffic> fold()
    {
        RankTraffic out{traffic_.capacities, traffic_.kinds, {}, {}, {}};
        std::ranges::copy_if(traffic_.windows, std::back_inserter(out.windows),
                             [&](const LinkWindow& window) { return is_first(window.link); });
        const std::vector<std::uint32_t>& of_groups = classes_.group_class;
        out.groups.resize(of_groups.empty() ? 0 : std::ranges::max(of_groups) + std::size_t{1});
        for (std::size_t g = 0; g < of_groups.size(); ++g) {
            Group& group = out.groups[of_groups[g]];
            group.kind = traffic_.groups[g].kind;
            for (const auto uses :
                 {&Group::ring, &Group::tree, &Group::nvls, &Group::all_to_all, &Group::neighbours})
                append(traffic_.groups[g].*uses, group.*uses);
        }
        fold_rings(out.groups);
        for (Group& group : out.groups)
            for (const auto uses :
                 {&Group::ring, &Group::tree, &Group::nvls, &Group::all_to_all, &Group::neighbours})
                add_up(group.*uses);
        if (!traffic_.messages.empty())
            fold_messages(out);
        return too_much_ ? std::nullopt : std::optional(std::move(out));
    }

private:
    bool is_first(LinkId link) const { return classes_.link_of[link.value] == link; }

    void fold_rings(std::vector<Group>& folded)
    {
        std::vector<std::map<LaneId, std::vector<LinkUse>>> hops(folded.size()); // by class
        for (std::size_t g = 0; g < traffic_.groups.size(); ++g) {
            const Ways& ways = traffic_.groups[g].ring_hops;
            const std::vector<RankId>& members = neighbourhood_.groups[g].members;
            const std::uint32_t of = classes_.group_class[g];
            const bool is_new = hops[of].empty();
            for (std::size_t i = 0; i < ways.size(); ++i) {
                const LaneId lane{classes_.class_of[members[i].value]};
                const auto [at, first] = hops[of].try_emplace(lane);
                append(ways[i], at->second);
                if (is_new && first)
                    folded[of].members.push_back(lane);
            }
        }
        for (std::size_t of = 0; of < folded.size(); ++of)
            for (const LaneId lane : folded[of].members) {
                std::vector<LinkUse>& uses = hops[of].at(lane);
                add_up(uses);
                folded[of].ring_hops.add(uses);
            }
    }

    void fold_messages(RankTraffic& out)
    {
        out.messages.resize(classes_.count());
        for (std::size_t rank = 0; rank < traffic_.messages.size(); ++rank) {
            std::vector<std::vector<LinkUse>>& sum = out.messages[classes_.class_of[rank]];
            sum.resize(traffic_.messages[rank].size());
            for (std::size_t slot = 0; slot < sum.size(); ++slot)
                append(traffic_.messages[rank][slot], sum[slot]);
        }
        for (std::vector<std::vector<LinkUse>>& of_class : out.messages)
            for (std::vector<LinkUse>& uses : of_class)
                add_up(uses);
    }

    void append(std::span<const LinkUse> uses, std::vector<LinkUse>& sum) const
    {
        std::ranges::copy_if(uses, std::back_inserter(sum),
                             [&](const LinkUse& use) { return is_first(use.link); });
    }

    void add_up(std::vector<LinkUse>& uses)
    {
        std::ranges::sort(uses, {}, &LinkUse::link);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < uses.size(); ++kept) {
            const LinkId link = uses[i].link;
            std::uint64_t sum = 0;
            for (; i < uses.size() && uses[i].link == link; ++i)
                sum += uses[i].coefficient;
            too_much_ = too_much_ || sum > std::numeric_limits<std::uint32_t>::max();
            uses[kept] = {link, static_cast<std::uint32_t>(sum)};
        }
        uses.resize(kept);
    }

    const RankTraffic& traffic_;
    const Neighbourhood& neighbourhood_;
    const RankClasses& classes_;
    bool too_much_ = false;
};

} // namespace

std::optional<RankTraffic> folded_traffic(const RankTraffic& traffic,
                                          const Neighbourhood& neighbourhood,
                                          const RankClasses& classes)
{
    return Folder(traffic, neighbourhood, classes).fold();
}

} // namespace trainyard

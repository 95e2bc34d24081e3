#include "sim/strategy/bind/link_users.h"

#include "sim/strategy/bind/colouring.h"

#include <algorithm>
#include <bit>

namespace trainyard {

namespace {

using Word = std::uint32_t;

std::size_t place_in(const RankGroup& group, std::size_t rank)
{
    return static_cast<std::size_t>(std::ranges::lower_bound(group.members, make_id<RankId>(rank)) -
                                    group.members.begin());
}

} // namespace

std::uint64_t mixed(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t hash = (a + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL ^ std::rotl(b, 29);
    hash = (hash ^ (hash >> 30)) * 0x94d049bb133111ebULL;
    return hash ^ (hash >> 31);
}

std::vector<Word> link_colours(const RankTraffic& traffic)
{
    std::vector<std::vector<Word>> rows(traffic.capacities.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::uint64_t capacity = traffic.capacities[i].value();
        rows[i] = {static_cast<Word>(capacity >> 32), static_cast<Word>(capacity),
                   static_cast<Word>(traffic.kinds[i])};
    }
    for (const LinkWindow& window : traffic.windows)
        for (const std::uint64_t part :
             {static_cast<std::uint64_t>(window.begin.value()),
              static_cast<std::uint64_t>(window.end.value()), window.capacity.value()})
        {
            rows[window.link.value].push_back(static_cast<Word>(part >> 32));
            rows[window.link.value].push_back(static_cast<Word>(part));
        }
    RowTable table(rows.size() / 8);
    std::vector<Word> colours;
    for (const std::vector<Word>& row : rows)
        colours.push_back(table.number(row));
    return colours;
}

LinkUsers::LinkUsers(const RankTraffic& traffic, const Neighbourhood& neighbourhood)
    : groups_(static_cast<std::uint32_t>(traffic.groups.size())),
      first_send_(neighbourhood.role.size() + 1, groups_)
{
    for (const Group& group : traffic.groups) {
        for (const std::vector<LinkUse>* const uses :
             {&group.ring, &group.tree, &group.nvls, &group.all_to_all, &group.neighbours})
        {
            ++pattern_;
            add(*uses);
        }
        pattern_ = 0;
        end_user();
    }
    for (std::size_t rank = 0; rank < neighbourhood.role.size(); ++rank) {
        if (!traffic.messages.empty())
            for (const std::vector<LinkUse>& message : traffic.messages[rank]) {
                add(message);
                end_user();
            }
        for (const auto& group_of : neighbourhood.group_of)
            if (const std::uint32_t g = group_of[rank];
                g != no_group && !traffic.groups[g].ring_hops.empty()) {
                add(traffic.groups[g].ring_hops[place_in(neighbourhood.groups[g], rank)]);
                end_user();
            }
        first_send_[rank + 1] = static_cast<std::uint32_t>(end_of_user_.size());
    }
    turn_around(traffic.capacities.size());
}

void LinkUsers::add(std::span<const LinkUse> uses)
{
    for (const LinkUse& use : uses)
        of_user_.push_back({use.link.value, mixed(use.coefficient, pattern_)});
}

void LinkUsers::turn_around(std::size_t links)
{
    std::vector<std::size_t> place(links + 1, 0);
    for (const Edge& edge : of_user_)
        ++place[edge.to + 1];
    for (std::size_t link = 0; link < links; ++link)
        place[link + 1] += place[link];
    end_of_link_.assign(place.begin() + 1, place.end());
    of_link_.resize(of_user_.size());
    for (std::uint32_t user = 0; user < end_of_user_.size(); ++user)
        for (const Edge& edge : links_of(user))
            of_link_[place[edge.to]++] = {user, edge.weight};
}

} // namespace trainyard

#include "calibrate/measure/plan/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace trainyard {
namespace {

// World ranks by host, hosts in the order of their first rank.
std::vector<std::vector<int>> by_host(std::span<const std::string> hosts)
{
    std::map<std::string, std::size_t> place;
    std::vector<std::vector<int>> out;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto [found, is_new] = place.emplace(hosts[rank], out.size());
        if (is_new)
            out.emplace_back();
        out[found->second].push_back(static_cast<int>(rank));
    }
    return out;
}

class GroupList {
public:
    // Groups of one rank and those that are there already are left out.
    void add(std::string name, std::vector<int> members)
    {
        const auto same = [&](const GroupSpec& spec) { return spec.members == members; };
        if (members.size() > 1 && std::none_of(groups_.begin(), groups_.end(), same))
            groups_.push_back({std::move(name), std::move(members), "auto", "auto"});
    }

    std::vector<GroupSpec> take() { return std::move(groups_); }

private:
    std::vector<GroupSpec> groups_;
};

// 2, 4, 8, ... and `most` itself.
std::vector<std::size_t> doublings(std::size_t most)
{
    std::vector<std::size_t> out;
    for (std::size_t n = 2; n < most; n *= 2)
        out.push_back(n);
    if (most > 1)
        out.push_back(most);
    return out;
}

} // namespace

std::vector<GroupSpec> groups_of(std::span<const std::string> hosts)
{
    const std::vector<std::vector<int>> nodes = by_host(hosts);
    GroupList out;
    if (nodes.empty())
        return {};
    const std::vector<int>& first = nodes.front();
    for (const std::size_t n : doublings(first.size()))
        out.add(n == first.size() ? fmt::format("one node, {} ranks", n)
                                  : fmt::format("{} ranks of a node", n),
                {first.begin(), first.begin() + static_cast<std::ptrdiff_t>(n)});
    if (first.size() >= 4) {
        std::vector<int> strided;
        for (std::size_t i = 0; i < first.size(); i += 2)
            strided.push_back(first[i]);
        out.add("every second rank of a node", std::move(strided));
    }
    for (const std::size_t n : doublings(nodes.size())) {
        std::vector<int> whole;
        std::vector<int> one_each;
        for (std::size_t i = 0; i < n; ++i) {
            whole.insert(whole.end(), nodes[i].begin(), nodes[i].end());
            one_each.push_back(nodes[i].front());
        }
        out.add(fmt::format("{} nodes, one rank of each", n), std::move(one_each));
        out.add(fmt::format("{} nodes, {} ranks", n, whole.size()), std::move(whole));
    }
    return out.take();
}

} // namespace trainyard

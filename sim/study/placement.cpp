#include "sim/study/placement.h"

#include "sim/base/diagnostic.h"
#include "sim/strategy/rank_layout.h"
#include "sim/topology/topology_model.h"
#include "sim/topology/used_devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

struct Straddling {
    int groups = 0; // of that kind, of several ranks
    int split = 0;  // of them, over two domains or more
};

Straddling straddling(const RankLayout& layout, GroupKind kind, const Topology& topology)
{
    const auto domain_of = [&](RankId rank) {
        return topology.model().placement(DeviceId{rank.value}).domain;
    };
    Straddling out;
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(layout.world()); ++r) {
        const std::vector<RankId> members = layout.members(kind, RankId{r});
        if (members.front() != RankId{r})
            continue;
        ++out.groups;
        out.split += std::ranges::any_of(members, [&](RankId member) {
            return domain_of(member) != domain_of(members.front());
        });
    }
    return out;
}

std::string remedy(int best, int world, int domains)
{
    const int needed = (world + best - 1) / best;
    return needed <= domains
               ? fmt::format("strategy.gpus_per_domain {} keeps each inside one", best)
               : fmt::format("strategy.gpus_per_domain {} keeps each inside one, on {} domains; "
                             "there are {}",
                             best, needed, domains);
}

} // namespace

std::shared_ptr<const Topology> used_part(const std::shared_ptr<const Topology>& cluster,
                                          const Strategy& strategy)
{
    if (strategy.gpus_per_domain == 0)
        return cluster;
    return std::make_shared<const Topology>(std::make_shared<UsedDevicesModel>(
        std::shared_ptr<const TopologyModel>(cluster, &cluster->model()),
        strategy.gpus_per_domain));
}

Problems placement_misfits(const Strategy& strategy, const Topology& cluster)
{
    const int most = strategy.gpus_per_domain == 0 ? 0 : largest_domain(cluster);
    if (strategy.gpus_per_domain <= most)
        return {};
    return {{"", 0, "/strategy/gpus_per_domain",
             fmt::format("the NVLink domains of the topology have {} GPUs", most),
             fmt::format("1 to {}, or 0 for all", most), Severity::error}};
}

Problems placement_notes(const Job& job, const Topology& topology)
{
    if (topology.domain_count() == 1)
        return {};
    const RankLayout layout(job);
    const int domain = largest_domain(topology);
    Problems notes;
    for (const auto& [kind, name] : {std::pair(GroupKind::tp, "tp"), std::pair(GroupKind::cp, "cp"),
                                     std::pair(GroupKind::ep, "ep")})
    {
        const std::vector<RankId> first = layout.members(kind, RankId{0});
        // Ranks from the first to the last member, among which other groups lie.
        const int extent = static_cast<int>(first.back().value - first.front().value) + 1;
        if (first.size() == 1 || extent > domain || domain % extent == 0)
            continue;
        const Straddling found = straddling(layout, kind, topology);
        if (found.split > 0)
            notes.push_back({"", 0, fmt::format("/strategy/{}", name),
                             fmt::format("{} of {} groups of {} {} ranks lie in two NVLink domains "
                                         "of {} GPUs",
                                         found.split, found.groups, first.size(), name, domain),
                             remedy(domain / extent * extent, job.world(), topology.domain_count()),
                             Severity::warning});
    }
    return notes;
}

Problems idle_devices_note(const Job& job, int devices)
{
    const int idle = devices - job.world();
    if (idle <= 0)
        return {};
    const bool by_domain = job.strategy.gpus_per_domain > 0;
    return {{"", 0, by_domain ? "/strategy/gpus_per_domain" : "/strategy/dp",
             fmt::format("{} of the {} devices of the topology {} idle", idle, devices,
                         idle == 1 ? "is" : "are"),
             by_domain ? "0 uses all, where the sizes of groups divide them"
                       : "leave dp out to use all, where tp x cp x pp divides them",
             Severity::warning}};
}

} // namespace trainyard

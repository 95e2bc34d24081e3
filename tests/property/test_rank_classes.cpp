// Colour refinement against the plain one, which looks at every rank in every round.

#include "sim/strategy/bind/classes.h"
#include "tests/catch.h"
#include "tests/support/random_jobs.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>
#include <map>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

using Colours = std::vector<std::uint32_t>;
using Signature = std::vector<std::uint32_t>;

// Numbered in the order in which they come.
Colours numbered(const std::vector<Signature>& signatures)
{
    std::map<Signature, std::uint32_t> numbers;
    Colours out;
    for (const Signature& signature : signatures)
        out.push_back(
            numbers.emplace(signature, static_cast<std::uint32_t>(numbers.size())).first->second);
    return out;
}

Colours refined_once(const Neighbourhood& n, const Colours& colour)
{
    std::vector<Signature> of_groups;
    for (const RankGroup& group : n.groups) {
        Signature colours;
        for (const RankId member : group.members)
            colours.push_back(colour[member.value]);
        std::ranges::sort(colours);
        colours.erase(std::unique(colours.begin(), colours.end()), colours.end());
        colours.push_back(group.shape);
        colours.push_back(static_cast<std::uint32_t>(group.slot));
        of_groups.push_back(std::move(colours));
    }
    const Colours groups = numbered(of_groups);
    std::vector<Signature> signatures(colour.size());
    for (std::size_t rank = 0; rank < colour.size(); ++rank) {
        signatures[rank].push_back(colour[rank]);
        for (const auto& group_of : n.group_of)
            signatures[rank].push_back(group_of[rank] == no_group ? no_group
                                                                  : groups[group_of[rank]]);
        if (!n.peers.empty())
            for (const RankPeer& peer : n.peers[rank]) {
                signatures[rank].push_back(peer.shape);
                signatures[rank].push_back(colour[peer.rank.value]);
            }
    }
    return numbered(signatures);
}

Colours refined(const Neighbourhood& n, Colours colour)
{
    for (std::size_t before = 0;;) {
        colour = refined_once(n, colour);
        const std::size_t now = *std::ranges::max_element(colour) + std::size_t{1};
        if (now == before)
            return colour;
        before = now;
    }
}

} // namespace

TEST_CASE("classes of ranks are those of a refinement that looks at every rank in every round")
{
    const Topology cluster = cluster_for_random_jobs();
    Random random(72);
    int split = 0;
    const Draws draws{.seed = 71, .jobs = 300};
    each_job(draws, random_plain_request, [&](const JobRequest&, const Job& job) {
        const Plan plan = make_plan(job);
        const Neighbourhood near = neighbourhood(plan.program, job, cluster, FabricLimit::costs);
        Colours colour;
        for (const RoleId role : near.role)
            colour.push_back(role.value);
        const std::uint32_t roles = *std::ranges::max_element(colour) + 1;
        for (std::int64_t i = random.integer(0, 4); i > 0; --i)
            colour[static_cast<std::size_t>(random.integer(0, job.world() - 1))] +=
                roles * static_cast<std::uint32_t>(random.integer(0, 2));
        const RankClasses classes = alike_ranks(near, colour);
        REQUIRE(classes.class_of == refined(near, colour));
        split += classes.count() > roles;
        for (std::size_t c = 0; c < classes.count(); ++c) {
            const auto first = std::ranges::find(classes.class_of, c);
            REQUIRE(classes.first[c].value == first - classes.class_of.begin());
            REQUIRE(classes.size[c] == std::ranges::count(classes.class_of, c));
        }
    });
    CHECK(split > 100);
}

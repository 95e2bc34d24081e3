// Laws of what perturbed links leave, and of what it costs.

#include "sim/base/build_info.h"
#include "sim/strategy/bind/link_health.h"
#include "sim/study/session.h"
#include "tests/catch.h"
#include "tests/support/cluster_text.h"

using namespace trainyard;
using Catch::Matchers::WithinRel;

namespace {

Topology h100_nodes(int nodes)
{
    return testing::topology_of(
        R"({"format": "trainyard.topology/1", "generator": "cluster", "name": "h100", "nodes": )" +
        std::to_string(nodes) +
        R"(, "node": "dgx-h100",
        "fabric": {"kind": "rail", "network": "ib_ndr"}})");
}

Topology worse(const Topology& sound, const Perturbation& perturbation)
{
    return *perturbed_topology(std::make_shared<const Topology>(sound), {perturbation}, 1);
}

Perturbation of_link(const std::string& name)
{
    Perturbation p;
    p.link = name;
    return p;
}

// Data-parallel groups of a TP 8 job: one member per node, a group per rail.
std::vector<std::vector<RingHop>> rails(const Topology& topology, std::uint32_t nodes)
{
    std::vector<std::vector<RingHop>> ways;
    for (std::uint32_t rail = 0; rail < 8; ++rail) {
        std::vector<RankId> members;
        for (std::uint32_t node = 0; node < nodes; ++node)
            members.push_back(RankId{node * 8 + rail});
        ways.push_back(ring_hops(members, topology));
    }
    return ways;
}

} // namespace

TEST_CASE("a sound cluster is healthy")
{
    const Topology t = h100_nodes(4);
    for (const LinkHealth& health : health_of(rails(t, 4), t, Together::siblings))
        CHECK(health == LinkHealth{});
}

TEST_CASE("a NIC at half its rate halves the rail that uses it, and no other")
{
    const Topology sound = h100_nodes(4);
    Perturbation half = of_link("node1/nic3");
    half.bandwidth = 0.5;
    const Topology t = worse(sound, half);
    const auto health = health_of(rails(sound, 4), t, Together::siblings);
    for (std::size_t rail = 0; rail < 8; ++rail)
        CHECK_THAT(health[rail].across, WithinRel(rail == 3 ? 0.5 : 1.0, 1e-12));
}

TEST_CASE("seven NICs do the work of eight")
{
    const Topology sound = h100_nodes(4);
    Perturbation dead = of_link("node1/nic3");
    dead.dead = true;
    const Topology t = worse(sound, dead);
    // The dead one's traffic spreads over seven: each carries 1 + 1/7, so all take 8/7 as long.
    for (const LinkHealth& health : health_of(rails(sound, 4), t, Together::siblings))
        CHECK_THAT(health.across, WithinRel(7.0 / 8.0, 1e-9));
}

TEST_CASE("longer links delay a ring by their mean over its hops")
{
    const Topology sound = h100_nodes(4);
    Perturbation longer = of_link("node1/nic3 out");
    longer.latency = Seconds(8e-6);
    const Topology t = worse(sound, longer);
    const auto health = health_of(rails(sound, 4), t, Together::siblings);
    // One of the four hops of rail 3.
    CHECK_THAT(health[3].across_latency.value(), WithinRel(2e-6, 1e-9));
    CHECK(health[0] == LinkHealth{});
}

TEST_CASE("a collective over a worse link takes longer, never less")
{
    Scenario any;
    any.model = {"llama-2-7b", {}};
    any.topology = {"h100-8x8-ndr400", {}};
    any.training.global_batch = 64;
    any.strategy.dp = 64;
    Session session;
    const Checked<Outcome> outcome =
        session.simulate(scenario_in_memory(std::move(any), data_dir() / "scenarios", "test"));
    REQUIRE(outcome);
    const std::vector<DeviceId> members{DeviceId{0}, DeviceId{8}, DeviceId{16}, DeviceId{24}};
    const GroupShape sound = group_shape(*outcome->topology, members);
    const auto timed = [&](CollectiveKind kind, Bytes size, const LinkHealth& health) {
        GroupShape shape = sound;
        shape.health = health;
        return outcome->cost->collective(kind, size, shape, Backend::nccl);
    };
    for (const Bytes size : {Bytes(1024), Bytes(1 << 20), Bytes(1 << 30)})
        for (const CollectiveKind kind :
             {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all})
        {
            const TransferTime usual = timed(kind, size, {});
            Seconds last = usual.total;
            LinkHealth health;
            for (const double across : {0.9, 0.5, 0.1}) {
                health.across = across;
                const Seconds now = timed(kind, size, health).total;
                CHECK(now >= last);
                last = now;
            }
            if (size == Bytes(1 << 30)) // next to nothing but bandwidth
                CHECK_THAT(last / usual.total, WithinRel(10.0, 0.05));
            LinkHealth longer;
            longer.across_latency = Seconds(1e-5);
            CHECK(timed(kind, size, longer).latency > usual.latency);
        }
}

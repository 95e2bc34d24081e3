// Numbers of plans on clusters.

#include "sim/strategy/bind/costs.h"
#include "tests/catch.h"
#include "tests/support/cluster_text.h"
#include "tests/support/flaws.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>
#include <set>

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

Strategy three_dimensional()
{
    Strategy strategy;
    strategy.tp = 4;
    strategy.pp = 2;
    strategy.dp = 4;
    return strategy;
}

BindOptions with_links(LinkDetail detail = LinkDetail::sums)
{
    BindOptions options;
    options.links = detail;
    return options;
}

const Group& group_of(const Binding& binding, std::size_t lane, GroupKind kind)
{
    for (const GroupId id : binding.lanes[lane].groups)
        if (id.valid() && binding.groups[id.value].kind == kind)
            return binding.groups[id.value];
    FAIL("no such group");
    return binding.groups.front();
}

// Bytes that leave a device over links of a kind, per byte leaving the busiest member.
double share_over(const Topology& topology, const std::vector<LinkUse>& uses, LinkKind kind)
{
    double sum = 0;
    for (const LinkUse& use : uses)
        if (topology.link(use.link).kind == kind)
            sum += use.coefficient / 65536.0;
    return sum;
}

} // namespace

TEST_CASE("a transfer alone takes exactly T(S), a share of it that share")
{
    const TransferTime time{.latency = Seconds(12e-6),
                            .total = Seconds(345.678901e-6),
                            .wire_bytes = 1.75 * 64 * 1024 * 1024,
                            .sm_share = 0.1,
                            .traffic_share = 0.5};
    for (const double share : {1.0, 0.47, 0.53}) {
        const TransferCost cost = transfer_cost(time, {.bytes = 64_MiB, .share = share});
        CHECK(cost.latency + time_to_finish(cost.work, cost.ceiling) ==
              to_sim_time(time.total * share));
        CHECK(cost.bytes == scaled(64_MiB, share));
        CHECK(cost.sm_share == full_share / 10 + 1);
        CHECK(cost.traffic_share == full_share / 2);
    }
}

TEST_CASE("the hidden part of a fused collective takes nothing from compute")
{
    const TransferTime time{.latency = Seconds(1e-6),
                            .total = Seconds(2e-6),
                            .wire_bytes = 1e6,
                            .sm_share = 0.1,
                            .traffic_share = 0.5};
    const TransferCost none = transfer_cost(time, {.interference = Interference::none});
    CHECK(none.sm_share + none.traffic_share == 0);
    const TransferCost kernel = transfer_cost(time, {.interference = Interference::kernel});
    CHECK(kernel.sm_share > 0);
    CHECK(kernel.traffic_share == 0);
}

TEST_CASE("groups of one shape share their costs, others have their own")
{
    // TP 4 and DP 4 x CP 1: TP inside nodes, DP over two nodes for each of the stages.
    const Job job = job_of(small_decoder(), three_dimensional(), training_of(16));
    const Plan plan = make_plan(job);
    const Binding binding = bind(plan, job, h100_nodes(4), h100_costs(), {});
    std::set<std::uint32_t> tp;
    std::set<std::uint32_t> dp;
    for (const Group& group : binding.groups) {
        if (group.kind == GroupKind::tp)
            tp.insert(group.variant);
        if (group.kind == GroupKind::dp)
            dp.insert(group.variant);
    }
    CHECK(tp.size() == 1);
    CHECK(dp.size() == 1);
    CHECK(*tp.begin() != *dp.begin());
}

TEST_CASE("each rank is in one group of a kind and its group knows it")
{
    const Job job = job_of(small_decoder(), three_dimensional(), training_of(16));
    const Binding binding = bind(make_plan(job), job, h100_nodes(4), h100_costs(), {});
    REQUIRE(binding.lanes.size() == 32);
    for (std::size_t lane = 0; lane < binding.lanes.size(); ++lane) {
        CHECK(binding.lanes[lane].rank == make_id<RankId>(lane));
        const Group& tp = group_of(binding, lane, GroupKind::tp);
        CHECK(tp.members.size() == 4);
        CHECK(std::ranges::count(tp.members, make_id<LaneId>(lane)) == 1);
    }
}

TEST_CASE("identical replicas fold to one lane per stage")
{
    Strategy strategy = three_dimensional();
    strategy.tp = 8;
    const Job job = job_of(small_decoder(), strategy, training_of(16));
    BindOptions options;
    options.folding = Folding::replicas;
    const Binding binding = bind(make_plan(job), job, h100_nodes(8), h100_costs(), options);
    REQUIRE(binding.lanes.size() == 2);
    CHECK(binding.lanes[0].multiplicity == 32);
    CHECK(binding.lanes[1].multiplicity == 32);
    const Group& tp = group_of(binding, 0, GroupKind::tp);
    CHECK(tp.members.size() == 1);
    CHECK(tp.ranks == 8);
}

TEST_CASE("replicas fold over shared links, and these carry what they did")
{
    Strategy strategy = three_dimensional();
    strategy.tp = 8;
    const Job job = job_of(small_decoder(), strategy, training_of(16));
    const Topology topology = h100_nodes(8);
    for (const LinkDetail detail : {LinkDetail::sums, LinkDetail::hops}) {
        BindOptions options = with_links(detail);
        const Binding all = bind(make_plan(job), job, topology, h100_costs(), options);
        options.folding = Folding::replicas;
        const Binding few = bind(make_plan(job), job, topology, h100_costs(), options);
        REQUIRE(few.lanes.size() == 2);
        REQUIRE(few.link_of.size() == topology.link_count());
        CHECK(group_of(few, 0, GroupKind::tp).copies == 4);
        const auto carried = [&](const Binding& binding) {
            std::vector<std::uint64_t> sums(topology.link_count());
            const auto add = [&](const std::vector<LinkUse>& uses) {
                for (const LinkUse& use : uses)
                    sums[use.link.value] += use.coefficient;
            };
            for (const Group& group : binding.groups)
                for (const auto uses : {&Group::ring, &Group::tree, &Group::nvls})
                    add(group.*uses);
            for (const Lane& lane : binding.lanes)
                for (const Peer& peer : lane.peers)
                    add(peer.links);
            return sums;
        };
        const std::vector<std::uint64_t> before = carried(all);
        const std::vector<std::uint64_t> after = carried(few);
        CHECK(std::ranges::count_if(after, [](std::uint64_t sum) { return sum > 0; }) > 3);
        for (std::size_t link = 0; link < before.size(); ++link)
            REQUIRE(before[link] == after[few.link_of[link].value]);
        CHECK(few.groups.size() < all.groups.size());
    }
}

TEST_CASE("stages whose groups differ in shape fold apart")
{
    // Stage 0 is ranks 0 to 5 of the first node; of stage 1's ranks 6 to 11 the first two are still
    // there. So some neighbours share a node and others do not, within one stage.
    Strategy strategy;
    strategy.tp = 2;
    strategy.pp = 2;
    strategy.dp = 3;
    const Job job = job_of(small_decoder(), strategy, training_of(12));
    BindOptions options;
    options.folding = Folding::replicas;
    const Plan plan = make_plan(job);
    const Binding folded = bind(plan, job, h100_nodes(2), h100_costs(), options);
    const Binding unfolded = bind(plan, job, h100_nodes(2), h100_costs(), {});
    CHECK(folded.lanes.size() > 2);
    CHECK(folded.lanes.size() < 12);
    CHECK(run(plan.program, folded).step_time == run(plan.program, unfolded).step_time);
}

TEST_CASE("a ring over whole nodes leaves each member's NIC one share in eight")
{
    // 16 GPUs on two nodes: eight rings, each through all members and out at another one. Every
    // byte that leaves a member is 7/8 NVLink, 1/8 NIC; with one member per node all of it is NIC.
    const Topology cluster = h100_nodes(2);
    Strategy strategy;
    strategy.dp = 16;
    strategy.zero = 1; // in rings
    const Job job = job_of(small_decoder(), strategy, training_of(16));
    const Binding binding = bind(make_plan(job), job, cluster, h100_costs(), with_links());
    const Group& dp = group_of(binding, 0, GroupKind::dp);
    // 16 members, each out of one NIC and into another: two NIC links of 1/8.
    CHECK_THAT(share_over(cluster, dp.ring, LinkKind::nic), WithinRel(16 * 2 / 8.0, 1e-3));
    CHECK_THAT(share_over(cluster, dp.ring, LinkKind::nvlink), WithinRel(16 * 2 * 7 / 8.0, 1e-3));
}

TEST_CASE("a ring inside a node uses NVLink only, an all-to-all in equal shares")
{
    const Topology cluster = h100_nodes(1);
    Strategy strategy;
    strategy.dp = 8;
    strategy.ep = 8;
    const Job job = job_of(small_mixture(), strategy, training_of(8));
    const Binding binding = bind(make_plan(job), job, cluster, h100_costs(), with_links());
    const Group& ep = group_of(binding, 0, GroupKind::ep);
    CHECK(share_over(cluster, ep.ring, LinkKind::nic) == 0);
    CHECK_THAT(share_over(cluster, ep.all_to_all, LinkKind::nvlink), WithinRel(16.0, 1e-3));
    CHECK(share_over(cluster, ep.all_to_all, LinkKind::nic) == 0);
}

TEST_CASE("without contention, shared links change no time")
{
    const Topology cluster = h100_nodes(2);
    Strategy strategy;
    strategy.dp = 16;
    strategy.zero = GENERATE(0, 1);
    const Job job = job_of(small_decoder(), strategy, training_of(16));
    const Plan plan = make_plan(job);
    const Binding binding = bind(plan, job, cluster, h100_costs(), with_links(LinkDetail::steps));
    const auto seconds = [&](Fidelity fidelity) {
        return to_seconds(run(plan.program, binding, 3, fidelity).step_time).value();
    };
    for (const Fidelity fidelity : {Fidelity::bundle, Fidelity::flow, Fidelity::chunk})
        CHECK_THAT(seconds(fidelity), WithinRel(seconds(Fidelity::alpha_beta), 0.01));
}

TEST_CASE("what leaves the members of a ring adds up to what the ring puts on links")
{
    const Topology cluster = h100_nodes(2);
    Strategy strategy;
    strategy.dp = 16;
    strategy.zero = 1; // in rings
    const Job job = job_of(small_decoder(), strategy, training_of(16));
    const Plan plan = make_plan(job);
    const Binding sums = bind(plan, job, cluster, h100_costs(), with_links());
    const Binding hops = bind(plan, job, cluster, h100_costs(), with_links(LinkDetail::hops));
    CHECK(flaws(plan.program, hops).empty());
    const Group& dp = group_of(hops, 0, GroupKind::dp);
    REQUIRE(dp.ring_hops.size() == 16);
    CHECK(dp.ring == group_of(sums, 0, GroupKind::dp).ring); // shares of 1/8 are exact
    // A hop is NVLink out and in for 7/8, a NIC out and in for 1/8.
    double sum = 0;
    for (const LinkUse& use : dp.ring_hops[3])
        sum += use.coefficient / 65536.0;
    CHECK(sum >= 2);
}

TEST_CASE("a job on slow links runs alike in both engines, step by step too")
{
    // Rings, trees and messages share the uplinks of leaves of two nodes.
    const Topology thin = topology_of(
        R"({"format": "trainyard.topology/1", "generator": "cluster", "nodes": 4, "node": "dgx-h100",
            "fabric": {"kind": "rail", "network": {"preset": "ib_ndr"}, "nodes_per_unit": 2,
                       "oversubscription": 2}})");
    for (const int experts : {1, 8}) {
        Strategy strategy = three_dimensional();
        strategy.dp = experts > 1 ? 8 : 4;
        strategy.tp = experts > 1 ? 2 : 4;
        strategy.ep = experts;
        const Job job = job_of(experts > 1 ? small_mixture() : small_decoder(), strategy,
                               training_of(2 * *strategy.dp));
        const Plan plan = make_plan(job);
        for (const Fidelity fidelity : {Fidelity::flow, Fidelity::chunk}) {
            Binding binding =
                bind(plan, job, thin, h100_costs(),
                     with_links(fidelity == Fidelity::flow ? LinkDetail::hops : LinkDetail::steps));
            for (std::size_t l = 0; l < binding.links.size(); l += 5) // some are slow
                binding.links[l] = ByteRate(binding.links[l].value() / 8);
            RunControl control;
            control.fidelity = fidelity;
            auto fast = run_event(plan.program, binding, control);
            StepResult plain = run(plan.program, binding, control.steps, fidelity);
            REQUIRE(fast);
            CHECK(plain.steps.disturbed > 0);
            fast->events = plain.events;
            const bool same = *fast == plain;
            CHECK(same);
        }
    }
}

// Collectives send by send: fidelities flow and chunk.

#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Every hop over a link of its own.
std::vector<LinkId> give_links(Scene& scene, GroupSlot slot,
                               const std::vector<std::uint64_t>& rates)
{
    std::vector<LinkId> links;
    Group& group = scene.group_of(slot);
    for (const std::uint64_t rate : rates) {
        links.push_back(scene.link(rate));
        group.ring_hops.add(std::vector<LinkUse>{{links.back()}});
        group.neighbour_hops.add(std::vector<LinkUse>{{links.back()}});
    }
    group.ring = sum_of(group.ring_hops);
    group.neighbours = sum_of(group.neighbour_hops);
    return links;
}

std::vector<std::size_t> first_lanes(std::size_t count)
{
    std::vector<std::size_t> lanes;
    for (std::size_t l = 0; l < count; ++l)
        lanes.push_back(l);
    return lanes;
}

Label label_of(CollectiveKind kind, GroupKind group = GroupKind::dp)
{
    return {"collective", Phase::gradient_sync, kind, group};
}

// `members` lanes in one collective, `more` lanes for messages beside it.
struct OneCollective {
    Scene scene;
    GroupSlot dp;
    std::vector<LinkId> links;

    OneCollective(std::size_t members, std::size_t more, std::uint64_t rate)
        : scene(members + more),
          dp(scene.group(GroupKind::dp, first_lanes(members))),
          links(give_links(scene, dp, std::vector<std::uint64_t>(members, rate)))
    {}

    void join(CollectiveKind kind, const TransferCost& cost)
    {
        for (const LaneId member : scene.group_of(dp).members)
            scene.on(member.value).collective(dp, cost).label(label_of(kind));
    }
    // A message of 100 ps at rate 1000 over the link of a hop, that begins at `time`.
    void message(std::size_t from, std::size_t hop, std::int64_t time)
    {
        scene.on(from).compute(time).record("then");
        scene.on(from).exchange().send(from + 1, transfer(0, 100)).wait("then");
        scene.on(from + 1).exchange().receive(from, transfer(0, 100));
        scene.binding.lanes[from].peers[from + 1].links = {{links[hop]}};
    }
};

constexpr auto every_fidelity = {Fidelity::alpha_beta, Fidelity::bundle, Fidelity::flow,
                                 Fidelity::chunk};

SimTime end_of(const StepResult& result, std::size_t lane)
{
    return result.lane_ends[lane];
}

} // namespace

TEST_CASE("an undisturbed collective takes latency and work alone in every fidelity")
{
    // Of 7 members, so that rounds are no whole number of picoseconds.
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
          CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::barrier})
        for (const Fidelity fidelity : every_fidelity) {
            OneCollective one(7, 0, 1000);
            TransferCost cost = transfer(101, 1009);
            cost.work.value += 1; // one picosecond more
            one.join(kind, cost);
            CHECK(one.scene.run(1, fidelity).step_time == SimTime(1111));
        }
}

TEST_CASE("a ring of two levels takes 2 (P-1) (alpha + S/(P B)) step by step")
{
    // 8 members: 14 rounds of 3 + 20 ps.
    OneCollective one(8, 0, 1000);
    one.join(CollectiveKind::all_reduce, transfer(14 * 3, 14 * 20));
    CHECK(one.scene.run(1, Fidelity::chunk).step_time == SimTime(14 * 23));
}

TEST_CASE("a message slows one hop of a ring, not the hops that do not wait for it")
{
    // All-gather of 3: two steps of 100 ps. The first message halves the rate of hop 0 until 200;
    // hop 2 has sent both its chunks by then, so that the second message meets nobody:
    //   hop 0   0-200 200-300      hop 1   0-100 200-300      hop 2   0-100 100-200
    // As one activity the second message would halve it again, from 200 to 400.
    const auto end = [](Fidelity fidelity) {
        OneCollective one(3, 4, 1000);
        one.join(CollectiveKind::all_gather, transfer(0, 200));
        one.message(3, 0, 0);
        one.message(5, 2, 200);
        const StepResult result = one.scene.run(1, fidelity);
        CHECK(result.steps.disturbed == (knows_steps(fidelity) ? 1 : 0));
        return end_of(result, 0);
    };
    CHECK(end(Fidelity::bundle) == SimTime(400));
    CHECK(end(Fidelity::flow) == SimTime(300));
    CHECK(end(Fidelity::chunk) == SimTime(300));
}

TEST_CASE("a ring that a message disturbs midway goes on from where it was")
{
    // Four steps of 100 ps. The message comes at 150 to hop 0 and both go at half the rate:
    //   hop 0   0-100 100-250 250-400 400-500    (the message is over at 350)
    //   hop 1   0-100 100-200 250-350 400-500
    //   hop 2   0-100 100-200 200-300 350-450
    OneCollective one(3, 2, 1000);
    one.join(CollectiveKind::all_reduce, transfer(0, 400));
    one.message(3, 0, 150);
    CHECK(end_of(one.scene.run(1, Fidelity::flow), 0) == SimTime(500));
}

TEST_CASE("one slow link paces a ring, whose other hops wait")
{
    // 4 members, 6 rounds of 100 ps; the hop over the slow link takes 400 each.
    OneCollective one(4, 0, 1000);
    one.scene.binding.links[one.links[1].value] = ByteRate(250);
    one.join(CollectiveKind::all_reduce, transfer(0, 600));
    for (const Fidelity fidelity : {Fidelity::bundle, Fidelity::flow, Fidelity::chunk})
        CHECK(one.scene.run(1, fidelity).step_time == SimTime(2400));
}

TEST_CASE("links carry the same bytes whole and step by step")
{
    // 200 ps at 1000 bytes per second over every hop, and 100 ps of the message over the first.
    for (const bool crossed : {false, true})
        for (const Fidelity fidelity : {Fidelity::bundle, Fidelity::flow, Fidelity::chunk}) {
            OneCollective one(3, 2, 1000);
            one.join(CollectiveKind::all_gather, transfer(0, 200));
            if (crossed)
                one.message(3, 0, 50);
            const StepResult result = one.scene.run(1, fidelity);
            for (std::size_t hop = 0; hop < 3; ++hop)
                CHECK(result.links[hop].bytes ==
                      Approx(crossed && hop == 0 ? 3e-7 : 2e-7).epsilon(1e-9));
            CHECK(result.links[0].busiest_share == Approx(1.0));
        }
}

TEST_CASE("a member that comes late delays only those that wait for its data")
{
    // A ring of messages: member 2 comes at 500. It sends to member 3; member 1 sends to it, which
    // it has to see. Members 0 and 1 wait for nobody who waits for it.
    OneCollective one(4, 0, 1000);
    one.scene.on(2).compute(500).record("late");
    TransferCost cost = transfer(0, 100);
    cost.pattern = TrafficPattern::neighbours;
    for (std::size_t l = 0; l < 4; ++l) {
        one.scene.on(l).collective(one.dp, cost).label(label_of(CollectiveKind::send_receive));
        if (l == 2)
            one.scene.on(l).wait("late");
    }
    const StepResult result = one.scene.run(1, Fidelity::chunk);
    CHECK(end_of(result, 0) == SimTime(100));
    CHECK(end_of(result, 1) == SimTime(100));
    CHECK(end_of(result, 2) == SimTime(600));
    CHECK(end_of(result, 3) == SimTime(600));
    CHECK(one.scene.run(1, Fidelity::flow).step_time == SimTime(600));
}

TEST_CASE("an all-to-all sends to one member after the other")
{
    // 3 members, 2 sends of 100 ps each; member 2 comes at 150. Its sends end at 250 and 350: to
    // member 0, which has sent and heard all by then, and to member 1.
    Scene scene(3);
    const GroupSlot ep = scene.group(GroupKind::ep, {0, 1, 2});
    Group& group = scene.group_of(ep);
    for (int pair = 0; pair < 9; ++pair)
        group.pairs.add(std::vector<LinkUse>{{scene.link(1000)}});
    scene.on(2).compute(150).record("late");
    TransferCost cost = transfer(0, 200);
    cost.pattern = TrafficPattern::all_to_all;
    for (std::size_t l = 0; l < 3; ++l)
        scene.on(l).collective(ep, cost).label(label_of(CollectiveKind::all_to_all, GroupKind::ep));
    scene.on(2).wait("late");
    const StepResult result = scene.run(1, Fidelity::chunk);
    CHECK(end_of(result, 0) == SimTime(250));
    CHECK(end_of(result, 1) == SimTime(350));
    CHECK(end_of(result, 2) == SimTime(350));
}

TEST_CASE("rings that collide all the time stay whole where steps are too many")
{
    // Two rings of 33 over one link: 2 x 33 x 64 sends per step.
    const auto run = [](int steps) {
        Scene scene(66);
        const LinkId link = scene.link(1000);
        for (const std::size_t first : {0U, 33U}) {
            std::vector<std::size_t> members = first_lanes(33);
            for (std::size_t& member : members)
                member += first;
            const GroupSlot slot = scene.group(GroupKind::dp, members);
            Group& group = scene.group_of(slot);
            for (int member = 0; member < 33; ++member)
                group.ring_hops.add(std::vector<LinkUse>{{link, 1U << 11}});
            group.ring = sum_of(group.ring_hops);
            for (const std::size_t member : members)
                scene.on(member)
                    .collective(slot, transfer(0, 6400))
                    .label(label_of(CollectiveKind::all_reduce));
        }
        RunControl control;
        control.steps = steps;
        control.fidelity = Fidelity::flow;
        return scene.try_run(control)->steps;
    };
    CHECK(run(1) == StepTotals{2, {}});
    CHECK(run(1000) ==
          StepTotals{0, {{CollectiveKind::all_reduce, GroupKind::dp, WholeReason::rings}}});
}

TEST_CASE("a tree slows the compute beside it chunk by chunk as much as in one piece")
{
    // Root and two leaves, 64 chunks of 10 ps in 65 rounds, half of the device lost to traffic. In
    // one piece 1000 ps of compute lose 650 / 2. Chunk by chunk each member sends in 64 rounds, the
    // root down two wires at once, which are one collective's traffic: they lose 640 / 2.
    const auto ends = [](Fidelity fidelity) {
        Scene scene(3);
        const GroupSlot dp = scene.group(GroupKind::dp, {0, 1, 2});
        Group& group = scene.group_of(dp);
        group.tree_edges = {{1, 0, 0}, {2, 0, 0}};
        for (int way = 0; way < 4; ++way)
            group.tree_ways.add(std::vector<LinkUse>{{scene.link(1000)}});
        TransferCost cost = transfer(0, 65 * 10);
        cost.pattern = TrafficPattern::tree;
        cost.traffic_share = full_share / 2;
        for (std::size_t l = 0; l < 3; ++l) {
            scene.on(l).compute(1000);
            scene.on(l).collective(dp, cost).label(label_of(CollectiveKind::all_reduce));
        }
        return scene.run(1, fidelity).lane_ends;
    };
    CHECK(ends(Fidelity::bundle) == std::vector(3, SimTime(1000 + 650 / 2)));
    CHECK(ends(Fidelity::chunk) == std::vector(3, SimTime(1000 + 640 / 2)));
}

TEST_CASE("fidelities with steps refuse ranks that stop")
{
    OneCollective one(2, 0, 1000);
    TransferCost cost = transfer(0, 100);
    one.join(CollectiveKind::all_reduce, cost);
    one.scene.binding.lanes[1].stop = {SimTime(50), StopKind::dies};
    for (const Fidelity fidelity : {Fidelity::flow, Fidelity::chunk}) {
        RunControl control;
        control.steps = 1;
        control.fidelity = fidelity;
        const auto result = one.scene.try_run(control);
        REQUIRE(!result);
        CHECK(result.error()[0].message == "fidelity " + std::string(to_name(fidelity)) +
                                               " does not know ranks that hang or die");
    }
}

TEST_CASE("a tree sums up and hands down chunk by chunk")
{
    // Members 1 and 2 under member 0: 64 chunks of 10 ps, each up and then down, 65 rounds. Up from
    // member 1 goes at half the rate: its last chunk is up at 64 x 20, and down 10 later.
    Scene scene(3);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1, 2});
    Group& group = scene.group_of(dp);
    group.tree_edges = {{1, 0, 0}, {2, 0, 0}};
    for (const std::uint64_t rate : {500, 1000, 1000, 1000})
        group.tree_ways.add(std::vector<LinkUse>{{scene.link(rate)}});
    TransferCost cost = transfer(0, 65 * 10);
    cost.pattern = TrafficPattern::tree;
    for (std::size_t l = 0; l < 3; ++l)
        scene.on(l).collective(dp, cost).label(label_of(CollectiveKind::all_reduce));
    CHECK(scene.run(1, Fidelity::chunk).step_time == SimTime(64 * 20 + 10));
}

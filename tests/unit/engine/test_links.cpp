#include "tests/support/scene.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// `senders` lanes send to the last one at a time; each path crosses `links`.
Scene incast(std::size_t senders, std::uint64_t own_link, std::uint64_t incoming_link,
             std::int64_t alone)
{
    Scene scene(senders + 1);
    const LinkId incoming = scene.link(incoming_link);
    for (std::size_t s = 0; s < senders; ++s) {
        const TransferCost cost = transfer(0, alone, own_link);
        scene.binding.lanes[s].peers[senders].links = {{scene.link(own_link)}, {incoming}};
        scene.on(s).exchange().send(senders, cost);
        scene.on(senders).exchange(StreamId{static_cast<std::uint8_t>(tp_stream.value + s)});
        scene.on(senders).receive(s, cost);
    }
    return scene;
}

} // namespace

TEST_CASE("two transfers on one link move at half the rate")
{
    Scene scene(4);
    const LinkId link = scene.link(1000);
    for (const std::size_t first : {0U, 2U}) {
        const GroupSlot dp = scene.group(GroupKind::dp, {first, first + 1});
        scene.group_of(dp).ring = {{link}};
        for (const std::size_t lane : {first, first + 1})
            scene.on(lane).collective(dp, transfer(10, 500, 1000));
    }
    CHECK(scene.run(1, Fidelity::alpha_beta).step_time == SimTime(510));
    const StepResult result = scene.run(1, Fidelity::bundle);
    CHECK(result.step_time == SimTime(1010));
    REQUIRE(result.links.size() == 1);
    CHECK(result.links[0].busiest_share == 1.0);
    // 2 x 500 ps x 1000 bytes/s.
    CHECK(result.links[0].bytes == Approx(1e-6).epsilon(1e-12));
}

TEST_CASE("a transfer takes back the link when the other has left")
{
    // Shared 0..200 (100 each of 500 and 100 of work), then 400 alone.
    Scene scene(4);
    const LinkId link = scene.link(1000);
    for (const std::size_t first : {0U, 2U}) {
        const GroupSlot dp = scene.group(GroupKind::dp, {first, first + 1});
        scene.group_of(dp).ring = {{link}};
        for (const std::size_t lane : {first, first + 1})
            scene.on(lane).collective(dp, transfer(0, first == 0 ? 500 : 100, 1000));
    }
    const StepResult result = scene.run(1, Fidelity::bundle);
    CHECK(result.lane_ends == std::vector{SimTime(600), SimTime(600), SimTime(200), SimTime(200)});
}

TEST_CASE("flows into one port of a switch share it, whatever their own links could do")
{
    // Three senders of 3000 bytes/s each into a port of 3000: three times as long.
    CHECK(incast(3, 3000, 3000, 300).run(1, Fidelity::bundle).step_time == SimTime(900));
    // A port three times as wide carries all at full rate.
    CHECK(incast(3, 3000, 9000, 300).run(1, Fidelity::bundle).step_time == SimTime(300));
}

TEST_CASE("coefficients say how many bytes cross a link per byte that leaves a member")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.group_of(dp).ring = {{scene.link(1000), 4U << 16}};
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).collective(dp, transfer(0, 100, 1000));
    const StepResult result = scene.run(1, Fidelity::bundle);
    CHECK(result.step_time == SimTime(400));
    CHECK(result.links[0].bytes == Approx(4e-7).epsilon(1e-12));
}

TEST_CASE("the pattern of a transfer decides which links it uses")
{
    for (const TrafficPattern pattern : {TrafficPattern::ring, TrafficPattern::all_to_all}) {
        Scene scene(2);
        const GroupSlot ep = scene.group(GroupKind::ep, {0, 1});
        scene.group_of(ep).ring = {{scene.link(1000)}};
        scene.group_of(ep).all_to_all = {{scene.link(250)}};
        TransferCost cost = transfer(0, 100, 1000);
        cost.pattern = pattern;
        for (const std::size_t lane : {0U, 1U})
            scene.on(lane).collective(ep, cost);
        CHECK(scene.run(1, Fidelity::bundle).step_time ==
              SimTime(pattern == TrafficPattern::ring ? 100 : 400));
    }
}

TEST_CASE("links count what they carry in the measured step only")
{
    Scene scene(2);
    const GroupSlot dp = scene.group(GroupKind::dp, {0, 1});
    scene.group_of(dp).ring = {{scene.link(500)}};
    for (const std::size_t lane : {0U, 1U})
        scene.on(lane).collective(dp, transfer(0, 100, 1000));
    for (const int steps : {1, 2, 5})
        CHECK(scene.run(steps, Fidelity::bundle).links[0].bytes == Approx(1e-7).epsilon(1e-12));
}

namespace {

// Two members in a collective of 100 ps at rate 1000, every hop over a link of its own.
struct OneRing {
    Scene scene{2};
    GroupSlot dp;
    LinkId link;

    OneRing() : dp(scene.group(GroupKind::dp, {0, 1})), link(scene.link(1000))
    {
        Group& group = scene.group_of(dp);
        group.ring_hops.add(std::vector<LinkUse>{{link}});
        group.ring_hops.add(std::vector<LinkUse>{{scene.link(1000)}});
        group.ring = sum_of(group.ring_hops);
        for (const std::size_t lane : {0U, 1U})
            scene.on(lane)
                .collective(dp, transfer(0, 100))
                .label({"gather", Phase::forward, CollectiveKind::all_gather, GroupKind::dp});
    }

    void window(std::int64_t begin, std::int64_t end, std::uint64_t rate)
    {
        scene.binding.link_windows.push_back(
            {link, SimTime(begin), end < 0 ? longest_sim_time : SimTime(end), ByteRate(rate)});
    }
};

constexpr auto sharing = {Fidelity::bundle, Fidelity::flow, Fidelity::chunk};

} // namespace

TEST_CASE("a transfer over a link that is gone for a time stops and then goes on")
{
    for (const Fidelity fidelity : sharing) {
        OneRing ring;
        ring.window(30, 80, 0);
        const StepResult result = ring.scene.run(1, fidelity);
        CHECK(result.step_time == SimTime(150));
        CHECK(result.slowed == 1);
        CHECK(result.links[ring.link.value].bytes == Approx(1e-7).epsilon(1e-9));
        CHECK(result.links[ring.link.value].busiest_share == 1.0);
    }
}

TEST_CASE("a link with less of its rate for a time slows what it carries by as much")
{
    // 20 ps at the full rate, 40 at half of it, 10 at none, 60 at the full rate again.
    for (const Fidelity fidelity : sharing) {
        OneRing ring;
        ring.window(20, 60, 500);
        ring.window(60, 70, 0);
        CHECK(ring.scene.run(1, fidelity).step_time == SimTime(130));
    }
}

TEST_CASE("a window that never ends is a link of that rate, one beside the transfer no window")
{
    for (const Fidelity fidelity : sharing) {
        OneRing slow;
        slow.scene.binding.links[slow.link.value] = ByteRate(400);
        OneRing ring;
        ring.window(0, -1, 400);
        CHECK(ring.scene.run(1, fidelity).step_time == slow.scene.run(1, fidelity).step_time);
        OneRing beside;
        beside.window(100, 200, 0);
        CHECK(beside.scene.run(1, fidelity).step_time == SimTime(100));
    }
}

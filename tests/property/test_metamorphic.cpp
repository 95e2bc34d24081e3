// What must not change a result, and what must change it in a known way.

#include "tests/support/random_scene.h"

#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

namespace {

StepResult run(const Program& program, const Binding& binding, Fidelity fidelity)
{
    RunControl control;
    control.fidelity = fidelity;
    control.record = RecordRequest{[](LaneId) { return true; }, 0};
    auto result = run_reference(program, binding, control);
    REQUIRE(result.has_value());
    return std::move(*result);
}

StepResult run(Scene& scene, Fidelity fidelity = Fidelity::bundle)
{
    scene.bind_roles();
    return run(scene.program, scene.binding, fidelity);
}

// The lanes of a binding in a new order: lane l becomes order[l].
Binding renamed(const Binding& binding, const std::vector<std::uint32_t>& order)
{
    Binding result = binding;
    const auto rename = [&](LaneId& lane) {
        if (lane.valid())
            lane = LaneId{order[lane.value]};
    };
    for (std::size_t l = 0; l < order.size(); ++l) {
        Lane lane = binding.lanes[l];
        for (Peer& peer : lane.peers)
            rename(peer.lane);
        result.lanes[order[l]] = std::move(lane);
    }
    for (Group& group : result.groups) {
        for (LaneId& member : group.members)
            rename(member);
        std::reverse(group.members.begin(), group.members.end());
    }
    return result;
}

constexpr RandomTraits everything{.interference = true, .links = true};

} // namespace

TEST_CASE("renaming lanes renames the result and changes nothing else")
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomScene random(seed, everything);
        Scene& scene = random.scene();
        const StepResult before = run(scene, Fidelity::bundle);
        std::vector<std::uint32_t> order(scene.binding.lanes.size());
        std::iota(order.rbegin(), order.rend(), 0U);
        const StepResult after =
            run(scene.program, renamed(scene.binding, order), Fidelity::bundle);
        INFO("seed " << seed);
        REQUIRE(after.step_ends == before.step_ends);
        REQUIRE(after.ops == before.ops);
        REQUIRE(after.links == before.links);
        for (std::size_t l = 0; l < order.size(); ++l) {
            REQUIRE(after.lanes[order[l]] == before.lanes[l]);
            REQUIRE(after.lane_ends[order[l]] == before.lane_ends[l]);
        }
    }
}

TEST_CASE("an idle link and an idle group change nothing")
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomScene random(seed, everything);
        Scene& scene = random.scene();
        const StepResult before = run(scene);
        scene.link(1);
        scene.group(GroupKind::world, {0});
        StepResult after = run(scene);
        INFO("seed " << seed);
        REQUIRE(after.links.back().bytes == 0);
        after.links.pop_back();
        REQUIRE(after == before);
    }
}

TEST_CASE("twice the bandwidth and half of every duration make half the step")
{
    // Even times and rates, so that halves are whole and shares round alike.
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomScene random(seed, {});
        Scene& scene = random.scene();
        CostTable& costs = scene.binding.costs;
        for (Lane& lane : scene.binding.lanes)
            lane.scales[0] = full_share;
        for (Block& block : scene.program.blocks)
            for (Op& op : block.ops)
                op.kernels = 1; // a mean kernel time would round
        const StepResult once = run(scene, Fidelity::alpha_beta);
        for (SimTime& time : costs.compute)
            time *= 2;
        for (SimTime& time : costs.host_per_kernel)
            time *= 2;
        for (Lane& lane : scene.binding.lanes)
            lane.start *= 2;
        for (TransferCost& cost : costs.transfers[0]) {
            cost.latency *= 2;
            // As much work as before in twice the time: half the bandwidth.
            cost.work =
                work_done(ByteRate(1), SimTime(static_cast<std::int64_t>(
                                           time_to_finish(cost.work, cost.ceiling).value() * 2)));
            cost.ceiling = ByteRate(1);
        }
        const StepResult twice = run(scene, Fidelity::alpha_beta);
        INFO("seed " << seed);
        REQUIRE(twice.step_time == once.step_time * 2);
        for (std::size_t l = 0; l < once.lanes.size(); ++l)
            for (std::size_t kind = 0; kind < time_kind_count; ++kind)
                REQUIRE(twice.lanes[l].time[kind] == once.lanes[l].time[kind] * 2);
    }
}

TEST_CASE("on shared links, twice every rate makes half of every transfer")
{
    // Ceilings and capacities are multiples of 60, so that up to six sharers get whole rates.
    Scene scene(6);
    const LinkId link = scene.link(600'000);
    for (std::size_t l = 0; l < 6; l += 2) {
        const GroupSlot dp = scene.group(GroupKind::dp, {l, l + 1});
        scene.group_of(dp).ring = {{link}};
        for (const std::size_t lane : {l, l + 1})
            scene.on(lane).collective(
                dp, transfer(0, 6000 * (static_cast<std::int64_t>(l) + 1), 300'000));
    }
    const StepResult slow = run(scene);
    scene.binding.links[0] = ByteRate(1'200'000);
    for (TransferCost& cost : scene.binding.costs.transfers[0])
        cost.ceiling = ByteRate(600'000);
    const StepResult fast = run(scene);
    CHECK(slow.step_time == fast.step_time * 2);
    CHECK(slow.links[0].bytes == fast.links[0].bytes);
    CHECK(slow.links[0].busiest_share == fast.links[0].busiest_share);
}

TEST_CASE("links wide enough for everyone give what no links give")
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomScene random(seed, everything);
        Scene& scene = random.scene();
        for (ByteRate& capacity : scene.binding.links)
            capacity = ByteRate(1'000'000'000);
        const StepResult shared = run(scene, Fidelity::bundle);
        const StepResult alone = run(scene, Fidelity::alpha_beta);
        INFO("seed " << seed);
        REQUIRE(shared.records == alone.records);
        REQUIRE(shared.lanes == alone.lanes);
    }
}

TEST_CASE("interference of nothing is none: disturbed runs equal undisturbed ones")
{
    // One transfer that nobody runs makes the engine take the long way for all.
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomScene random(seed, {});
        Scene& scene = random.scene();
        StepResult before = run(scene, Fidelity::alpha_beta);
        TransferCost loud;
        loud.sm_share = 1;
        scene.binding.costs.transfers[0].push_back(loud);
        StepResult after = run(scene, Fidelity::alpha_beta);
        INFO("seed " << seed);
        before.events = after.events = 0; // latency and data are two events here
        REQUIRE(after == before);
    }
}

TEST_CASE("links carry what the transfers over them move, never above capacity")
{
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomScene random(seed, everything);
        Scene& scene = random.scene();
        scene.bind_roles();
        for (Lane& lane : scene.binding.lanes)
            lane.scales[0] = full_share;
        // One step: everything is measured. Each collective counts once per member in the records.
        RunControl control;
        control.steps = 1;
        control.fidelity = Fidelity::bundle;
        const auto result = run_reference(scene.program, scene.binding, control);
        REQUIRE(result.has_value());
        std::vector<double> expected(scene.binding.links.size());
        const auto count = [&](const TransferCost& cost, const std::vector<LinkUse>& path,
                               double share) {
            for (const LinkUse& use : path)
                expected[use.link.value] += static_cast<double>(cost.work.value) * share *
                                            use.coefficient / 65536.0 * 1e-12;
        };
        for (std::size_t l = 0; l < scene.binding.lanes.size(); ++l) {
            const Block& block = scene.program.blocks[l];
            for (const Op& op : block.ops) {
                if (op.kind == OpKind::collective) {
                    const TransferCost& cost = scene.binding.costs.transfers[0][op.cost.value];
                    const Group& group =
                        scene.binding.groups[scene.binding.lanes[l].groups[op.group.value].value];
                    count(cost, group.uses(cost.pattern),
                          1.0 / static_cast<double>(group.members.size()));
                }
                for (std::size_t p = 0; p < op.part_count; ++p) {
                    const ExchangePart& part = block.parts[op.part_first + p];
                    if (part.direction == Direction::send)
                        count(scene.binding.costs.transfers[0][part.cost.value],
                              scene.binding.lanes[l].peers[part.peer.value].links, 1.0);
                }
            }
        }
        INFO("seed " << seed);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            REQUIRE(result->links[i].bytes == Approx(expected[i]).epsilon(1e-9).margin(1e-20));
            REQUIRE(result->links[i].busiest_share <= 1.0);
        }
    }
}

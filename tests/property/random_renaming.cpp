#include "tests/catch.h"
#include "tests/property/random_laws.h"
#include "tests/unit/strategy/plans.h"

#include <algorithm>
#include <numeric>

namespace trainyard::testing {

namespace {

std::vector<std::uint32_t> shuffled(std::size_t count, Random& random)
{
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = count; i > 1; --i)
        std::swap(
            order[i - 1],
            order[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i) - 1))]);
    return order;
}

// Lane i of the old binding becomes lane `name[i]`.
Binding renamed(const Binding& binding, const std::vector<std::uint32_t>& name)
{
    const auto other = [&](LaneId lane) { return lane.valid() ? LaneId{name[lane.value]} : lane; };
    Binding out = binding;
    for (std::size_t l = 0; l < binding.lanes.size(); ++l) {
        Lane lane = binding.lanes[l];
        for (Peer& peer : lane.peers)
            peer.lane = other(peer.lane);
        out.lanes[name[l]] = std::move(lane);
    }
    for (Group& group : out.groups) {
        for (LaneId& member : group.members)
            member = other(member);
        std::ranges::sort(group.members);
    }
    return out;
}

} // namespace

void check_renaming(const Draws& draws)
{
    const std::vector<SoftwareClass> software = all_software();
    const Topology cluster = h100_nodes(7);
    const Topology larger = h100_nodes(8);
    Random random(draws.seed);
    for (int ran = 0; ran < draws.jobs;) {
        JobRequest request = random_request(random, software);
        const Checked<Job> job = resolve(request);
        if (!job || job->world() > cluster.device_count())
            continue;
        ++ran;
        INFO(describe(request));
        const Plan plan = make_plan(*job);
        const Binding binding = bind(plan, *job, cluster, h100_costs(), {});
        const StepResult result = run(plan.program, binding, 2);
        const std::vector<std::uint32_t> name = shuffled(binding.lanes.size(), random);
        const StepResult again = run(plan.program, renamed(binding, name), 2);
        CHECK(again.step_ends == result.step_ends);
        for (std::size_t l = 0; l < name.size(); ++l)
            CHECK(again.lanes[name[l]] == result.lanes[l]);

        request.devices = larger.device_count();
        const Checked<Job> beside_idle = resolve(request);
        REQUIRE(beside_idle.has_value());
        CHECK(make_plan(*beside_idle) == plan);
        CHECK(bind(plan, *beside_idle, larger, h100_costs(), {}) == binding);
    }
}

} // namespace trainyard::testing

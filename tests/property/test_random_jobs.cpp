// Any job that resolves makes a program that is sound, runs to its end, gives memory back, and runs
// alike folded and unfolded.

#include "sim/strategy/schedule.h"
#include "tests/catch.h"
#include "tests/support/cluster_text.h"
#include "tests/support/flaws.h"
#include "tests/support/pick.h"
#include "tests/support/random_jobs.h"
#include "tests/unit/strategy/plans.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

bool coin(Random& random)
{
    return random.integer(0, 1) == 1;
}

// With micro-batches in groups and passes in turns besides.
JobRequest random_scheduled_request(Random& random, const std::vector<SoftwareClass>& software)
{
    JobRequest request = random_request(random, software);
    Strategy& s = request.strategy;
    s.overlap.ep = random.integer(0, 3) == 0;
    if (s.schedule == "interleaved-1f1b" && coin(random))
        s.pipeline.micro_batch_group = static_cast<int>(random.integer(s.pp, 3 * s.pp));
    return request;
}

// What a step leaves allocated.
std::int64_t left_over(const Program& program, const Role& role)
{
    std::int64_t bytes = 0;
    for_each_op(program, role, [&](const Block&, const Op& op, const BlockUse&) {
        if (op.memory.valid()) {
            const MemoryEffect& effect = program.memory_effects[op.memory.value];
            bytes += effect.at_start + effect.at_end;
        }
    });
    return bytes;
}

void check_alike(const Binding& folded, const StepResult& few, const StepResult& all)
{
    CHECK(few.step_time == all.step_time);
    std::uint32_t ranks = 0;
    for (std::size_t lane = 0; lane < folded.lanes.size(); ++lane) {
        const Lane& one = folded.lanes[lane];
        ranks += one.multiplicity;
        CHECK(few.lane_ends[lane] == all.lane_ends[one.rank.value]);
        CHECK(few.lanes[lane].time == all.lanes[one.rank.value].time);
    }
    CHECK(ranks == all.lanes.size());
}

// Up to three slow devices, some equally slow.
Conditions random_conditions(Random& random, int world)
{
    Conditions conditions;
    std::vector<std::uint32_t> slow;
    for (std::int64_t i = random.integer(0, 3); i > 0; --i) {
        const auto device = static_cast<std::uint32_t>(random.integer(0, world - 1));
        if (std::ranges::find(slow, device) == slow.end())
            conditions.slowdown.emplace_back(DeviceId{device},
                                             pick<double>(random, {1.05, 1.3, 2.0}));
        slow.push_back(device);
    }
    return conditions;
}

// Windows, jitter and late steps of some devices besides.
void add_conditions(Conditions& conditions, Random& random, int world)
{
    const auto device = [&] {
        return DeviceId{static_cast<std::uint32_t>(random.integer(0, world - 1))};
    };
    if (coin(random))
        conditions.spans.emplace_back(device(),
                                      SlowSpan{SimTime(random.integer(0, 1'000'000'000)),
                                               SimTime(random.integer(2, 9) * 1'000'000'000),
                                               pick<double>(random, {1.2, 3.0})});
    if (coin(random))
        conditions.jitter.emplace_back(
            device(), SeededJitter{{JitterDistribution::lognormal, 0.1, 1.0}, random.bits()});
    if (coin(random))
        conditions.late.emplace_back(device(), Lateness{SimTime(random.integer(0, 1'000'000'000)),
                                                        pick<double>(random, {0.5, 1.0}),
                                                        LatePart::step, random.bits()});
    if (coin(random))
        conditions.start.emplace_back(device(), SimTime(random.integer(0, 1'000'000'000)));
}

} // namespace

TEST_CASE("every job that resolves runs to its end, folded as unfolded")
{
    const Topology cluster = cluster_for_random_jobs();
    Profile profile = h100_costs().profile();
    Random random(20240502);
    int with_pipeline = 0;
    std::set<std::string> schedules_met;
    int with_experts = 0;
    int with_slow_devices = 0;
    int lanes = 0;
    int ranks = 0;
    const Draws draws{.seed = 20240501, .jobs = 440};
    each_job(draws, random_scheduled_request, [&](const JobRequest&, const Job& job) {
        with_pipeline += job.strategy.pp > 1;
        schedules_met.insert(job.strategy.schedule);
        with_experts += job.model.is_moe();
        profile.software = job.software;
        const CostModel cost(profile);
        const Plan plan = make_plan(job);
        for (const Role& role : plan.program.roles)
            REQUIRE(left_over(plan.program, role) == 0);
        BindOptions options;
        options.conditions = random_conditions(random, job.world());
        with_slow_devices += !options.conditions.slowdown.empty();
        const Binding unfolded = bind(plan, job, cluster, cost, options);
        options.folding = Folding::replicas;
        const Binding folded = bind(plan, job, cluster, cost, options);
        check_alike(folded, run(plan.program, folded, 2), run(plan.program, unfolded, 2));
        if (options.conditions.slowdown.empty()) {
            lanes += static_cast<int>(folded.lanes.size());
            ranks += job.world();
        }
    });
    CHECK(schedules_met.size() == schedule_names().size());
    CHECK(with_pipeline > 100);
    CHECK(with_experts > 50);
    CHECK(with_slow_devices > 150);
    CHECK(lanes * 3 < ranks); // folding is worth it
}

TEST_CASE("jobs under windows, jitter and lateness run folded as unfolded")
{
    const Topology cluster = cluster_for_random_jobs();
    Random random(20261121);
    Profile profile = h100_costs().profile();
    int folds = 0;
    const Draws draws{.seed = 20261120, .jobs = 120};
    each_job(draws, random_scheduled_request, [&](const JobRequest&, const Job& job) {
        profile.software = job.software;
        const CostModel cost(profile);
        const Plan plan = make_plan(job);
        BindOptions options;
        options.conditions = random_conditions(random, job.world());
        add_conditions(options.conditions, random, job.world());
        const Binding unfolded = bind(plan, job, cluster, cost, options);
        REQUIRE(flaws(plan.program, unfolded).empty());
        options.folding = Folding::replicas;
        const Binding folded = bind(plan, job, cluster, cost, options);
        folds += folded.lanes.size() < unfolded.lanes.size();
        check_alike(folded, run(plan.program, folded, 2), run(plan.program, unfolded, 2));
    });
    CHECK(folds > 10);
}

TEST_CASE("jobs that share links run folded as unfolded")
{
    Random random(20261128);
    Profile profile = h100_costs().profile();
    std::vector<Topology> clusters;
    for (const char* fabric :
         {R"("rail", "nodes_per_unit": 2, "oversubscription": 16)",
          R"("leaf-spine", "nodes_per_unit": 1, "oversubscription": 16)",
          R"("leaf-spine", "nodes_per_unit": 3, "oversubscription": 8)", R"("rail")"})
        for (const char* node : {"dgx-h100", "dgx1-v100", "aws-p5"})
            clusters.push_back(topology_of(fmt::format(
                R"({{"format": "trainyard.topology/1", "generator": "cluster", "nodes": 32,
                     "node": "{}", "fabric": {{"kind": {}, "network": "ib_ndr"}}}})",
                node, fabric)));
    int folds = 0;
    int slowed = 0;
    int stepped = 0;
    const Draws draws{.seed = 20261129, .jobs = 300};
    each_job(draws, random_scheduled_request, [&](const JobRequest&, const Job& job) {
        const Topology& cluster = clusters[static_cast<std::size_t>(
            random.integer(0, static_cast<std::int64_t>(clusters.size()) - 1))];
        profile.software = job.software;
        const CostModel cost(profile);
        const Plan plan = make_plan(job);
        const bool flow = coin(random);
        const Fidelity fidelity = flow ? Fidelity::flow : Fidelity::bundle;
        BindOptions options;
        options.links = flow ? LinkDetail::hops : LinkDetail::sums;
        if (random.integer(0, 3) == 0)
            options.conditions = random_conditions(random, job.world());
        if (random.integer(0, 3) == 0) // a link for a time
            options.conditions.links.emplace_back(
                make_id<LinkId>(static_cast<std::size_t>(
                    random.integer(0, static_cast<std::int64_t>(cluster.link_count()) - 1))),
                LinkSpan{SimTime(0), longest_sim_time, 0.3});
        const Binding unfolded = bind(plan, job, cluster, cost, options);
        options.folding = Folding::replicas;
        const Binding folded = bind(plan, job, cluster, cost, options);
        REQUIRE(flaws(plan.program, folded).empty());
        const StepResult few = run(plan.program, folded, 2, fidelity);
        const StepResult all = run(plan.program, unfolded, 2, fidelity);
        check_alike(folded, few, all);
        CHECK(few.slowed == all.slowed);
        CHECK(few.steps == all.steps);
        for (std::size_t l = 0; l < folded.link_of.size(); ++l) {
            const LinkTotals& one = few.links[folded.link_of[l].value];
            CHECK(one.bytes == all.links[l].bytes);
            CHECK(one.busiest_share == all.links[l].busiest_share);
        }
        folds += folded.lanes.size() < unfolded.lanes.size();
        slowed += all.slowed > 0 && folded.lanes.size() < unfolded.lanes.size();
        stepped += all.steps.disturbed > 0 && folded.lanes.size() < unfolded.lanes.size();
    });
    CHECK(folds > 80);
    CHECK(slowed > 20);
    CHECK(stepped > 1);
}

TEST_CASE("a slow device folds with nobody and slows everybody")
{
    const Topology cluster = h100_nodes(4);
    Random random(7);
    for (int i = 0; i < 40; ++i) {
        Strategy strategy;
        strategy.tp = pick<int>(random, {1, 2, 4});
        strategy.pp = pick<int>(random, {1, 2});
        strategy.dp = pick<int>(random, {2, 4});
        strategy.zero = pick<int>(random, {0, 1});
        strategy.overlap = {coin(random), coin(random), coin(random)};
        const Job job = job_of(small_decoder(), strategy, training_of(8));
        const Plan plan = make_plan(job);
        BindOptions options;
        const SimTime healthy =
            run(plan.program, bind(plan, job, cluster, h100_costs(), options)).step_time;
        const auto slow = static_cast<std::uint32_t>(random.integer(0, job.world() - 1));
        options.conditions.slowdown = {{DeviceId{slow}, 1.5}};
        const Binding unfolded = bind(plan, job, cluster, h100_costs(), options);
        options.folding = Folding::replicas;
        const Binding folded = bind(plan, job, cluster, h100_costs(), options);
        const StepResult all = run(plan.program, unfolded, 2);
        check_alike(folded, run(plan.program, folded, 2), all);
        CHECK(all.step_time > healthy);
        const auto alone = std::ranges::find(folded.lanes, RankId{slow}, &Lane::rank);
        REQUIRE(alone != folded.lanes.end());
        CHECK(alone->multiplicity == 1);
    }
}

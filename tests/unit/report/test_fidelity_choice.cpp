// Which fidelity a scenario gets that leaves it open: laws of links between switches.

#include "sim/base/build_info.h"
#include "sim/report/network_notes.h"
#include "sim/report/sweep/sweep_output.h"
#include "sim/study/session.h"
#include "sim/study/sweep.h"
#include "tests/catch.h"
#include "tests/support/leaf_spine.h"

using namespace trainyard;

namespace {

// Two stages of 64 ranks, each over two leaves: gradients and messages between stages climb to the
// spines, on streams of their own.
Scenario two_stages(int oversubscription)
{
    Scenario s;
    s.model = {"llama-2-7b", {}};
    s.topology = testing::leaf_spine(16, oversubscription);
    s.training.sequence_length = 2048;
    s.training.global_batch = 32;
    s.strategy.tp = 8;
    s.strategy.pp = 2;
    s.strategy.dp = 8;
    s.strategy.zero = 1;
    s.strategy.overlap.pp = true;
    return s;
}

// One stage: whatever climbs is of one kind, and costs know what its groups leave one another.
Scenario one_stage(int oversubscription)
{
    Scenario s = two_stages(oversubscription);
    s.strategy.pp = 1;
    s.strategy.dp = 16;
    s.strategy.overlap.dp = false;
    return s;
}

Outcome simulated(const Scenario& scenario)
{
    Session session;
    Checked<Outcome> outcome =
        session.simulate(scenario_in_memory(scenario, data_dir() / "scenarios", "test"));
    if (!outcome)
        FAIL(render(outcome.error(), ""));
    return std::move(*outcome);
}

Outcome simulated_in(Scenario scenario, Fidelity fidelity)
{
    scenario.run.fidelity = fidelity;
    return simulated(scenario);
}

} // namespace

TEST_CASE("links between switches are not shared where these carry all that NICs send")
{
    const Outcome outcome = simulated(two_stages(1));
    CHECK(outcome.engine.network.fidelity == Fidelity::alpha_beta);
    CHECK(outcome.engine.network.reason == FidelityReason::nothing_shared);
    CHECK(sharing_notes(outcome).empty());
}

TEST_CASE("groups of one kind share what their costs know of")
{
    for (const int oversubscription : {1, 2, 4, 8, 16}) {
        INFO(oversubscription);
        const Outcome outcome = simulated(one_stage(oversubscription));
        CHECK(outcome.engine.network.reason == FidelityReason::nothing_shared);
        const Seconds alone = to_seconds(outcome.result->step_time);
        const Outcome shared = simulated_in(one_stage(oversubscription), Fidelity::bundle);
        CHECK_THAT(to_seconds(shared.result->step_time).value(),
                   Catch::Matchers::WithinRel(alone.value(), 1e-6));
    }
}

TEST_CASE("pairs wait for thin spines as long as these carry less, whoever counts it")
{
    // Seven nodes on one leaf and one on the other: what climbs is less than the name of the ratio.
    Scenario s = two_stages(1);
    s.model = {"mixtral-8x7b", {}};
    s.strategy.tp = 1;
    s.strategy.pp = 1;
    s.strategy.dp.reset();
    s.strategy.ep = 8;
    s.strategy.experts.placement = ExpertPlacement::spread;
    s.training.global_batch = 64;
    const auto seconds = [&](int nodes, int ratio, std::optional<Fidelity> fidelity) {
        s.topology = testing::leaf_spine(nodes, ratio);
        s.run.fidelity = fidelity;
        return to_seconds(simulated(s).result->step_time).value();
    };
    for (const int ratio : {1, 2, 4, 8}) {
        INFO(ratio);
        const double alone = seconds(8, ratio, Fidelity::alpha_beta);
        const double shared = seconds(8, ratio, Fidelity::bundle);
        CHECK_THAT(alone, Catch::Matchers::WithinRel(shared, 0.1));
    }
}

TEST_CASE("a small job whose kinds of transfers share spines is simulated with shared links")
{
    const Outcome outcome = simulated(two_stages(8));
    const FidelityChoice& network = outcome.engine.network;
    CHECK(network.fidelity == Fidelity::bundle);
    CHECK(network.reason == FidelityReason::links_shared);
    REQUIRE(network.shared);
    CHECK(network.shared->layer == "leaf to spine");
    CHECK(network.shared->share > 1.0);
    CHECK(network.shared->share <= 8.0);
    CHECK(network.shared->asks.size() == 2);
    CHECK(outcome.result->slowed > 0);
    CHECK(outcome.result->step_time ==
          simulated_in(two_stages(8), Fidelity::bundle).result->step_time);
    CHECK(sharing_notes(outcome).front().find("hence fidelity bundle") != std::string::npos);
}

TEST_CASE("a fidelity that is given stays, and the report tells what it does not see")
{
    const Outcome outcome = simulated_in(two_stages(8), Fidelity::alpha_beta);
    CHECK(outcome.engine.network.fidelity == Fidelity::alpha_beta);
    CHECK(outcome.engine.network.reason == FidelityReason::given);
    REQUIRE(sharing_notes(outcome).size() == 1);
    CHECK(sharing_notes(outcome).front().find("--fidelity bundle shares the links") !=
          std::string::npos);
}

TEST_CASE("a job of too many operations keeps alpha-beta, and the report tells of it")
{
    Scenario longer = two_stages(8);
    longer.training.global_batch *= 512;
    const Outcome outcome = simulated(longer);
    CHECK(outcome.engine.network.fidelity == Fidelity::alpha_beta);
    CHECK(outcome.engine.network.reason == FidelityReason::too_many_ops);
    CHECK(sharing_notes(outcome).size() == 1);
}

TEST_CASE("thinner spines never make a step shorter")
{
    SimTime last{};
    for (const int oversubscription : {1, 2, 4, 8, 16}) {
        INFO(oversubscription);
        const SimTime step =
            simulated_in(two_stages(oversubscription), Fidelity::bundle).result->step_time;
        CHECK(step >= last);
        last = step;
    }
}

TEST_CASE("scenarios that are held against one another have one fidelity in common")
{
    using enum Fidelity;
    using enum FidelityReason;
    const FidelityChoice sparse{alpha_beta, nothing_shared, true, {}};
    const FidelityChoice crowded{bundle, links_shared, true, {}};
    const FidelityChoice large{alpha_beta, too_many_ops, false, {}};
    const FidelityChoice asked{flow, given, true, {}};
    const auto common = [](std::vector<FidelityChoice> choices) {
        return common_fidelity(choices);
    };
    CHECK(common({sparse, sparse}) == alpha_beta);
    CHECK(common({crowded, crowded}) == bundle);
    CHECK(common({sparse, crowded}) == bundle);
    CHECK(common({crowded, large}) == alpha_beta);
    CHECK(common({crowded, asked}) == flow);
    CHECK(common({crowded, asked, {bundle, given, true, {}}}) == alpha_beta);
    CHECK(common({}) == alpha_beta);
}

TEST_CASE("a sweep tells where links between switches may be asked for more than they carry")
{
    const SweepGrid grid{{{"strategy.pp", {"1", "2"}}}, {}};
    Scenario base = two_stages(8);
    base.strategy.dp.reset();
    Session session;
    SweepBest best(SweepMeasure::throughput, 10);
    sweep(scenario_in_memory(base, data_dir() / "scenarios", "test"), grid, session, {},
          [&](SweepPoint&& point) {
              if (!point.feasible())
                  FAIL_CHECK(point.reason());
              best.add(row_of(point));
          });
    CHECK(best.fidelities() == std::set{Fidelity::alpha_beta});
    CHECK(best.overasked_count() == 1);
    CHECK(best.most_asked() > 1);
    const std::string text = sweep_text({"test", grid, {}, SweepMeasure::throughput, {2, 2, false}},
                                        best, Paint({}), 400);
    CHECK(text.find("Network fidelity alpha-beta") != std::string::npos);
    CHECK(text.find("At 1 point links between switches") != std::string::npos);
}

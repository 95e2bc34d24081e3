// Laws of collectives whose uplinks have lost a part of their rate: the narrowest place of a way
// decides, once.

#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "tests/catch.h"
#include "tests/support/leaf_spine.h"

using namespace trainyard;
using Catch::Matchers::WithinRel;

namespace {

// 64 ranks, data-parallel, on 8 of 32 nodes: two leaves of four nodes each.
ScenarioFile on_leaves(int oversubscription, const std::vector<Perturbation>& perturbations,
                       Fidelity fidelity = Fidelity::alpha_beta)
{
    Scenario s;
    s.model = {"llama-2-7b", {}};
    s.topology = testing::leaf_spine(32, oversubscription);
    s.training.sequence_length = 2048;
    s.training.global_batch = 64;
    s.strategy.dp = 64;
    s.strategy.zero = 1;
    s.strategy.overlap.dp = false;
    s.run.fidelity = fidelity;
    s.perturbations = perturbations;
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", "test");
}

// Seconds in the collectives of data parallelism.
double transfers(const ScenarioFile& file)
{
    Session session;
    const Checked<Outcome> outcome = session.simulate(file);
    if (!outcome)
        FAIL(render(outcome.error(), ""));
    double seconds = 0;
    for (const TransferTotals& totals : outcome->result->transfers)
        if (totals.group == GroupKind::dp)
            seconds += totals.transfer_seconds;
    return seconds;
}

std::vector<Perturbation> uplinks_at(double share)
{
    Perturbation p;
    p.link = "fabric";
    p.bandwidth = share;
    return {p};
}

std::vector<Perturbation> uplinks_shared_with(double background)
{
    Perturbation p;
    p.link = "fabric";
    p.background = background;
    return {p};
}

} // namespace

TEST_CASE("halving what uplinks have left doubles a collective at most, and in the end")
{
    for (const int oversubscription : {1, 2, 4}) {
        double last = transfers(on_leaves(oversubscription, {}));
        double growth = 0;
        for (const double share : {0.5, 0.25, 0.125, 0.0625, 0.03125}) {
            const double now = transfers(on_leaves(oversubscription, uplinks_at(share)));
            growth = now / last;
            CHECK(growth >= 1.0);
            CHECK(growth <= 2.0 + 1e-9);
            last = now;
        }
        CHECK_THAT(growth, WithinRel(2.0, 0.02));
    }
}

TEST_CASE("uplinks that limit limit by the rate that they have left, whatever they had")
{
    // A ring over two leaves needs a quarter of what the NICs below a leaf can send.
    for (const double share : {0.2, 0.1, 0.05}) {
        const double fat = transfers(on_leaves(1, uplinks_at(share / 2)));
        CHECK_THAT(transfers(on_leaves(2, uplinks_at(share))), WithinRel(fat, 0.02));
    }
}

TEST_CASE("what other jobs take of uplinks is lost as if they were that much slower")
{
    CHECK_THAT(transfers(on_leaves(2, uplinks_shared_with(0.9))),
               WithinRel(transfers(on_leaves(2, uplinks_at(0.1))), 1e-9));
}

TEST_CASE("dead uplinks cost what all cost when each has lost as much")
{
    // A quarter of each leaf's 16 is left.
    std::vector<Perturbation> lost;
    for (int i = 0; i < 12; ++i) {
        Perturbation& p = lost.emplace_back();
        p.link = "leaf*/uplink" + std::to_string(i);
        p.dead = true;
    }
    CHECK_THAT(transfers(on_leaves(2, lost)),
               WithinRel(transfers(on_leaves(2, uplinks_at(0.25))), 0.02));
}

TEST_CASE("costs of narrow uplinks are those of links that transfers share, where flows collide")
{
    Perturbation collisions;
    collisions.ecmp = true;
    for (const double share : {1.0, 0.5, 0.1}) {
        std::vector<Perturbation> perturbed = uplinks_at(share);
        perturbed.push_back(collisions);
        CHECK_THAT(transfers(on_leaves(2, perturbed)),
                   WithinRel(transfers(on_leaves(2, perturbed, Fidelity::bundle)), 0.1));
    }
}

TEST_CASE("uplinks that lose a part for the whole run do so in a window as long")
{
    std::vector<Perturbation> window = uplinks_at(0.25);
    window.front().from = Seconds(0);
    window.front().until = Seconds(1000);
    const double sound = transfers(on_leaves(8, {}, Fidelity::bundle));
    const double narrow = transfers(on_leaves(8, window, Fidelity::bundle));
    CHECK(narrow > 1.5 * sound);
    CHECK_THAT(narrow,
               WithinRel(transfers(on_leaves(8, uplinks_at(0.25), Fidelity::bundle)), 1e-6));
}

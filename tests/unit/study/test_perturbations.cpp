// Laws of slow devices, jitter and worse links: what they cost a step, and which links they mean.

#include "sim/study/perturbed_links.h"
#include "tests/unit/study/perturbed.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("more slowness is never faster")
{
    SimTime last = step_time(perturbed({}));
    for (const double slowdown : {1.05, 1.3, 2.0, 4.0}) {
        const SimTime now = step_time(perturbed({slow(3, slowdown)}));
        CHECK(now >= last);
        last = now;
    }
    CHECK(step_time(perturbed({slow(all_devices(), 4.0)})) >= last);
    DeviceChoice some;
    some.numbers = {3, 9};
    CHECK(step_time(perturbed({slow(some, 1.3)})) >= step_time(perturbed({slow(3, 1.3)})));
}

TEST_CASE("a window costs no more than the work that it holds up")
{
    const SimTime base = step_time(perturbed({}));
    Perturbation p = slow(3, 2.0);
    p.from = 0.25 * to_seconds(base);
    p.until = 0.5 * to_seconds(base);
    const SimTime windowed = step_time(perturbed({p}));
    CHECK(windowed > base);
    // A quarter of a step at half speed does an eighth of its work.
    CHECK(windowed <= base + SimTime(base.value() / 8 + 1));
    p.until.reset();
    CHECK(step_time(perturbed({p})) >= windowed);
    // A window behind the step touches nothing.
    p.from = 10 * to_seconds(base);
    CHECK(step_time(perturbed({p})) == base);
}

TEST_CASE("all devices slow for ever are as slow as by a factor")
{
    // From the start of the only step on; each compute op is rounded up instead of down.
    const auto one_step = [](Scenario& s) { s.run.steps = 1; };
    Perturbation p = slow(all_devices(), 2.0);
    const SimTime factor = step_time(perturbed({p}, one_step));
    p.from = Seconds(0);
    const SimTime window = step_time(perturbed({p}, one_step));
    CHECK(std::abs((factor - window).value()) < factor.value() / 1000);
}

TEST_CASE("the same seed gives the same bits, another one others")
{
    const auto with_seed = [](std::uint64_t seed) {
        return step_time(
            perturbed({jittery(all_devices(), 0.1)}, [seed](Scenario& s) { s.run.seed = seed; }));
    };
    CHECK(with_seed(1) == with_seed(1));
    CHECK(with_seed(1) != with_seed(2));
}

TEST_CASE("ranks fold around a jittery, a late and a windowed one")
{
    Perturbation late;
    late.device = DeviceChoice(9);
    late.late = LateArrival{Seconds(0.01), 1.0, LatePart::step};
    Perturbation window = slow(6, 1.5);
    window.from = Seconds(0.05);
    window.until = Seconds(0.15);
    const std::vector<Perturbation> all{jittery(3, 0.2), late, window};
    Session session;
    const Checked<Outcome> folded = session.simulate(perturbed(all));
    const Checked<Outcome> whole =
        session.simulate(perturbed(all, [](Scenario& s) { s.run.fold = false; }));
    REQUIRE(folded);
    REQUIRE(whole);
    CHECK(folded->result->step_time == whole->result->step_time);
    CHECK(whole->engine.lanes == 16);
}

TEST_CASE("a step that is always late by a time takes at most so much longer")
{
    const SimTime base = step_time(perturbed({}));
    Perturbation p;
    p.device = DeviceChoice(5);
    p.late = LateArrival{Seconds(0.02), 1.0, LatePart::step};
    const SimTime late = step_time(perturbed({p}));
    CHECK(late > base);
    CHECK(late <= base + SimTime(20'000'000'000));
    p.late->chance = 0;
    CHECK(step_time(perturbed({p})) == base);
}

TEST_CASE("samples are those of single runs, in order")
{
    const ScenarioFile file = perturbed({jittery(all_devices(), 0.2)});
    Session session;
    const Checked<Samples> samples = session.samples(file, 5);
    REQUIRE(samples);
    REQUIRE(samples->step_times.size() == 5);
    CHECK(*samples == *Session().samples(file, 5));
    for (std::uint64_t i = 0; i < 5; ++i)
        CHECK(samples->step_times[i] ==
              step_time(perturbed({jittery(all_devices(), 0.2)},
                                  [i](Scenario& s) { s.run.seed = 1 + i; })));
    CHECK(quantile(*samples, 0) <= quantile(*samples, 0.5));
    CHECK(quantile(*samples, 0.5) <= quantile(*samples, 1));
}

TEST_CASE("quantiles and the histogram of samples")
{
    const Samples samples{1, {SimTime(4'000), SimTime(1'000), SimTime(2'000), SimTime(3'000)}};
    CHECK(quantile(samples, 0.0) == Seconds(1e-9));
    CHECK(quantile(samples, 1.0) == Seconds(4e-9));
    CHECK(std::abs(quantile(samples, 0.5).value() - 2.5e-9) < 1e-15);
    CHECK(std::abs(mean(samples).value() - 2.5e-9) < 1e-15);
    CHECK(histogram(samples, 3) == std::vector<int>{1, 1, 2});
}

TEST_CASE("worse links slow a job, in costs and on shared links")
{
    for (const Fidelity fidelity : {Fidelity::alpha_beta, Fidelity::bundle}) {
        const auto timed = [&](const std::vector<Perturbation>& perturbations) {
            return step_time(perturbed(perturbations, [&](Scenario& s) {
                s.run.fidelity = fidelity;
                s.training.global_batch = 4; // little to hide behind
            }));
        };
        const SimTime base = timed({});
        Perturbation p = link("node0/nic3");
        p.bandwidth = 0.1;
        const SimTime thin = timed({p});
        CHECK(thin > base);
        p.bandwidth = 0.05;
        CHECK(timed({p}) >= thin);
        Perturbation lost = link("node0/nic3");
        lost.dead = true;
        CHECK(timed({lost}) > base);
        CHECK(timed({lost}) < thin); // seven of eight are left
        Perturbation busy = link("node*/nic*");
        busy.background = 0.5;
        CHECK(timed({busy}) > base);
        Perturbation longer = link("node*/nic*");
        longer.latency = Seconds(1e-4);
        CHECK(timed({longer}) > base);
    }
}

TEST_CASE("links are found by name, by part of a name, and all of the fabric")
{
    Session session;
    const Checked<Outcome> outcome = session.simulate(perturbed({}));
    REQUIRE(outcome);
    const Topology& t = *outcome->topology;
    const auto found = links_matching(
        {"node0/nic3 out", "node0/nic3", "node0/nic*", "node*/nic3 in", "node0/nic9", ""}, t);
    std::vector<std::size_t> counts;
    for (const std::vector<LinkId>& links : found)
        counts.push_back(links.size());
    CHECK(counts == std::vector<std::size_t>{1, 2, 16, 2, 0, 0});
}

TEST_CASE("a pattern of many stars finds what one of a few finds, at once")
{
    Session session;
    const Checked<Outcome> outcome = session.simulate(perturbed({}));
    REQUIRE(outcome);
    const std::string stars(200, '*');
    const auto found =
        links_matching({"node0/nic*", "node0/" + stars + "nic" + stars, stars + "x" + stars + "y",
                        "*0*n*i*c*", "*0*nic*", "node0*0/nic3", "*nic3*", "*nic3 out"},
                       *outcome->topology);
    CHECK(found[0] == found[1]);
    CHECK(found[2].empty());
    CHECK(found[3] == found[4]);
    CHECK(found[5].empty()); // the same letter cannot be before the star and behind it
    CHECK(found[6].size() == 4);
    CHECK(found[7].size() == 2);
}

TEST_CASE("a window multiplies with a slowdown for ever")
{
    const auto one_step = [](Scenario& s) { s.run.steps = 1; };
    Perturbation window = slow(all_devices(), 1.5);
    window.from = Seconds(0);
    const SimTime both = step_time(perturbed({slow(all_devices(), 2.0), window}, one_step));
    const SimTime product = step_time(perturbed({slow(all_devices(), 3.0)}, one_step));
    CHECK(std::abs((both - product).value()) < product.value() / 1000);
}

TEST_CASE("a link that fails for a time delays a step by no more than that")
{
    // The gradients of node 0 leave through its NICs at the end of the step. Windows count from its
    // beginning, so that an outage behind it delays nothing.
    const auto in_bundle = [](Scenario& s) { s.run.fidelity = Fidelity::bundle; };
    const SimTime sound = step_time(perturbed({}, in_bundle));
    const double outage = 0.3 * to_seconds(sound).value();
    SimTime longest{};
    for (const double from : {0.0, 0.5, 0.9, 1.1}) {
        Perturbation flap = link("node0/nic*");
        flap.dead = true;
        flap.from = Seconds(from * to_seconds(sound).value());
        flap.until = *flap.from + Seconds(outage);
        const SimTime found = step_time(perturbed({flap}));
        CHECK(found >= sound);
        CHECK(to_seconds(found - sound).value() <= outage * (1 + 1e-9));
        if (from > 1)
            CHECK(found == sound);
        longest = std::max(longest, found);
    }
    CHECK(to_seconds(longest - sound).value() > 0.5 * outage);
}

#include "sim/base/build_info.h"
#include "sim/study/perturbed_links.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <algorithm>
#include <functional>

using namespace trainyard;

namespace {

// Llama 2 7B on two nodes: stages of eight ranks, one to a node, when tp is 8.
ScenarioFile perturbed(const std::vector<Perturbation>& perturbations,
                       const std::function<void(Scenario&)>& change = {})
{
    Scenario s;
    s.model = {"llama-2-7b", {}};
    s.topology = {"a100-2x8-hdr", {}};
    s.training.sequence_length = 2048;
    s.training.global_batch = 16;
    s.strategy.tp = 4;
    s.strategy.dp = 4;
    s.strategy.zero = 1;
    s.perturbations = perturbations;
    if (change)
        change(s);
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", "test");
}

SimTime step_time(const ScenarioFile& file)
{
    Session session;
    const Checked<Outcome> outcome = session.simulate(file);
    if (!outcome)
        FAIL(render(outcome.error(), ""));
    return outcome->result->step_time;
}

Perturbation slow(DeviceChoice device, double slowdown)
{
    Perturbation p;
    p.device = std::move(device);
    p.slowdown = slowdown;
    return p;
}

Perturbation jittery(DeviceChoice device, double scale)
{
    Perturbation p;
    p.device = std::move(device);
    p.jitter = KernelJitter{JitterDistribution::lognormal, scale, 1.0};
    return p;
}

Perturbation link(const std::string& name)
{
    Perturbation p;
    p.link = name;
    return p;
}

DeviceChoice all_devices()
{
    DeviceChoice all;
    all.all = true;
    return all;
}

// Whether a problem of that severity holds the text.
bool tells(const std::vector<Perturbation>& perturbations, const std::string& text)
{
    Session session;
    const Problems problems = session.check(perturbed(perturbations));
    return std::ranges::any_of(problems, [&](const Diagnostic& problem) {
        return problem.message.find(text) != std::string::npos;
    });
}

} // namespace

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

TEST_CASE("windows of one device overlap or not in whatever order they are written")
{
    const auto window = [](double from, double until) {
        Perturbation p = slow(3, 2.0);
        p.from = Seconds(from);
        p.until = Seconds(until);
        return p;
    };
    const std::string overlap = "two windows of device 3 overlap";
    CHECK(tells({window(0.2, 0.3), window(0.0, 0.1), window(0.05, 0.15)}, overlap));
    CHECK(tells({window(0.2, 0.3), window(0.0, 0.1), window(0.1, 0.25)}, overlap));
    CHECK(tells({window(0.1, 0.2), window(0.0, 1.0)}, overlap));
    CHECK(tells({window(0.0, 1.0), window(0.1, 0.2)}, overlap));
    Session session;
    CHECK(session.check(perturbed({window(0.2, 0.3), window(0.0, 0.1), window(0.1, 0.2)})).empty());
}

TEST_CASE("contradictory perturbations are named")
{
    Perturbation window = slow(3, 2.0);
    window.from = Seconds(0.2);
    window.until = Seconds(0.1);
    CHECK(tells({window}, "before it begins"));
    window.from = Seconds(0.0);
    Perturbation other = slow(3, 3.0);
    other.from = Seconds(0.05);
    CHECK(tells({window, other}, "two windows of device 3 overlap"));
    CHECK(tells({slow(99, 2.0)}, "no device 99"));
    CHECK(tells({slow(3, 2.0), slow(3, 1.5)}, "slowed twice"));
    CHECK(tells({jittery(3, 0.1), jittery(3, 0.2)}, "jitters twice"));
    Perturbation node;
    node.node = 2;
    node.slowdown = 1.5;
    CHECK(tells({node}, "no node 2"));
    Perturbation loader;
    loader.device = DeviceChoice(1);
    loader.late = LateArrival{Seconds(0.1), 1.0, LatePart::loader};
    CHECK(tells({loader}, "no loader"));
    Perturbation unknown = link("node0/nick3");
    unknown.dead = true;
    CHECK(tells({unknown}, "no link of this cluster is named \"node0/nick3\""));
    Perturbation half = link("node0/nic3");
    half.dead = true;
    half.bandwidth = 0.5;
    CHECK(tells({half}, "is dead and more"));
    Perturbation mixed = link("node0/nic3");
    mixed.dead = true;
    mixed.device = DeviceChoice(1);
    CHECK(tells({mixed}, "devices and links in one entry"));
    CHECK(tells({Perturbation{}}, "says what is perturbed"));
}

TEST_CASE("more entries than a study can go through are refused")
{
    CHECK(tells(std::vector<Perturbation>(most_perturbations + 1, slow(3, 2.0)), "10001 entries"));
}

TEST_CASE("two statements about one link are named, with both entries")
{
    const auto with = [](const std::string& name, const std::function<void(Perturbation&)>& set) {
        Perturbation p = link(name);
        set(p);
        return p;
    };
    const Perturbation half = with("node0/nic3", [](Perturbation& p) { p.bandwidth = 0.5; });
    const Perturbation thin = with("node0/nic* out", [](Perturbation& p) { p.bandwidth = 0.1; });
    const Perturbation busy = with("node0/nic*", [](Perturbation& p) { p.background = 0.5; });
    const Perturbation longer =
        with("node*/nic3", [](Perturbation& p) { p.latency = Seconds(1e-5); });
    const Perturbation dead = with("node0/nic3", [](Perturbation& p) { p.dead = true; });
    Perturbation collisions;
    collisions.ecmp = true;
    CHECK(
        tells({half, thin}, "node0/nic3 out has a bandwidth twice, here and in /perturbations/0"));
    CHECK(tells({busy, half, busy}, "background twice, here and in /perturbations/0"));
    CHECK(tells({half, longer, longer}, "latency twice, here and in /perturbations/1"));
    CHECK(tells({collisions, half, collisions}, "collisions twice, here and in /perturbations/0"));
    CHECK(tells({dead, half}, "\"node0/nic3\" is dead, says /perturbations/0"));
    CHECK(tells({half, dead}, "\"node0/nic3\" is dead, says /perturbations/1"));
    CHECK(tells({dead, dead}, "is dead, says /perturbations/0"));
    // A slow link that others use and that is longer, one dead of many busy ones.
    Session session;
    CHECK(session.check(perturbed({half, busy, longer, collisions})).empty());
    CHECK(session.check(perturbed({busy, dead})).empty());
}

TEST_CASE("an entry with an error is not said to change nothing")
{
    CHECK(tells({slow(3, 1.0)}, "changes nothing"));
    CHECK(tells({link("node0/nic3")}, "changes nothing"));
    CHECK_FALSE(tells({Perturbation{}}, "changes nothing"));
    CHECK_FALSE(tells({slow(99, 1.0)}, "changes nothing"));
    CHECK_FALSE(tells({link("node0/nick3")}, "changes nothing"));
    Perturbation half = slow(3, 1.0);
    half.bandwidth = 0.5;
    CHECK_FALSE(tells({half}, "changes nothing"));
}

TEST_CASE("a slowdown that begins when all is over gives a warning, one within the step none")
{
    const auto warnings = [](double from) {
        Perturbation p = slow(3, 2.0);
        p.from = Seconds(from);
        Session session;
        return session.simulate(perturbed({p}))->warnings;
    };
    const double step = to_seconds(step_time(perturbed({}))).value();
    CHECK(warnings(0.5 * step).empty());
    REQUIRE(warnings(1.01 * step).size() == 1);
    CHECK(warnings(1.01 * step).front().pointer == "/perturbations/0/from");
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

TEST_CASE("steps that come late beyond the clock are refused")
{
    Perturbation late;
    late.device = DeviceChoice(1);
    late.late = LateArrival{Seconds(14 * 86400), 1.0, LatePart::step};
    Session session;
    const Checked<Outcome> outcome = session.simulate(perturbed({late}));
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().front().message.find("27 days") != std::string::npos);
    CHECK(outcome.error().front().hint.find("perturbations") != std::string::npos);
}

TEST_CASE("a partitioned job says which ranks cannot reach which")
{
    Perturbation cut = link("node0/nic* out");
    cut.dead = true;
    CHECK(tells({cut}, "ranks 0-7 cannot reach ranks 8-15"));
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

TEST_CASE("links that fail for a time are refused where the job would not outlive it")
{
    Perturbation gone = link("node0/nic3");
    gone.dead = true;
    gone.from = Seconds(1);
    CHECK(tells({gone}, "gone for good: transfers over it are given up after 34.4 s"));
    gone.until = Seconds(30);
    CHECK_FALSE(tells({gone}, "given up"));
    CHECK(tells({gone}, "simulated in fidelity bundle"));
    CHECK(tells({gone, gone}, "two windows of node0/nic3 out overlap"));
    Perturbation inside = gone;
    inside.link = "node0/gpu0/nvlink*";
    CHECK(tells({inside}, "fails under way, which ends the job"));
    Perturbation longer = link("node0/nic3");
    longer.latency = Seconds(1e-6);
    longer.until = Seconds(1);
    CHECK(tells({longer}, "a latency for a time"));
    Perturbation turned = gone;
    turned.until = Seconds(0.5);
    CHECK(tells({turned}, "before it begins"));
}

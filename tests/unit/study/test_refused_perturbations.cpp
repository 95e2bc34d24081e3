// Perturbations that cannot be, contradict each other or change nothing.

#include "tests/unit/study/perturbed.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

// Whether a problem holds the text.
bool tells(const std::vector<Perturbation>& perturbations, const std::string& text)
{
    Session session;
    const Problems problems = session.check(perturbed(perturbations));
    return std::ranges::any_of(problems, [&](const Diagnostic& problem) {
        return problem.message.find(text) != std::string::npos;
    });
}

} // namespace

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

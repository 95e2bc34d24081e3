#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;

namespace {

// Llama 2 7B on one H100 node.
ScenarioFile scenario(int tp = 2, int dp = 2)
{
    Scenario s;
    s.model = {"llama-2-7b", {}};
    s.topology = {"h100-1x8", {}};
    s.training.sequence_length = 4096;
    s.training.global_batch = 16;
    s.strategy.tp = tp;
    s.strategy.pp = 2;
    s.strategy.dp = dp;
    s.strategy.zero = 1;
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", "test");
}

ScenarioFile changed(void (*change)(Scenario&))
{
    Scenario s = scenario().scenario;
    change(s);
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", "test");
}

// What a session builds for `second` after it has simulated scenario().
Session::StageCounts built_anew(const ScenarioFile& second)
{
    Session session;
    REQUIRE(session.simulate(scenario()));
    const Session::StageCounts before = session.counts();
    // Memory: what lives at once, and what the allocator makes of it.
    CHECK(before == Session::StageCounts{1, 1, 1, 1, 2, 1, 1});
    REQUIRE(session.simulate(second));
    const Session::StageCounts after = session.counts();
    return {after.topology - before.topology,
            after.model - before.model,
            after.profile - before.profile,
            after.plan - before.plan,
            after.memory - before.memory,
            after.binding - before.binding,
            after.run - before.run};
}

} // namespace

TEST_CASE("a session asked the same again builds nothing")
{
    CHECK(built_anew(scenario()) == Session::StageCounts{});
}

TEST_CASE("whoever refuses a job for the ranks that would be simulated does so before any is")
{
    Session session;
    std::size_t lanes = 0;
    SimulateRequest request;
    request.laid_out = [&](const Outcome& outcome) {
        lanes = outcome.binding->lanes.size();
        return Problems{{"", 0, "", "too many", "", Severity::error}};
    };
    const Checked<Outcome> refused = session.simulate(scenario(), request);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().front().message == "too many");
    CHECK(lanes == 2); // a stage each
    CHECK(session.counts().run == 0);
    request.laid_out = [](const Outcome&) { return Problems{}; };
    CHECK(session.simulate(scenario(), request));
    CHECK(session.counts().binding == 1); // what was laid out is what is run
}

TEST_CASE("a changed strategy reads neither topology nor model nor profile again")
{
    CHECK(built_anew(scenario(4, 1)) ==
          Session::StageCounts{.plan = 1, .memory = 2, .binding = 1, .run = 1});
    CHECK(built_anew(changed([](Scenario& s) { s.training.global_batch = 32; })) ==
          Session::StageCounts{.plan = 1, .memory = 2, .binding = 1, .run = 1});
}

TEST_CASE("a slow device rebinds the same program")
{
    CHECK(built_anew(changed([](Scenario& s) {
              s.perturbations = {{3, 1.1}};
          })) == Session::StageCounts{.binding = 1, .run = 1});
}

TEST_CASE("more steps only run longer")
{
    CHECK(built_anew(changed([](Scenario& s) { s.run.steps = 3; })) ==
          Session::StageCounts{.run = 1});
}

TEST_CASE("another topology of the same nodes keeps the model and its program")
{
    const Session::StageCounts anew = built_anew(changed([](Scenario& s) {
        s.topology = {"h100-8x8-ndr400", {}};
    }));
    CHECK(anew.topology == 1);
    CHECK(anew.model == 0);
    CHECK(anew.plan == 0);
    CHECK(anew.binding == 1);
}

TEST_CASE("a description is no input of any stage")
{
    CHECK(built_anew(changed([](Scenario& s) { s.description = "another"; })) ==
          Session::StageCounts{});
}

TEST_CASE("what a session remembers it gives back unchanged")
{
    Session session;
    const Checked<Outcome> first = session.simulate(scenario());
    REQUIRE(session.simulate(scenario(4, 1)));
    const Checked<Outcome> again = session.simulate(scenario());
    REQUIRE(first);
    REQUIRE(again);
    CHECK(again->result == first->result); // the very same
    CHECK(again->step_time.value == first->step_time.value);
    CHECK(again->input_hash == first->input_hash);
}

TEST_CASE("two sessions agree to the last bit")
{
    Session a;
    Session b;
    CHECK(a.simulate(scenario())->result->step_time == b.simulate(scenario())->result->step_time);
}

TEST_CASE("a recorded run takes the same time as one that is not recorded")
{
    Session session;
    const Checked<Outcome> plain = session.simulate(scenario());
    SimulateRequest request;
    request.record = RecordRequest{};
    const Checked<Outcome> recorded = session.simulate(scenario(), request);
    REQUIRE(recorded);
    CHECK(recorded->result->step_time == plain->result->step_time);
    CHECK(session.counts().run == 1);
}

TEST_CASE("a folded step takes the time of one with every rank simulated")
{
    Session session;
    const Checked<Outcome> folded = session.simulate(scenario());
    const Checked<Outcome> whole =
        session.simulate(changed([](Scenario& s) { s.run.fold = false; }));
    REQUIRE(whole);
    CHECK(folded->engine.lanes < whole->engine.lanes);
    CHECK(whole->engine.lanes == 8);
    CHECK(folded->result->step_time == whole->result->step_time);
}

TEST_CASE("ranks fold around a slow device")
{
    // Two stages of four replicas: the slow rank, its neighbour in the other stage, and the three
    // other ranks of each stage.
    Session session;
    const auto simulate = [&](bool fold, double slowdown) {
        Scenario s = scenario(1, 4).scenario;
        s.run.fold = fold;
        if (slowdown > 1)
            s.perturbations = {{3, slowdown}};
        return session.simulate(scenario_in_memory(std::move(s), data_dir() / "scenarios", "test"));
    };
    const Checked<Outcome> folded = simulate(true, 1.1);
    const Checked<Outcome> whole = simulate(false, 1.1);
    REQUIRE(folded);
    REQUIRE(whole);
    CHECK(folded->engine.lanes == 4);
    CHECK(whole->engine.lanes == 8);
    CHECK(folded->result->step_time == whole->result->step_time);
    CHECK(folded->result->step_time > simulate(true, 1.0)->result->step_time);
}

TEST_CASE("a slower device slows the step, and never by more than itself")
{
    Session session;
    const SimTime base = session.simulate(scenario())->result->step_time;
    const SimTime slow =
        session.simulate(changed([](Scenario& s) {
                   s.perturbations = {{3, 1.2}};
               }))
            ->result->step_time;
    CHECK(slow > base);
    CHECK(slow / base < 1.2);
}

TEST_CASE("problems of several parts come back together, in no time and with nothing built")
{
    Session session;
    const ScenarioFile bad = changed([](Scenario& s) {
        s.model = {"llama-2-7c", {}};
        s.topology = {"h100-1xx8", {}};
        s.environment["NCCL_NTHREADS"] = "16";
    });
    const Problems problems = session.check(bad);
    const auto has = [&](std::string_view pointer) {
        return std::any_of(problems.begin(), problems.end(),
                           [&](const Diagnostic& p) { return p.pointer == pointer; });
    };
    CHECK(has("/model"));
    CHECK(has("/topology"));
    CHECK(has("/environment/NCCL_NTHREADS"));
    CHECK(session.counts() == Session::StageCounts{});
}

TEST_CASE("work that was cancelled throws and leaves the session usable")
{
    Session session;
    CancelFlag flag;
    flag.cancel();
    SimulateRequest request;
    request.work.cancel = &flag;
    CHECK_THROWS_AS(session.simulate(scenario(), request), Cancelled);
    CHECK(session.simulate(scenario()));
}

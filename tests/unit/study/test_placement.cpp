// Laws of jobs that use some GPUs of each NVLink domain.

#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "tests/catch.h"

#include <fmt/core.h>

using namespace trainyard;
using Catch::Matchers::WithinRel;

namespace {

// Racks of 72 GPUs in trays of 4.
Json racks(int count, int gpus_per_rack = 72)
{
    const Checked<Json> topology = parse_json(
        fmt::format(R"({{"format": "trainyard.topology/1", "generator": "cluster", "nodes": {},
            "node": {{"preset": "gb200-nvl72", "nvlink": {{"domain": {}}}}}, "name": "racks",
            "fabric": {{"kind": "rail", "network": "ib_ndr"}}}})",
                    count * gpus_per_rack / 4, gpus_per_rack),
        "racks.json");
    REQUIRE(topology);
    return *topology;
}

// Experts over groups of 16.
Scenario experts_job(Json topology, int dp, int gpus_per_domain)
{
    Scenario s;
    s.model = {"qwen3-30b-a3b", {}};
    s.topology = {"", std::move(topology)};
    s.training.sequence_length = 1024;
    s.training.global_batch = 2 * dp;
    s.strategy.ep = 16;
    s.strategy.dp = dp;
    s.strategy.zero = 1;
    s.strategy.gpus_per_domain = gpus_per_domain;
    return s;
}

Checked<Outcome> simulated(const Scenario& scenario)
{
    Session session;
    return session.simulate(scenario_in_memory(scenario, data_dir() / "scenarios", "test"));
}

Seconds step_of(const Scenario& scenario)
{
    const Checked<Outcome> outcome = simulated(scenario);
    if (!outcome)
        FAIL(render(outcome.error(), ""));
    return outcome->step_time.value;
}

Problems problems_of(const Scenario& scenario)
{
    Session session;
    return session.check(scenario_in_memory(scenario, data_dir() / "scenarios", "test"));
}

const Diagnostic* find(const Problems& problems, std::string_view pointer)
{
    const auto found = std::ranges::find(problems, pointer, &Diagnostic::pointer);
    return found == problems.end() ? nullptr : &*found;
}

} // namespace

TEST_CASE("a job on 64 GPUs of each rack of 72 takes as long as on racks of 64")
{
    // The NICs of idle GPUs are idle.
    CHECK_THAT(step_of(experts_job(racks(2), 128, 64)).value(),
               WithinRel(step_of(experts_job(racks(2, 64), 128, 0)).value(), 1e-9));
}

TEST_CASE("expert groups that racks do not divide are named, and cost time")
{
    // 72 = 4 x 16 + 8: of eight groups the fifth lies in both racks.
    const Scenario straddling = experts_job(racks(2), 128, 0);
    const Problems problems = problems_of(straddling);
    const Diagnostic* const note = find(problems, "/strategy/ep");
    REQUIRE(note != nullptr);
    CHECK(note->severity == Severity::warning);
    CHECK(note->message == "1 of 8 groups of 16 ep ranks lie in two NVLink domains of 72 GPUs");
    CHECK(note->hint == "strategy.gpus_per_domain 64 keeps each inside one");
    const Scenario aligned = experts_job(racks(2), 128, 64);
    CHECK(find(problems_of(aligned), "/strategy/ep") == nullptr);
    CHECK(step_of(aligned) < step_of(straddling));
}

TEST_CASE("what GPUs per domain leave must hold the job, and a domain must have them")
{
    const Problems few = problems_of(experts_job(racks(2), 128, 48));
    REQUIRE(find(few, "/strategy/dp") != nullptr);
    CHECK(find(few, "/strategy/dp")->message.find("strategy.gpus_per_domain 48 leaves 96") !=
          std::string::npos);
    const Problems many = problems_of(experts_job(racks(2), 128, 73));
    REQUIRE(find(many, "/strategy/gpus_per_domain") != nullptr);
    CHECK(find(many, "/strategy/gpus_per_domain")->hint == "1 to 72, or 0 for all");
}

TEST_CASE("all fidelities agree on a job over some GPUs of each rack")
{
    Scenario alone = experts_job(racks(1), 16, 16);
    const double time = step_of(alone).value();
    for (const Fidelity fidelity : {Fidelity::bundle, Fidelity::flow, Fidelity::chunk}) {
        INFO(to_name(fidelity));
        alone.run.fidelity = fidelity;
        CHECK_THAT(step_of(alone).value(), WithinRel(time, 0.02));
    }
}

#include "sim/study/session.h"
#include "sim/study/sweep_space.h"
#include "tests/unit/study/swept.h"

#include <algorithm>
#include <map>

using namespace trainyard;

namespace {

// Whose replicas follow from the other sizes.
ScenarioFile shipped_without_dp(const std::string& name)
{
    return shipped(name, {Override{"strategy.dp", "null"}});
}

} // namespace

TEST_CASE("what there is to sweep is told by model and cluster, whatever the strategy")
{
    ScenarioFile file = shipped_without_dp("mixtral-8x7b-ep8-h100-64.json");
    const SweepFacts facts = sweep_facts(file).value();
    CHECK(facts == SweepFacts{64, 8, 32, 32, 8, 0, 4096, 256});
    file.scenario.strategy.tp = 7; // refused by a simulation
    CHECK(sweep_facts(file).value() == facts);
    file.scenario.topology = {"no-such-cluster", {}};
    CHECK_FALSE(sweep_facts(file));
}

TEST_CASE("the rule of sizes drops only what a simulation would refuse")
{
    const auto [name, devices] = GENERATE(std::pair("llama3-70b-h100-64.json", 64),
                                          std::pair("mixtral-8x7b-ep8-h100-64.json", 64),
                                          std::pair("llama3-8b-h100-8.json", 8));
    const ScenarioFile base = shipped_without_dp(name);
    const SweepGrid grid =
        grid_of({"training.micro_batch=1,2,3", "strategy.zero=0,1", "strategy.tp=1,2,8,16",
                 "strategy.pp=1,2,4,5", "strategy.dp=1,3,8,null", "strategy.cp=1,2",
                 "training.global_batch=24,128"});
    const SizeRule rule(grid, base, devices);
    Session session;
    std::size_t allowed = 0;
    for (std::size_t index = 0; index < grid.points(); ++index) {
        if (rule.allows(index)) {
            ++allowed;
            continue;
        }
        const Checked<ScenarioFile> file = scenario_at(grid, index, base);
        REQUIRE(file);
        CHECK(has_errors(session.check_job(*file)));
    }
    CHECK(allowed > 0);
    CHECK(rule.count() == allowed);
    std::vector<std::size_t> points = rule.points();
    CHECK(points.size() == allowed);
    CHECK_FALSE(std::ranges::is_sorted(points)); // mixed
    std::ranges::sort(points);
    CHECK(std::ranges::adjacent_find(points) == points.end());
    CHECK(std::ranges::all_of(points, [&](std::size_t index) { return rule.allows(index); }));
}

TEST_CASE("without sizes among its axes a grid is allowed whole, or not at all")
{
    const ScenarioFile base = shipped_without_dp("llama3-8b-h100-8.json");
    const SweepGrid grid = grid_of({"strategy.zero=0..3"});
    CHECK(SizeRule(grid, base, 8).count() == 4);
    CHECK(SizeRule(grid, base, 8).points().size() == 4);
    CHECK(SizeRule(grid, base, 7).count() == 0); // 8 sequences over 7 replicas
}

TEST_CASE("a sweep of some points simulates these")
{
    const ScenarioFile base = shipped_without_dp("llama3-8b-h100-8.json");
    const SweepGrid grid = grid_of({"strategy.zero=0..3"});
    Session session;
    std::map<std::size_t, SweepPoint> found;
    const SweepEnd end = sweep(base, grid, session, {1, {}, {{3, 0}}}, [&](SweepPoint&& point) {
        found.emplace(point.index, std::move(point));
    });
    CHECK(end.points == 2);
    CHECK(end.done == 2);
    REQUIRE(found.size() == 2);
    REQUIRE(found.at(3).feasible());
    CHECK(found.at(3).memory->peak == found.at(3).outcome->memory.peak());
    // 8 B parameters with their optimizer states need more than 80 GB.
    REQUIRE_FALSE(found.at(0).feasible());
    REQUIRE(found.at(0).memory);
    CHECK(found.at(0).memory->peak > found.at(0).memory->capacity);
}

TEST_CASE("where the cluster is swept, sizes go by the devices of each")
{
    const ScenarioFile base = shipped_without_dp("llama3-70b-h100-64.json");
    const SweepGrid grid = grid_of({"topology.nodes=1,2,8,16", "strategy.tp=4,8,16",
                                    "topology.node.gpus=4,8", "strategy.zero=0,1"});
    REQUIRE(grid_problems(grid, base).empty());
    const SizeRule rule(grid, base, 64);
    Session session;
    std::size_t allowed = 0;
    for (std::size_t index = 0; index < grid.points(); ++index) {
        const ScenarioFile file = scenario_at(grid, index, base).value();
        const SweepFacts facts = sweep_facts(file).value();
        const Strategy& s = file.scenario.strategy;
        const int replica = s.tp * s.pp * s.cp;
        const bool fits = replica <= facts.devices && facts.devices % replica == 0 &&
                          file.scenario.training.global_batch % (facts.devices / replica) == 0;
        CHECK(rule.allows(index) == fits);
        allowed += fits;
    }
    CHECK(allowed > 0);
    CHECK(rule.count() == allowed);
    CHECK(rule.points().size() == allowed);
}

TEST_CASE("a figure of a node or network that is named by its preset can be set beside it")
{
    const ScenarioFile base = shipped_without_dp("llama3-70b-h100-64.json");
    const Checked<ScenarioFile> changed = changed_scenario(
        base, std::vector<Override>{{"topology.node.nics", "4"},
                                    {"topology.fabric.network.switch_ports", "32"}});
    REQUIRE(changed);
    const Json* const node = changed->json.find("topology")->find("node");
    CHECK(*node->find("preset") == Json("dgx-h100"));
    CHECK(*node->find("nics") == Json(4));
    const Json* const network = changed->json.find("topology")->find("fabric")->find("network");
    CHECK(*network->find("preset") == Json("ib_ndr"));
    CHECK(sweep_facts(*changed).value().devices == 64); // the preset's eight a node
}

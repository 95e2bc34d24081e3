#include "sim/base/build_info.h"
#include "sim/report/link_load.h"
#include "sim/report/timeline/recorded.h"
#include "sim/study/session.h"
#include "sim/topology/topology_model.h"
#include "tests/catch.h"
#include "tests/support/leaf_spine.h"
#include "tests/support/resident_memory.h"
#include "tests/unit/report/small_outcome.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Sums of 1 GB at 200 GB/s, messages of 40 MB at 40 GB/s: as long as in small_outcome.h.
Outcome timed_outcome(Lanes lanes = Lanes::all)
{
    Outcome outcome = recorded_outcome(lanes);
    Binding binding = *outcome.binding;
    TransferCost sum;
    sum.ceiling = ByteRate(200'000'000'000);
    sum.work = work_done(sum.ceiling, ms(5));
    TransferCost message;
    message.ceiling = ByteRate(40'000'000'000);
    message.work = work_done(message.ceiling, ms(1));
    message.pattern = TrafficPattern::neighbours;
    binding.costs.transfers = {{sum, message}};
    outcome.binding = std::make_shared<const Binding>(std::move(binding));
    return outcome;
}

LinkLoads loads_of(Outcome outcome)
{
    return LinkLoads(std::make_shared<const Outcome>(std::move(outcome)));
}

LinkId link_named(const Topology& topology, std::string_view name)
{
    for (std::size_t i = 0; i < topology.link_count(); ++i)
        if (topology.link_name(make_id<LinkId>(i)) == name)
            return make_id<LinkId>(i);
    FAIL("no link " << name);
    return {};
}

std::shared_ptr<const Outcome> run(
    const char* scenario, std::vector<Override> changes,
    std::function<bool(LaneId)> recorded = [](LaneId) { return true; })
{
    const std::string file = (data_dir() / "scenarios" / scenario).string();
    const auto read = read_scenario_file(file, changes);
    REQUIRE(read);
    Session session;
    SimulateRequest request;
    request.record = RecordRequest{std::move(recorded), 1};
    Checked<Outcome> outcome = session.simulate(*read, request);
    REQUIRE(outcome);
    return std::make_shared<const Outcome>(std::move(*outcome));
}

} // namespace

TEST_CASE("a link carries a sum's bytes while it moves data, and nothing else")
{
    const LinkLoads loads = loads_of(timed_outcome());
    const LinkId up = link_named(*loads.outcome().topology, "node0/gpu0/nvlink up");
    // The ring of two: each member's bytes go up its own NVLink. Stage 0 sums from 93 to 98 ms.
    CHECK(loads.load(up, loads.rates_at(ms(192))).value() == 0);
    CHECK_THAT(loads.load(up, loads.rates_at(ms(195))).value(), WithinRel(200e9, 1e-9));
    CHECK(loads.load(up, loads.rates_at(ms(198))).value() == 0);
    CHECK_THAT(loads.bytes(up, ms(100), ms(200)), WithinRel(1e9, 1e-9));
    // Half of it by 95.5 ms; 5 of 100 ms at that rate.
    CHECK_THAT(loads.bytes(up, ms(100), ms(195) + ms(1) / 2), WithinRel(0.5e9, 1e-9));
    CHECK_THAT(loads.load(up, loads.mean_rates(ms(100), ms(200))).value(), WithinRel(10e9, 1e-9));
    CHECK_THAT(loads.highest(up, ms(100), ms(200)).value(), WithinRel(200e9, 1e-9));
    CHECK(loads.highest(up, ms(100), ms(150)).value() == 0);
}

TEST_CASE("messages cross the NICs of both ends when their senders send")
{
    const LinkLoads loads = loads_of(timed_outcome());
    const Topology& topology = *loads.outcome().topology;
    const LinkId out = link_named(topology, "node0/nic0 out");
    const LinkId in = link_named(topology, "node1/nic0 in");
    // Rank 0 sends to rank 2 from 10 and from 20 ms on, for 1 ms.
    CHECK(loads.profile_of(out) == loads.profile_of(in));
    CHECK_THAT(loads.bytes(out, ms(100), ms(200)), WithinRel(80e6, 1e-9));
    CHECK_THAT(loads.load(out, loads.rates_at(ms(110))).value(), WithinRel(40e9, 1e-9));
    CHECK(loads.load(out, loads.rates_at(ms(115))).value() == 0);
    const std::vector<double> parts = loads.over_time(out, ms(100), ms(200), 10);
    // 40 MB in each of the second and the third ten milliseconds.
    CHECK_THAT(parts[1], WithinRel(4e9, 1e-9));
    CHECK_THAT(parts[2], WithinRel(4e9, 1e-9));
    CHECK_THAT(std::accumulate(parts.begin(), parts.end(), 0.0), WithinRel(8e9, 1e-9));
    const LinkFlows flows = loads.flows(out, ms(100), ms(200), 1);
    CHECK(flows.count == 2);
    REQUIRE(flows.largest.size() == 1);
    CHECK(flows.largest[0].from == ms(110));
    CHECK(flows.largest[0].to == ms(111));
    CHECK_THAT(flows.largest[0].rate().value(), WithinRel(40e9, 1e-9));
    CHECK(loads.is_message(flows.largest[0]));
    CHECK(loads.ranks_of(flows.largest[0]) == std::vector{RankId{0}, RankId{2}});
    CHECK(loads.flows(out, ms(111), ms(120), 10).count == 0);
    // The same message crosses both NICs, and nothing else but PCIe.
    const std::vector<LinkId> ways = loads.links_of(flows.largest[0].record);
    CHECK(std::ranges::count(ways, out) == 1);
    CHECK(std::ranges::count(ways, in) == 1);
    CHECK(std::ranges::none_of(
        ways, [&](LinkId link) { return topology.link(link).kind == LinkKind::nvlink; }));
}

TEST_CASE("a folded lane's transfers count on the links of all its ranks")
{
    const LinkLoads all = loads_of(timed_outcome(Lanes::all));
    const LinkLoads folded = loads_of(timed_outcome(Lanes::folded));
    CHECK(folded.ranks_counted() == 4);
    for (std::size_t i = 0; i < all.outcome().topology->link_count(); ++i) {
        const auto link = make_id<LinkId>(i);
        CHECK_THAT(folded.bytes(link, ms(100), ms(200)),
                   WithinAbs(all.bytes(link, ms(100), ms(200)), 1));
    }
}

TEST_CASE("a rank that was not recorded sends what a recorded one of its role sends")
{
    Outcome outcome = timed_outcome();
    StepResult result = *outcome.result;
    std::erase_if(result.records, [](const OpRecord& r) { return r.lane != LaneId{0}; });
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const LinkLoads loads = loads_of(std::move(outcome));
    const Topology& topology = *loads.outcome().topology;
    const auto bytes = [&](const char* name) {
        return loads.bytes(link_named(topology, name), ms(100), ms(200));
    };
    CHECK(loads.ranks_counted() == 2); // of the first stage
    CHECK(loads.ranks_recorded() == 1);
    CHECK_THAT(bytes("node0/gpu1/nvlink up"), WithinRel(1e9, 1e-9)); // of the sum with rank 0
    CHECK(bytes("node1/gpu0/nvlink up") == 0);
    CHECK_THAT(bytes("node0/nic0 out"), WithinRel(80e6, 1e-9));
    CHECK_THAT(bytes("node0/nic1 out"), WithinRel(80e6, 1e-9));
}

TEST_CASE("what the engine counts on shared links is what their transfers move")
{
    const auto outcome =
        run("llama2-7b-tp2-pp2-dp2.json", {{"run.fidelity", "bundle"},
                                           {"run.fold", "false"},
                                           {"topology", "\"../topologies/a100-2x8-hdr.json\""},
                                           {"strategy.tp", "4"},
                                           {"strategy.dp", "2"}});
    const LinkLoads loads(outcome);
    const SimTime end = outcome->result->step_ends.back();
    CHECK(loads.ranks_counted() == 16);
    int used = 0;
    double bytes = 0;
    for (const LinkTotals& totals : outcome->result->links) {
        REQUIRE(loads.totals(totals.link) == &totals);
        // Transfers that cross the border of steps count in both: 2 %.
        CHECK_THAT(loads.bytes(totals.link, SimTime(0), end + end),
                   WithinRel(totals.bytes, 0.02) || WithinAbs(totals.bytes, 1e3));
        used += totals.bytes > 0 ? 1 : 0;
        bytes += totals.bytes;
    }
    CHECK(used > 32);
    CHECK(bytes > 1e9);
}

TEST_CASE("ranks that fold load links as the same ranks apart")
{
    const std::vector<Override> changes{{"topology", "\"../topologies/a100-2x8-hdr.json\""},
                                        {"strategy.tp", "4"},
                                        {"strategy.dp", "2"}};
    auto apart = changes;
    apart.push_back({"run.fold", "false"});
    const auto folded = run("llama2-7b-tp2-pp2-dp2.json", changes);
    const auto all = run("llama2-7b-tp2-pp2-dp2.json", apart);
    REQUIRE(folded->engine.lanes < all->engine.lanes);
    const LinkLoads a(folded);
    const LinkLoads b(all);
    const SimTime end = all->result->step_ends.back();
    for (std::size_t i = 0; i < all->topology->link_count(); ++i) {
        const auto link = make_id<LinkId>(i);
        CHECK_THAT(a.bytes(link, SimTime(0), end),
                   WithinRel(b.bytes(link, SimTime(0), end), 1e-9) || WithinAbs(0, 1e-3));
    }
}

// A slower link tells ranks apart that folded before: then more of them would have to be recorded
// than a picture can wait for.
TEST_CASE("one recorded rank of each role tells the bytes of all links, also beside a slow link")
{
    const std::vector<Override> changes{
        {"topology", "\"../topologies/a100-2x8-hdr.json\""},
        {"strategy.tp", "4"},
        {"strategy.dp", "2"},
        {"perturbations", R"([{"link": "node0/nic1", "bandwidth": 0.5}])"}};
    const auto all = run("llama2-7b-tp2-pp2-dp2.json", changes);
    std::set<RoleId> seen;
    std::set<LaneId> first;
    for (std::size_t i = 0; i < all->binding->lanes.size(); ++i)
        if (seen.insert(all->binding->lanes[i].role).second)
            first.insert(make_id<LaneId>(i));
    REQUIRE(first.size() < all->binding->lanes.size());
    const auto few = run("llama2-7b-tp2-pp2-dp2.json", changes,
                         [&](LaneId lane) { return first.contains(lane); });
    const LinkLoads a(few);
    const LinkLoads b(all);
    CHECK(a.ranks_counted() == 16);
    CHECK(a.ranks_recorded() < 16);
    CHECK(b.ranks_recorded() == 16);
    // The step and what its end lets go on.
    const SimTime end = all->result->step_ends.back() * 2;
    for (std::size_t i = 0; i < all->topology->link_count(); ++i) {
        const auto link = make_id<LinkId>(i);
        CAPTURE(all->topology->link_name(link));
        CHECK_THAT(a.bytes(link, SimTime(0), end),
                   WithinRel(b.bytes(link, SimTime(0), end), 1e-6) || WithinAbs(0, 1e-3));
    }
}

TEST_CASE("the links of a trunk carry the same, by records and by the engine's count")
{
    Scenario scenario;
    scenario.model = {"llama-2-7b", {}};
    scenario.topology = testing::leaf_spine(8, 2);
    scenario.training.sequence_length = 2048;
    scenario.training.global_batch = 64;
    scenario.strategy.dp = 64;
    scenario.strategy.zero = 3;
    scenario.run.fidelity = Fidelity::bundle;
    Session session;
    SimulateRequest request;
    request.record = RecordRequest{[](LaneId) { return true; }, 1};
    Checked<Outcome> outcome =
        session.simulate(scenario_in_memory(scenario, data_dir() / "scenarios", "test"), request);
    REQUIRE(outcome);
    const LinkLoads loads = loads_of(std::move(*outcome));
    const Topology& topology = *loads.outcome().topology;
    std::map<std::uint32_t, std::vector<LinkId>> trunks;
    for (std::size_t i = 0; i < topology.link_count(); ++i)
        if (const auto trunk = topology.model().trunk(make_id<LinkId>(i)))
            trunks[trunk->number].push_back(make_id<LinkId>(i));
    REQUIRE(trunks.size() > 1);
    const SimTime end = loads.outcome().result->records.back().end + ms(10'000);
    for (const auto& [number, links] : trunks) {
        REQUIRE(links.size() > 1);
        const double first = loads.bytes(links.front(), SimTime{}, end);
        CHECK(first > 0);
        for (const LinkId link : links) {
            INFO(topology.link_name(link));
            CHECK_THAT(loads.bytes(link, SimTime{}, end), WithinRel(first, 1e-9));
            REQUIRE(loads.totals(link) != nullptr);
            CHECK_THAT(loads.totals(link)->bytes, WithinRel(first, 1e-3));
        }
    }
}

TEST_CASE("the links of a trunk take the memory of one")
{
    // 4,096 ranks in pods whose ways to the cores have 1,024 links each; stage 0 sends to stage 1
    // through them. Told link by link that is 2 x 4,096 x 1,024 uses of 16 bytes each way.
    Scenario scenario;
    scenario.model = {"llama-3.2-1b", {}};
    scenario.topology = {
        {},
        *parse_json(R"({"format": "trainyard.topology/1", "generator": "cluster", "nodes": 512,
                        "node": {"preset": "dgx-h100"},
                        "fabric": {"kind": "rail", "network": {"preset": "ib_ndr"}}})",
                    "")};
    scenario.training.sequence_length = 2048;
    scenario.training.global_batch = 2048;
    scenario.strategy.dp = 2048;
    scenario.strategy.pp = 2;
    Session session;
    const ScenarioFile file = scenario_in_memory(scenario, data_dir() / "scenarios", "test");
    Checked<Outcome> outcome = session.simulate(file, {});
    REQUIRE(outcome);
    SimulateRequest request;
    request.record = default_trace_lanes(*outcome);
    outcome = session.simulate(file, request);
    REQUIRE(outcome);
    const MemoryRise rise;
    const LinkLoads loads = loads_of(std::move(*outcome));
    CHECK(rise.megabytes() < 100);
    CHECK(loads.ranks_counted() == 4096);
}

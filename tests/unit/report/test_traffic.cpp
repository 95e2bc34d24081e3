#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "sim/topology/cluster.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::test;

namespace {

// Per byte leaving a member, of `ranks` neighbours on nodes of eight GPUs.
TrafficSplit split_of(TrafficPattern pattern, std::uint32_t ranks)
{
    ClusterDescription cluster;
    cluster.nodes = 8;
    cluster.node.gpus = 8;
    cluster.node.nvlink.wiring = NvlinkWiring::switched;
    cluster.node.nvlink.rate = 450_GBps;
    cluster.node.pcie = 64_GBps;
    cluster.node.nics = 8;
    cluster.fabric.emplace();
    cluster.fabric->network.port_rate = 50_GBps;
    const Topology topology = make_cluster(cluster);
    RankGroup group;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        group.members.push_back(RankId{rank});
    const GroupShape shape = group_shape(topology, devices_of(group.members));
    const TrafficSplit all = traffic_split(group, shape, pattern, topology);
    return {all.inside / ranks, all.outside / ranks};
}

} // namespace

TEST_CASE("what a member of a ring sends stays in its domain or leaves it")
{
    using enum TrafficPattern;
    for (const TrafficPattern pattern : {ring, all_to_all, neighbours})
        for (const std::uint32_t ranks : {2U, 8U, 11U, 64U}) {
            const TrafficSplit split = split_of(pattern, ranks);
            CHECK_THAT(split.inside + split.outside, WithinRel(1.0, 1e-12));
            CHECK((split.outside > 0) == (ranks > 8));
        }
}

TEST_CASE("one of each domain's eight members sends a ring's bytes on to the next domain")
{
    CHECK_THAT(split_of(TrafficPattern::ring, 16).outside, WithinRel(1.0 / 8, 1e-12));
    CHECK_THAT(split_of(TrafficPattern::ring, 64).outside, WithinRel(1.0 / 8, 1e-12));
}

TEST_CASE("an all-to-all of two full nodes of 8 sends 8 of 15 parts to the other node")
{
    CHECK_THAT(split_of(TrafficPattern::all_to_all, 16).outside, WithinRel(8.0 / 15, 1e-12));
}

TEST_CASE("a tree of two domains sends each domain's sum out once")
{
    // A member sends 2 x 15/16 buffers, a domain of eight 1: 1/8 per member.
    CHECK_THAT(split_of(TrafficPattern::tree, 16).outside,
               WithinRel(1.0 / 8 / (2 * 15.0 / 16), 1e-12));
    // Of three domains as much as a ring.
    CHECK_THAT(split_of(TrafficPattern::tree, 24).outside, WithinRel(1.0 / 8, 1e-12));
}

TEST_CASE("link rows hold the bytes of gradients inside nodes and of messages between them")
{
    const auto rows = link_rows(small_outcome());
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "NVLink");
    CHECK(rows[0].links == 4);
    CHECK_THAT(rows[0].bytes, WithinRel(4e9, 1e-12));
    // 4 GB over four links of 450 GB/s in 100 ms.
    CHECK_THAT(rows[0].utilization, WithinRel(1e9 / 450e9 / 0.1, 1e-9));
    CHECK(rows[1].name == "NIC NDR400");
    CHECK(rows[1].links == 4);
    CHECK_THAT(rows[1].bytes, WithinRel(8 * 40e6, 1e-12));
}

TEST_CASE("Gloo's bytes cross the host links, those for other nodes too, and no NVLink")
{
    Outcome outcome = small_outcome();
    outcome.job.strategy.backend = Backend::gloo;
    const auto rows = link_rows(outcome);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "host link");
    CHECK(rows[0].capacity == outcome.topology->device(DeviceId{0}).host_link);
    CHECK_THAT(rows[0].bytes, WithinRel(4e9 + 8 * 40e6, 1e-12));
    CHECK(rows[1].name == "NIC NDR400");
}

TEST_CASE("without peer-to-peer copies bytes of a node cross the host links, and no NVLink")
{
    Outcome outcome = small_outcome();
    outcome.scenario.environment = {{"NCCL_P2P_DISABLE", "1"}};
    const auto rows = link_rows(outcome);
    REQUIRE(!rows.empty());
    CHECK(rows[0].name == "host link");
    CHECK(rows[0].bytes == link_rows(small_outcome())[0].bytes);
    // Nor through host memory: every byte through a NIC.
    outcome.scenario.environment["NCCL_SHM_DISABLE"] = "1";
    const auto across = link_rows(outcome);
    const auto usual = link_rows(small_outcome());
    CHECK(across.back().bytes == usual[0].bytes + usual.back().bytes);
}

TEST_CASE("folding does not change where the bytes go")
{
    const auto all = link_rows(small_outcome(Lanes::all));
    const auto folded = link_rows(small_outcome(Lanes::folded));
    REQUIRE(all.size() == folded.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        CHECK_THAT(all[i].bytes, WithinRel(folded[i].bytes, 1e-12));
}

TEST_CASE("groups that fold count as often as there are groups like them")
{
    // Ten ranks on nodes of eight: of five pipelines three stay on the first node, and fold.
    const auto rows = [](const char* fold) {
        const std::vector<Override> changes{{"topology", "\"../topologies/a100-2x8-hdr.json\""},
                                            {"strategy.tp", "1"},
                                            {"strategy.dp", "5"},
                                            {"strategy.sequence_parallel", "false"},
                                            {"training.global_batch", "20"},
                                            {"run.fold", fold}};
        const std::filesystem::path path = data_dir() / "scenarios";
        const auto file =
            read_scenario_file((path / "llama2-7b-tp2-pp2-dp2.json").string(), changes);
        REQUIRE(file);
        Session session;
        const Checked<Outcome> outcome = session.simulate(*file);
        REQUIRE(outcome);
        CHECK((outcome->engine.lanes < 10) == (std::string_view(fold) == "true"));
        return link_rows(*outcome);
    };
    const auto folded = rows("true");
    const auto all = rows("false");
    REQUIRE(all.size() == 2);
    REQUIRE(folded.size() == 2);
    CHECK(all[1].bytes > 0);
    for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(folded[i].bytes == all[i].bytes);
}

TEST_CASE("rows hold what each step's program moves, not what the engine saw within it")
{
    Outcome outcome = small_outcome();
    StepResult result = *outcome.result;
    result.links = {{LinkId{0}, 1e9, 1.0}, {LinkId{1}, 3e9, 1.0}};
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const auto rows = link_rows(outcome);
    const auto usual = link_rows(small_outcome());
    REQUIRE(rows.size() == usual.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        CHECK(rows[i].bytes == usual[i].bytes);
}

TEST_CASE("rows of links are of what perturbations leave of them")
{
    const auto rows_with = [](const char* name, double left) {
        Outcome outcome = small_outcome();
        Perturbation p;
        p.link = name;
        p.bandwidth = left;
        outcome.sound = outcome.topology;
        outcome.topology = perturbed_topology(outcome.sound, {p}, 1);
        return link_rows(outcome);
    };
    const auto sound = link_rows(small_outcome());
    const auto half = rows_with("node*/nic*", 0.5);
    REQUIRE(half.size() == 2);
    CHECK(half[0].capacity == sound[0].capacity);
    CHECK_THAT(half[1].capacity.value(), WithinRel(25e9, 1e-12));
    CHECK_THAT(half[1].utilization, WithinRel(2 * sound[1].utilization, 1e-12));
    // One of four NICs.
    CHECK_THAT(rows_with("node0/nic1", 0.5)[1].capacity.value(), WithinRel(50e9 * 7 / 8, 1e-12));
    // GPU 1 of each node.
    CHECK_THAT(rows_with("node*/gpu1/nvlink", 0.2)[0].capacity.value(),
               WithinRel(450e9 * 0.6, 1e-12));
}

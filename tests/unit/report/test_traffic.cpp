#include "sim/base/build_info.h"
#include "sim/cost/collective_form.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("what a member sends inside and outside its domain adds up to its share of the bus")
{
    using enum CollectiveKind;
    for (const CollectiveKind kind :
         {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast})
        for (const int ranks : {2, 8, 64})
            for (const int per_domain : {1, 2, 8}) {
                if (per_domain > ranks)
                    continue;
                const TrafficSplit split = traffic_split(kind, ranks, per_domain);
                CHECK_THAT(split.inside + split.outside, WithinRel(bus_factor(kind, ranks), 1e-12));
                CHECK(split.inside >= 0);
                CHECK(split.outside >= 0);
            }
}

TEST_CASE("a group inside one domain sends nothing out of it")
{
    CHECK(traffic_split(CollectiveKind::all_reduce, 8, 8).outside == 0.0);
    CHECK(traffic_split(CollectiveKind::all_to_all, 8, 8).outside == 0.0);
    CHECK(traffic_split(CollectiveKind::all_reduce, 1, 1) == TrafficSplit{});
}

TEST_CASE("an all-to-all of two full nodes of 8 sends 8/16 of each buffer to the other node")
{
    // 15 peers, 8 of them outside: 15/16 x 8/15 = 1/2.
    CHECK_THAT(traffic_split(CollectiveKind::all_to_all, 16, 8).outside, WithinRel(0.5, 1e-12));
}

TEST_CASE("one member of each domain sends a ring's bytes on to the next")
{
    // 2 x 15/16 of the buffer per member, one send in eight leaves.
    CHECK_THAT(traffic_split(CollectiveKind::all_reduce, 16, 8).outside,
               WithinRel(2 * 15.0 / 16 / 8, 1e-12));
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

TEST_CASE("the engine's own link totals take precedence")
{
    Outcome outcome = small_outcome();
    StepResult result = *outcome.result;
    result.links = {{LinkId{0}, 1e9, 1.0}, {LinkId{1}, 3e9, 1.0}};
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const auto rows = link_rows(outcome);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].name == "NVLink");
    CHECK(rows[0].links == 2);
    CHECK_THAT(rows[0].utilization, WithinRel(4e9 / (2 * 450e9 * 0.1), 1e-9));
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

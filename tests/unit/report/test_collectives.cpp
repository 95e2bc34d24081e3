#include "sim/cost/collective_form.h"
#include "sim/study/session.h"
#include "tests/catch.h"
#include "tests/support/leaf_spine.h"
#include "tests/unit/report/small_outcome.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("bus bandwidth factors are those of nccl-tests")
{
    using enum CollectiveKind;
    // PERFORMANCE.md of nccl-tests, n = 8.
    CHECK(bus_factor(all_reduce, 8) == 2 * 7 / 8.0);
    CHECK(bus_factor(all_gather, 8) == 7 / 8.0);
    CHECK(bus_factor(reduce_scatter, 8) == 7 / 8.0);
    CHECK(bus_factor(all_to_all, 8) == 7 / 8.0);
    CHECK(bus_factor(broadcast, 8) == 1.0);
    CHECK(bus_factor(reduce, 8) == 1.0);
    CHECK(bus_factor(send_receive, 2) == 1.0);
}

TEST_CASE("a collective's achieved bandwidth is its bytes over its time")
{
    // 1 GB in 5 ms is 200 GB/s; among two ranks an all-reduce has factor 1.
    const auto rows = collective_rows(small_outcome());
    REQUIRE(rows.size() == 2);
    const CollectiveRow& gradients = rows[0];
    CHECK(gradients.collective == CollectiveKind::all_reduce);
    CHECK(gradients.ranks == 2);
    CHECK(gradients.count_per_rank == 1.0);
    CHECK(gradients.mean_size == gradient_bytes);
    CHECK_THAT(gradients.mean_time.value(), WithinRel(5e-3, 1e-12));
    CHECK_THAT(gradients.algorithm_bandwidth.value(), WithinRel(200e9, 1e-12));
    CHECK_THAT(gradients.bus_bandwidth.value(), WithinRel(200e9, 1e-12));
    CHECK_THAT(gradients.total_per_rank.value(), WithinRel(5e-3, 1e-12));
}

TEST_CASE("a message counts once although both its ends take part")
{
    // 40 MB in 1 ms is 40 GB/s; each rank sends two and receives two.
    const auto rows = collective_rows(small_outcome());
    REQUIRE(rows.size() == 2);
    const CollectiveRow& messages = rows[1];
    CHECK(messages.collective == CollectiveKind::send_receive);
    CHECK(messages.count_per_rank == 4.0);
    CHECK(messages.mean_size == message_bytes);
    CHECK_THAT(messages.bus_bandwidth.value(), WithinRel(40e9, 1e-12));
}

TEST_CASE("a collective of all ranks is given alone and in a step, apart by the profile's factor")
{
    Scenario scenario;
    scenario.model.path = "llama-2-7b";
    scenario.training.sequence_length = 4096;
    scenario.training.global_batch = 8;
    scenario.strategy.zero = 3;
    scenario.topology.path = "a100-1x8";
    Session session;
    const auto outcome = session.simulate(scenario_in_memory(scenario, ".", "test"));
    REQUIRE(outcome);
    const double slower = outcome->cost->profile().hardware.fabric.in_situ;
    REQUIRE(slower > 1);
    for (const ClusterCollectiveRow& row : cluster_collective_rows(*outcome))
        if (row.collective == CollectiveKind::all_reduce) {
            CHECK_THAT(row.in_step_time / row.time, WithinRel(slower, 1e-9));
            CHECK_THAT(row.bus_bandwidth / row.in_step_bus_bandwidth, WithinRel(slower, 1e-9));
            // NVIDIA's A100 with NVLink 3: 230 GB/s in nccl-tests at 1 GiB, within a tenth.
            CHECK_THAT(row.bus_bandwidth.value(), WithinRel(230e9, 0.1));
        }
}

TEST_CASE("a collective of all ranks gets no more than oversubscribed switches leave it")
{
    // 32 nodes on eight leaves: a ring leaves each of them once, through what its uplinks are.
    const auto rows = [](int oversubscription) {
        Scenario scenario;
        scenario.model.path = "llama-2-7b";
        scenario.training.sequence_length = 2048;
        scenario.training.global_batch = 256;
        scenario.strategy.zero = 3;
        scenario.topology = testing::leaf_spine(32, oversubscription);
        Session session;
        const auto outcome = session.simulate(scenario_in_memory(scenario, ".", "test"));
        REQUIRE(outcome);
        return std::pair(cluster_collective_rows(*outcome), collective_rows(*outcome));
    };
    const auto [even, even_step] = rows(1);
    const auto [thin, thin_step] = rows(64);
    REQUIRE(even[1].collective == CollectiveKind::all_gather);
    CHECK(thin[0].time > 3 * even[0].time);
    CHECK(thin[1].time > 3 * even[1].time);
    // FSDP's own gathers are of all ranks too, and are slowed as much.
    const auto gather = [](const std::vector<CollectiveRow>& of_step) {
        return *std::ranges::find(of_step, CollectiveKind::all_gather, &CollectiveRow::collective);
    };
    CHECK(gather(even_step).bus_bandwidth > 3 * gather(thin_step).bus_bandwidth);
}

TEST_CASE("a job without communication has no rows")
{
    CHECK(collective_rows(single_gpu_outcome()).empty());
    CHECK(cluster_collective_rows(single_gpu_outcome()).empty());
}

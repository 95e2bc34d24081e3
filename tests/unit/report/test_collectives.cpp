#include "sim/cost/collective_form.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

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

TEST_CASE("a job without communication has no rows")
{
    CHECK(collective_rows(single_gpu_outcome()).empty());
    CHECK(cluster_collective_rows(single_gpu_outcome()).empty());
}

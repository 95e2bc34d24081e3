#include "calibrate/fit/configuration.h"
#include "calibrate/fit/order_statistics.h"
#include "sim/base/random.h"
#include "tests/catch.h"
#include "tests/unit/fit/support.h"

using namespace trainyard;

TEST_CASE("percentiles lie between order statistics as numpy has them")
{
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({4, 1, 2, 3}) == 2.5);
    CHECK_THAT(percentile({1, 2, 3, 4, 5}, 0.9), WithinRel(4.6, 1e-12));
    CHECK(percentile({7}, 0.1) == 7);
}

TEST_CASE("five values give no 95 % interval of their median, six give their extremes")
{
    CHECK_FALSE(interval_of_median({1, 2, 3, 4, 5}));        // 1 - 2/32 = 93.75 %
    const auto six = interval_of_median({6, 5, 4, 3, 2, 1}); // 1 - 2/64 = 96.9 %
    REQUIRE(six);
    CHECK(*six == Interval{1, 6});
}

TEST_CASE("the interval covers the true median as often as it says")
{
    Random random(11);
    int covered = 0;
    constexpr int runs = 2000;
    for (int run = 0; run < runs; ++run) {
        std::vector<double> values(20);
        for (double& value : values)
            value = random.uniform(); // true median 0.5
        const Interval interval = *interval_of_median(values);
        covered += interval.low <= 0.5 && 0.5 <= interval.high ? 1 : 0;
    }
    // Exactly 95.9 % for n = 20 (the 6th and 15th values); three deviations of 2,000 draws are 1.3
    // %.
    CHECK(covered > 0.945 * runs);
    CHECK(covered < 0.975 * runs);
}

TEST_CASE("launches of one configuration are those that differ by nothing but the launch")
{
    std::vector<Sweep> sweeps(4, made_sweep(1024, 3, [](double) { return 1e-5; }));
    sweeps[1].variables["NCCL_HOSTID"] = "another";
    sweeps[2].variables["NCCL_ALGO"] = "Ring";
    sweeps[3].ranks = 4;
    CHECK(by_configuration(sweeps).size() == 3);
}

TEST_CASE("merged launches give medians and keep the extremes of a few")
{
    std::vector<std::vector<TimedSize>> launches;
    for (const double factor : {1.0, 3.0, 2.0})
        launches.push_back({{Bytes(1024), Seconds(factor)}});
    const std::vector<MergedSize> sizes = merged(launches);
    REQUIRE(sizes.size() == 1);
    CHECK(sizes[0].point.time == Seconds(2));
    CHECK(sizes[0].low == Seconds(1));
    CHECK(sizes[0].high == Seconds(3));
    CHECK(sizes[0].launches == 3);
}

#include "sim/strategy/bind/jitter_table.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr std::uint32_t draws = 200'000;

struct Moments {
    double mean = 0;
    double deviation = 0;
    double most = 0;
    double least = 1e9;
};

Moments moments(const KernelJitter& jitter)
{
    const Jitter table = jitter_table({jitter, 5});
    Moments m;
    double squares = 0;
    for (std::uint32_t place = 0; place < draws; ++place) {
        const double factor =
            jitter_factor(table, jitter_key(table.seed, RankId{2}), 0, place) / double{full_share};
        m.mean += factor / draws;
        squares += factor * factor / draws;
        m.most = std::max(m.most, factor);
        m.least = std::min(m.least, factor);
    }
    m.deviation = std::sqrt(squares - m.mean * m.mean);
    return m;
}

} // namespace

TEST_CASE("the normal distribution has its known quantiles")
{
    // Abramowitz and Stegun, table 26.1 and 26.6.
    CHECK_THAT(normal_tail(0.5), WithinAbs(0.0, 1e-15));
    CHECK_THAT(normal_tail(0.15865525393145705), WithinRel(1.0, 1e-12));
    CHECK_THAT(normal_tail(0.0013498980316300933), WithinRel(3.0, 1e-12));
    CHECK_THAT(normal_tail(9.8658764503769814e-10), WithinRel(6.0, 1e-12));
}

TEST_CASE("drawn factors have the moments of their distribution")
{
    // Standard errors of the mean: deviation / sqrt(200,000), below 0.03 x deviation for all.
    const Moments normal = moments({JitterDistribution::normal, 0.1, 1.0});
    CHECK_THAT(normal.mean, WithinAbs(1.0, 0.001));
    CHECK_THAT(normal.deviation, WithinRel(0.1, 0.01));
    // Mean exp(s^2 / 2), variance (exp(s^2) - 1) exp(s^2).
    const Moments lognormal = moments({JitterDistribution::lognormal, 0.5, 1.0});
    CHECK_THAT(lognormal.mean, WithinRel(std::exp(0.125), 0.01));
    CHECK_THAT(lognormal.deviation, WithinRel(std::sqrt(std::expm1(0.25) * std::exp(0.25)), 0.03));
    const Moments exponential = moments({JitterDistribution::exponential, 0.2, 1.0});
    CHECK_THAT(exponential.mean, WithinRel(1.2, 0.005));
    CHECK_THAT(exponential.deviation, WithinRel(0.2, 0.02));
    CHECK(exponential.least >= 1.0);
    // The largest of n draws is near 1 + s ln n: 1 + 0.2 x 12.2 = 3.44, give or take a few s.
    CHECK(exponential.most > 2.9);
    CHECK(exponential.most < 5.5);
    // A uniform one within 1 - s and 1 + s has deviation s / sqrt(3).
    const Moments uniform = moments({JitterDistribution::uniform, 0.3, 1.0});
    CHECK_THAT(uniform.mean, WithinAbs(1.0, 0.002));
    CHECK_THAT(uniform.deviation, WithinRel(0.3 / std::sqrt(3.0), 0.01));
    CHECK(uniform.least >= 0.7 - 1e-6);
    CHECK(uniform.most <= 1.3 + 1e-6);
}

TEST_CASE("a chance disturbs so many kernels and leaves the rest alone")
{
    // 1 + chance x scale.
    const Moments some = moments({JitterDistribution::exponential, 1.0, 0.1});
    CHECK_THAT(some.mean, WithinRel(1.1, 0.01));
}

TEST_CASE("a table of no width is one everywhere")
{
    for (const JitterDistribution distribution :
         {JitterDistribution::normal, JitterDistribution::lognormal,
          JitterDistribution::exponential, JitterDistribution::uniform})
        for (const std::uint32_t factor : jitter_table({{distribution, 0.0, 1.0}, 1}).factors)
            CHECK(factor == full_share);
}

// What estimates of synthetic series say, over thousands of seeded series each.

#include "calibrate/measure/statistics/estimate.h"
#include "tests/catch.h"
#include "tests/support/noisy_clock.h"

#include <cmath>
#include <functional>
#include <string>

using namespace trainyard;

namespace {

constexpr std::uint64_t series = 2000;

// Share of `series` seeded ones of which `holds`.
double share(int values, const ClockNoise& noise, const std::function<bool(const Estimate&)>& holds)
{
    int count = 0;
    for (std::uint64_t seed = 0; seed < series; ++seed)
        count += holds(estimate_of(NoisyClock(noise, seed).batches(values, 1))) ? 1 : 0;
    return static_cast<double>(count) / static_cast<double>(series);
}

double coverage(int values, const ClockNoise& noise, double truth)
{
    return share(values, noise,
                 [&](const Estimate& e) { return e.low <= truth && truth <= e.high; });
}

bool drifts(const Estimate& estimate)
{
    return estimate.drift != 0;
}

bool multimodal(const Estimate& estimate)
{
    return estimate.multimodal;
}

ClockNoise unit(double spread)
{
    ClockNoise out;
    out.op = 1;
    out.spread = spread;
    return out;
}

} // namespace

TEST_CASE("the interval covers the true median of independent times 95 times in 100")
{
    // 95.9 % at 20 values, 96.5 % at 100; three deviations of 2,000 series are 1.3 %.
    for (const int values : {20, 50, 100}) {
        CAPTURE(values);
        CHECK(coverage(values, unit(0.05), 1) > 0.945);

        // One in twenty is ten times as long: the median is the share 0.5 / 0.95 of the others,
        // 0.0660 deviations up.
        ClockNoise outliers = unit(0.05);
        outliers.outlier_share = 0.05;
        CHECK(coverage(values, outliers, std::exp(0.05 * 0.0660)) > 0.945);
        CHECK(coverage(values, outliers, std::exp(0.05 * 0.0660)) < 0.99);

        // Four in ten at a second level: 0.5 / 0.6 of the first one's, 0.9674 deviations up.
        ClockNoise levels = unit(0.02);
        levels.second_share = 0.4;
        levels.second_factor = 1.5;
        CHECK(coverage(values, levels, std::exp(0.02 * 0.9674)) > 0.945);
    }
}

TEST_CASE("times that depend on one another are covered less often than the interval says")
{
    const auto correlated = [](double correlation) {
        ClockNoise out = unit(0.05);
        out.correlation = correlation;
        return coverage(20, out, 1);
    };
    CHECK_THAT(correlated(0.3), WithinAbs(0.90, 0.02));
    CHECK_THAT(correlated(0.5), WithinAbs(0.83, 0.02));
    CHECK_THAT(correlated(0.8), WithinAbs(0.57, 0.03));
}

TEST_CASE("the interval of a drifting level covers neither its start nor its end")
{
    // 20 % over 100 batches of 1 % noise: the median is the middle's, 1.1.
    ClockNoise noise = unit(0.01);
    noise.drift = 0.2;
    CHECK(coverage(100, noise, 1.0) == 0);
    CHECK(coverage(100, noise, 1.2) == 0);
    CHECK(coverage(100, noise, 1.1) > 0.99);
}

TEST_CASE("outliers are counted, and count in the median and its interval")
{
    std::vector<double> times;
    for (int i = 0; i < 9; ++i)
        times.push_back(1 + 0.01 * i); // median 1.04, MAD 0.02: above 1.16
    CHECK(estimate_of(times).outliers == 0);
    times.back() = 1.17;
    CHECK(estimate_of(times).outliers == 1);
    for (const int place : {0, 2, 4, 6})
        times[static_cast<std::size_t>(place)] = 50;
    const Estimate estimate = estimate_of(times);
    CHECK(estimate.outliers == 4);
    CHECK(estimate.median == 1.17); // the middle of all nine
    CHECK(estimate.high == 50);
}

TEST_CASE("one tick of a clock is no outlier")
{
    std::vector<double> times(30, 200e-6);
    times[7] = 201e-6;
    times[9] = 202e-6;
    CHECK(estimate_of(times).outliers == 1); // 1 %, against 6 times 0.1 %
}

TEST_CASE("no times, one time and equal times have an estimate")
{
    CHECK(estimate_of({}) == Estimate{});
    const std::vector<double> one{2.0};
    CHECK(estimate_of(one) == Estimate{2, 2, 2, 0, 0, false});
    const std::vector<double> equal(100, 3.0);
    CHECK(estimate_of(equal) == Estimate{3, 3, 3, 0, 0, false});
    const std::vector<double> zero(100, 0.0);
    CHECK(estimate_of(zero) == Estimate{});
    CHECK(half_width(estimate_of(zero)) == 0);
}

TEST_CASE("a steady level is said to drift at most 3 times in 1,000")
{
    for (const int values : {16, 20, 31, 60, 100}) {
        CAPTURE(values);
        CHECK(share(values, unit(0.05), drifts) <= 0.003);
    }
    ClockNoise rough = unit(0.1);
    rough.outlier_share = 0.1;
    rough.second_share = 0.3;
    rough.second_factor = 1.5;
    rough.tick = 0.05;
    CHECK(share(50, rough, drifts) <= 0.003);
}

TEST_CASE("neighbours that depend on one another look like drift at most 1 time in 100")
{
    // A plain rank test would say so 6 times in 100 at a correlation of 0.5.
    ClockNoise noise = unit(0.05);
    noise.correlation = 0.5;
    for (const int values : {20, 50, 100})
        CHECK(share(values, noise, drifts) <= 0.01);
}

TEST_CASE("drift is seen, and is the change from half to half")
{
    // Noise 2 %; 6 % from the first to the last of 100 batches is 3 % from half to half.
    ClockNoise slope = unit(0.02);
    slope.drift = 0.06;
    CHECK(share(100, slope, drifts) > 0.99);
    CHECK_THAT(estimate_of(NoisyClock(slope, 5).batches(100, 1)).drift, WithinAbs(0.03, 0.01));
    slope.drift_batches = 60;
    CHECK(share(60, slope, drifts) > 0.85);

    // 6 % up between two halves of 30 values.
    int seen = 0;
    for (std::uint64_t seed = 0; seed < series; ++seed) {
        std::vector<double> times = NoisyClock(unit(0.02), seed).batches(30, 1);
        for (std::size_t i = 15; i < times.size(); ++i)
            times[i] *= 1.06;
        seen += drifts(estimate_of(times)) ? 1 : 0;
    }
    CHECK(seen > 0.9 * static_cast<double>(series));
}

TEST_CASE("one level is taken for two at most 1 time in 100, whatever the noise")
{
    struct Kind {
        std::string name;
        std::function<double(Random&)> draw;
    };
    const std::vector<Kind> kinds{
        {"uniform", [](Random& r) { return 1 + r.uniform(); }},
        {"lognormal", [](Random& r) { return std::exp(0.5 * r.normal()); }},
        {"exponential", [](Random& r) { return 1 - std::log(1 - r.uniform()); }},
        {"Pareto", [](Random& r) { return 1 / std::sqrt(1 - r.uniform()); }},
        {"ticks", [](Random& r) { return std::round(200 + 0.7 * r.normal()); }},
        {"outliers",
         [](Random& r) { return r.uniform() < 0.05 ? 40 + 20 * r.uniform() : 20 + r.normal(); }}};
    for (const Kind& kind : kinds)
        for (const std::size_t values : {20U, 23U, 30U, 50U, 100U}) {
            CAPTURE(kind.name, values);
            int taken = 0;
            Random random(hash_key(7, values));
            for (std::uint64_t s = 0; s < series; ++s) {
                std::vector<double> times(values);
                for (double& time : times)
                    time = kind.draw(random);
                taken += estimate_of(times).multimodal ? 1 : 0;
            }
            CHECK(taken <= 0.01 * static_cast<double>(series));
        }
    CHECK(share(100, unit(0.05), multimodal) <= 0.001);
}

TEST_CASE("two levels are seen")
{
    // 10 deviations apart; a quarter or half of the batches at the higher one.
    ClockNoise noise = unit(0.02);
    noise.second_factor = 1.2;
    noise.second_share = 0.25;
    CHECK(share(20, noise, multimodal) > 0.6);
    CHECK(share(50, noise, multimodal) > 0.9);
    noise.second_share = 0.5;
    CHECK(share(20, noise, multimodal) > 0.9);

    // 4.8 deviations of the wider one apart.
    noise.second_factor = 1.105;
    CHECK(share(100, noise, multimodal) > 0.7);
}

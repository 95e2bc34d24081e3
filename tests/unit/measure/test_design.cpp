// Order of points, and what a run will take.

#include "calibrate/measure/design/forecast.h"
#include "calibrate/measure/design/order.h"
#include "calibrate/measure/statistics/sampler.h"
#include "tests/catch.h"
#include "tests/support/noisy_clock.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

GroupSpec group_of(int ranks)
{
    GroupSpec out;
    out.name = "all " + std::to_string(ranks);
    for (int rank = 0; rank < ranks; ++rank)
        out.members.push_back(rank);
    return out;
}

Point all_reduce(int ranks, Bytes size, int launch = 0)
{
    CollectiveWork work;
    work.size = size;
    return {group_of(ranks), work, launch};
}

// Three launches of two groups, 12 sizes each, as a plan lists them.
std::vector<Point> plan()
{
    std::vector<Point> out;
    for (int launch = 0; launch < 3; ++launch)
        for (const int ranks : {2, 4})
            for (int i = 0; i < 12; ++i)
                out.push_back(all_reduce(ranks, Bytes(512ULL << i), launch));
    return out;
}

} // namespace

TEST_CASE("the order is a permutation that keeps launches and communicators together")
{
    const std::vector<Point> points = plan();
    const std::vector<Point> ordered = in_measuring_order(points, 1);
    REQUIRE(std::is_permutation(ordered.begin(), ordered.end(), points.begin(), points.end()));
    int blocks = 1;
    for (std::size_t i = 1; i < ordered.size(); ++i) {
        CHECK(ordered[i].launch >= ordered[i - 1].launch);
        blocks += ordered[i].launch != ordered[i - 1].launch ||
                          !(ordered[i].group == ordered[i - 1].group)
                      ? 1
                      : 0;
    }
    CHECK(blocks == 6);
    CHECK(in_measuring_order(points, 1) == ordered);
    CHECK_FALSE(in_measuring_order(points, 2) == ordered);
    CHECK(in_measuring_order({}, 1).empty());
}

TEST_CASE("launches and seeds have orders of their own, in which place and size are unrelated")
{
    // Correlation of 12 places and sizes: deviation 0.3 each, of the mean of 600 blocks 0.012.
    double sum = 0;
    int blocks = 0;
    int first_group_first = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const std::vector<Point> ordered = in_measuring_order(plan(), seed);
        for (std::size_t begin = 0; begin < ordered.size(); begin += 12, ++blocks) {
            if (begin % 24 == 0)
                first_group_first += ordered[begin].group == group_of(2) ? 1 : 0;
            double product = 0;
            for (std::size_t i = 0; i < 12; ++i) {
                const auto& work = std::get<CollectiveWork>(ordered[begin + i].work);
                const double size = std::log2(static_cast<double>(work.size.value()) / 512);
                product += (size - 5.5) * (static_cast<double>(i) - 5.5);
            }
            sum += product / 143; // of a growing order: 12 (12^2 - 1) / 12
        }
        const auto launch = [&](std::size_t which) {
            std::vector<Point> out(ordered.begin() + static_cast<std::ptrdiff_t>(24 * which),
                                   ordered.begin() + static_cast<std::ptrdiff_t>(24 * which + 24));
            for (Point& point : out)
                point.launch = 0;
            return out;
        };
        CHECK_FALSE(launch(0) == launch(1));
    }
    CHECK(std::abs(sum / blocks) < 0.04);
    CHECK(first_group_first > 120); // of 300: 150, deviation 8.7
    CHECK(first_group_first < 180);
}

namespace {

// Seconds that the sampler really takes of a quiet machine.
double sampled(const Limits& limits, double op)
{
    ClockNoise noise;
    noise.op = op;
    noise.spread = 0.04;
    NoisyClock clock(noise, 1);
    Sampler sampler(limits);
    while (const auto request = sampler.next())
        sampler.add(clock.batches(request->batches, request->ops));
    return clock.elapsed();
}

} // namespace

TEST_CASE("what sampling will take is known within a factor of two")
{
    for (const Effort effort : {Effort::full, Effort::quick})
        for (double op = 1e-7; op < 20; op *= 3) {
            const Limits limits = limits_of(effort, 1_KiB);
            CAPTURE(op, effort == Effort::full);
            const double expected = expected_sampling(limits, Seconds(op)).value();
            CHECK(sampled(limits, op) < 2 * expected);
            CHECK(sampled(limits, op) > 0.5 * expected);
        }
}

TEST_CASE("a forecast learns what points take")
{
    // A machine with latency 50 us and 0.2 GB/s, on which each point takes 30 ms beside its ops.
    const auto op = [](Bytes size) { return Seconds(50e-6) + size / Bandwidth(0.2e9); };
    const auto took = [&](Bytes size) {
        return Seconds(0.03 + sampled(limits_of(Effort::quick, size), op(size).value()));
    };
    Forecast forecast(Effort::quick);
    for (const Bytes size : {1_KiB, 64_KiB, 1_MiB, 16_MiB})
        forecast.learn(all_reduce(2, size), op(size), took(size));
    for (const Bytes size : {4_KiB, 256_KiB, 4_MiB, 32_MiB}) {
        CAPTURE(size.value());
        const double ratio = forecast.of(all_reduce(2, size)) / took(size);
        CHECK(ratio > 0.4);
        CHECK(ratio < 2.5);
    }
    // Before anything is known it is not so good.
    CHECK(Forecast(Effort::quick).of(all_reduce(2, 32_MiB)) < took(32_MiB) * 0.5);
}

TEST_CASE("points of the same group and kind are believed before others")
{
    Forecast forecast(Effort::full);
    forecast.learn(all_reduce(2, 1_MiB), Seconds(1e-3), Seconds(0.1));
    forecast.learn(all_reduce(8, 1_MiB), Seconds(50e-3), Seconds(2));
    CHECK(forecast.of(all_reduce(2, 2_MiB)) * 5 < forecast.of(all_reduce(8, 2_MiB)));
}

TEST_CASE("communicators are paid for once per group and launch")
{
    Forecast forecast(Effort::quick);
    forecast.learn(CreationTime{group_of(2), 0, Seconds(3)});
    forecast.learn(CreationTime{group_of(8), 0, Seconds(7)});
    const std::vector<Point> one{all_reduce(2, 1_KiB)};
    const std::vector<Point> together{one[0], one[0], all_reduce(8, 1_KiB)};
    const std::vector<Point> apart{one[0], together[2], one[0]};
    CHECK(forecast.of(one).value() > 3);
    CHECK(forecast.of(one).value() < 3.1);
    CHECK(forecast.of(together).value() < 10.2);
    CHECK(forecast.of(apart).value() > 13);
    CHECK(forecast.of(std::span<const Point>{}) == Seconds(0));
}

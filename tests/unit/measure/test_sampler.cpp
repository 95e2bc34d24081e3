// The protocol of one point against clocks of known times.

#include "calibrate/fit/order_statistics.h"
#include "calibrate/measure/statistics/estimate.h"
#include "calibrate/measure/statistics/sampler.h"
#include "tests/catch.h"
#include "tests/support/noisy_clock.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

struct Measured {
    Sampler sampler;
    int requests = 0;
    int warm_up_ops = 0;
    double seconds = 0;       // of all batches
    double timed_seconds = 0; // of the timed ones
    double longest_request = 0;
};

Measured measure(const ClockNoise& noise, const Limits& limits, std::uint64_t seed)
{
    NoisyClock clock(noise, seed);
    Measured out{Sampler(limits)};
    while (const auto request = out.sampler.next()) {
        const double before = clock.elapsed();
        out.sampler.add(clock.batches(request->batches, request->ops));
        const double lasted = clock.elapsed() - before;
        ++out.requests;
        out.longest_request = std::max(out.longest_request, lasted);
        if (request->kind == SampleKind::warm_up)
            out.warm_up_ops += request->batches * request->ops;
        if (request->kind == SampleKind::timed)
            out.timed_seconds += lasted;
        REQUIRE(out.requests < 1000);
    }
    out.seconds = clock.elapsed();
    return out;
}

ClockNoise taking(double op, double spread = 0.02)
{
    ClockNoise out;
    out.op = op;
    out.spread = spread;
    return out;
}

double median_of(const Measured& measured)
{
    return median(measured.sampler.timed());
}

} // namespace

TEST_CASE("a quiet point is done with the least number of batches")
{
    const Measured measured = measure(taking(10e-6, 0.01), Limits{}, 1);
    CHECK(measured.sampler.end() == SampleEnd::precise);
    CHECK(measured.sampler.settled());
    CHECK(measured.sampler.timed().size() == 20);
    CHECK(measured.sampler.ops_per_batch() >= 20); // of 10 us: 200 us
    CHECK(measured.sampler.ops_per_batch() <= 24);
    CHECK(measured.requests < 10);
}

TEST_CASE("the stopping rule keeps its promises whatever the noise")
{
    Random random(3);
    for (int run = 0; run < 1500; ++run) {
        ClockNoise noise = taking(std::exp(-15 + 14 * random.uniform()), 0.3 * random.uniform());
        noise.batch_overhead = 20e-6 * random.uniform();
        noise.correlation = 0.9 * random.uniform();
        noise.outlier_share = 0.1 * random.uniform();
        noise.drift = random.uniform();
        noise.warm_up_factor = 1 + 20 * random.uniform();
        noise.warm_up_ops = 1 + 50 * random.uniform();
        noise.tick = random.uniform() < 0.3 ? 1e-6 : 0;
        const Effort effort = random.uniform() < 0.5 ? Effort::full : Effort::quick;
        const Limits limits = limits_of(effort, random.uniform() < 0.5 ? 1_KiB : 64_MiB);
        const Measured measured = measure(noise, limits, random.bits());
        const Sampler& sampler = measured.sampler;
        const auto batches = static_cast<int>(sampler.timed().size());
        CAPTURE(run, noise.op, noise.spread, batches, measured.timed_seconds);

        CHECK(batches >= fewest_batches);
        CHECK(batches <= limits.most_batches);
        switch (sampler.end()) {
        case SampleEnd::precise:
            CHECK(batches >= limits.least_batches);
            CHECK(half_width(estimate_of(sampler.timed())) <= limits.half_width);
            break;
        case SampleEnd::most_batches:
            CHECK(batches == limits.most_batches);
            CHECK(half_width(estimate_of(sampler.timed())) > limits.half_width);
            break;
        case SampleEnd::out_of_time: {
            const double batch = measured.timed_seconds / batches;
            CHECK(measured.timed_seconds + batch > limits.timed.value());
            break;
        }
        case SampleEnd::not_yet:
            FAIL("not ended");
        }
        // Past its time only by what one request took longer than was to be expected of it.
        if (batches > fewest_batches)
            CHECK(measured.timed_seconds <= limits.timed.value() + measured.longest_request);
    }
}

TEST_CASE("an op longer than all limits is measured three times, after two of warm-up")
{
    for (const Effort effort : {Effort::full, Effort::quick}) {
        const Measured measured = measure(taking(5), limits_of(effort, 1_GiB), 1);
        CHECK(measured.sampler.timed().size() == 3);
        CHECK(measured.sampler.end() == SampleEnd::out_of_time);
        CHECK_FALSE(measured.sampler.settled());
        CHECK(measured.warm_up_ops == 2);
        CHECK(measured.seconds < 27);
    }
}

TEST_CASE("long ops end in time with the batches that fit")
{
    // 2 s of 0.3 s each; five ops of warm-up.
    const Measured measured = measure(taking(0.3, 0.01), Limits{}, 1);
    CHECK(measured.sampler.timed().size() == 6);
    CHECK(measured.warm_up_ops >= 5);
    CHECK(measured.warm_up_ops <= 6);

    // 0.3 s of 20 ms each, 10 % of noise: never the 20 of the next look.
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        CHECK(measure(taking(20e-3, 0.1), limits_of(Effort::quick, 1_KiB), seed).timed_seconds <
              0.36);
}

TEST_CASE("a first op that sets up connections does not choose the ops of a batch")
{
    ClockNoise noise = taking(10e-6, 0.01);
    noise.warm_up_factor = 1e5; // one second
    noise.warm_up_ops = 0.01;   // and no other
    const Measured measured = measure(noise, Limits{}, 1);
    CHECK(measured.sampler.ops_per_batch() >= 20);
    CHECK(measured.sampler.timed().size() == 20);
}

TEST_CASE("warm-up goes on while times still fall")
{
    // 10 times as long at first, 1 / e of it after 500 ops: 1 % at 3,400 ops.
    double worst = 0;
    int fewest = 1 << 30;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        ClockNoise noise = taking(10e-6, 0.01);
        noise.warm_up_factor = 10;
        noise.warm_up_ops = 500;
        const Measured measured = measure(noise, Limits{}, seed);
        fewest = std::min(fewest, measured.warm_up_ops);
        worst = std::max(worst, std::abs(median_of(measured) / noise.op - 1));
    }
    CHECK(fewest > 1500);
    CHECK(worst < 0.03);
}

TEST_CASE("batches last as long as they should")
{
    for (const double op : {0.05e-6, 1.7e-6, 33e-6, 150e-6, 190e-6}) {
        ClockNoise noise = taking(op);
        noise.batch_overhead = 5e-6;
        int less = 0;
        int all = 0;
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            const Measured measured = measure(noise, Limits{}, seed);
            const int ops = measured.sampler.ops_per_batch();
            CHECK(ops * op < 2 * 200e-6);
            for (const double time : measured.sampler.timed()) {
                less += time * ops < 200e-6 ? 1 : 0;
                ++all;
            }
        }
        CAPTURE(op);
        CHECK(less < 0.02 * all);
    }
}

TEST_CASE("batches show the time of an op, and of the barrier a known share")
{
    // A batch's overhead is in the mean of its ops: at most overhead / 200 us of the time, which
    // is what the length of batches is for. Beyond that the mean over 300 points is the truth.
    for (const double op : {0.3e-6, 5e-6, 70e-6, 199e-6, 1e-3})
        for (const double overhead : {0.0, 2e-6, 20e-6}) {
            ClockNoise noise = taking(op, 0.05);
            noise.batch_overhead = overhead;
            double of_truth = 0;
            double of_op = 0;
            constexpr int points = 300;
            for (std::uint64_t seed = 0; seed < points; ++seed) {
                const Measured measured = measure(noise, Limits{}, seed);
                const double truth = op + overhead / measured.sampler.ops_per_batch();
                of_truth += (median_of(measured) / truth - 1) / points;
                of_op += (median_of(measured) / op - 1) / points;
            }
            CAPTURE(op, overhead);
            // One point's median is good to 1 % or so: the mean of 300 to 0.06 %.
            CHECK_THAT(of_truth, WithinAbs(0, 0.002));
            CHECK(of_op < overhead / 200e-6 + 0.002);
        }
}

TEST_CASE("stopping when the interval is narrow costs it little of its coverage")
{
    // 95.9 % of series of 20 values are covered without looking; stopping at the first narrow
    // interval prefers those that are too narrow.
    for (const double spread : {0.01, 0.03, 0.05, 0.07, 0.1})
        for (const Effort effort : {Effort::full, Effort::quick}) {
            int covered = 0;
            constexpr int points = 1500;
            for (std::uint64_t seed = 0; seed < points; ++seed) {
                const Measured measured =
                    measure(taking(300e-6, spread), limits_of(effort, 1_KiB), seed);
                const Estimate estimate = estimate_of(measured.sampler.timed());
                covered += estimate.low <= 300e-6 && 300e-6 <= estimate.high ? 1 : 0;
            }
            CAPTURE(spread, effort == Effort::full);
            CHECK(covered > 0.925 * points);
        }
}

TEST_CASE("large sizes are measured more precisely")
{
    CHECK(limits_of(Effort::full, 16_MiB).half_width == 0.02);
    CHECK(limits_of(Effort::full, 17_MiB).half_width == 0.01);
    CHECK(limits_of(Effort::quick, 1_KiB).half_width > limits_of(Effort::quick, 17_MiB).half_width);
}

TEST_CASE("isolated ops are kept apart from batches")
{
    ClockNoise noise = taking(5e-6, 0.01);
    noise.batch_overhead = 20e-6;
    const Measured measured = measure(noise, Limits{}, 1);
    REQUIRE(measured.sampler.isolated().size() == 20);
    CHECK_THAT(median(measured.sampler.isolated()), WithinRel(25e-6, 0.02));
    CHECK_THAT(median_of(measured), WithinRel(5e-6, 0.11)); // 20 us / 200 us of it
    Limits without;
    without.isolated = 0;
    CHECK(measure(noise, without, 1).sampler.isolated().empty());
    CHECK(measure(taking(1e-3), Limits{}, 1).sampler.isolated().empty());
}

TEST_CASE("a point of which every batch is lost ends without values")
{
    for (const double spent : {0.0, 1e-3, 10.0}) {
        Sampler sampler{Limits{}};
        int requests = 0;
        while (sampler.next() && requests < 1000) {
            sampler.add({}, Seconds(spent));
            ++requests;
        }
        CHECK(requests < 500);
        CHECK(sampler.timed().empty());
        CHECK(sampler.end() != SampleEnd::precise);
    }
}

TEST_CASE("a clock coarser than the op still gives its time")
{
    ClockNoise noise = taking(0.2e-6, 0.01);
    noise.tick = 1e-6;
    const Measured measured = measure(noise, Limits{}, 1);
    CHECK_THAT(median_of(measured), WithinRel(0.2e-6, 0.01)); // a tick is 0.5 % of a batch
}

TEST_CASE("a clock that stands still ends the point")
{
    const Measured measured = measure(taking(0, 0), Limits{}, 1);
    CHECK(measured.sampler.ops_per_batch() == Limits{}.most_ops);
    CHECK(measured.sampler.end() == SampleEnd::precise);
}

TEST_CASE("time spent beside the batches counts")
{
    // Batches of 220 us, barriers and messages of 0.1 s each: 20 batches fit into 2 s.
    NoisyClock clock(taking(10e-6, 0.2), 1);
    Sampler sampler{Limits{}};
    while (const auto request = sampler.next())
        sampler.add(clock.batches(request->batches, request->ops), Seconds(0.1 * request->batches));
    CHECK(sampler.end() == SampleEnd::out_of_time);
    CHECK(sampler.timed().size() <= 20);
}

TEST_CASE("a request that waits for its answer stays the same")
{
    Sampler sampler{Limits{}};
    const std::optional<Request> first = sampler.next();
    CHECK(first == Request{SampleKind::warm_up, 1, 1});
    CHECK(sampler.next() == first);
}

TEST_CASE("60 quick points of a slow machine take less than 40 seconds")
{
    // From 5 us to 50 ms, noise of a shared host.
    double seconds = 0;
    for (int point = 0; point < 60; ++point) {
        ClockNoise noise = taking(5e-6 * std::pow(1e4, point / 59.0), 0.2);
        noise.outlier_share = 0.05;
        noise.outlier_factor = 3;
        noise.warm_up_factor = 3;
        const Measured measured =
            measure(noise, limits_of(Effort::quick, 1_KiB), static_cast<std::uint64_t>(point));
        CHECK(measured.seconds < 2);
        seconds += measured.seconds;
    }
    CHECK(seconds < 40);
}

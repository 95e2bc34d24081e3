// The grid of sizes and the closed loop with the fit, on curves that are known.

#include "calibrate/fit/curve.h"
#include "calibrate/measure/design/next_sizes.h"
#include "sim/base/random.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

using Time = std::function<double(double bytes)>; // seconds

Knot measured_at(Bytes size, const Time& time)
{
    const Seconds seconds(time(static_cast<double>(size.value())));
    return {size, seconds, seconds, seconds};
}

// The closed loop on an exact curve, from the starting grid to its end.
std::vector<Knot> closed_loop(const SizeRange& range, const Time& time)
{
    std::vector<Knot> out;
    for (const Bytes size : starting_sizes(range))
        out.push_back(measured_at(size, time));
    SizeLoop loop(range.step, {});
    for (std::vector<Bytes> sizes = loop.next(out, 4); !sizes.empty(); sizes = loop.next(out, 4))
        for (const Bytes size : sizes)
            out.push_back(measured_at(size, time));
    std::sort(out.begin(), out.end(), [](const Knot& a, const Knot& b) { return a.size < b.size; });
    return out;
}

std::vector<Knot> even_grid(const SizeRange& range, std::size_t sizes, const Time& time)
{
    std::vector<Knot> out;
    const double span = range.last / range.first;
    for (std::size_t i = 0; i < sizes; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(sizes - 1);
        out.push_back(measured_at(scaled(range.first, std::pow(span, share)), time));
    }
    return out;
}

// Absolute relative errors of the fitted curve at 2,000 sizes, evenly spread in their logarithm.
std::vector<double> errors_of(const std::vector<Knot>& knots, const SizeRange& range,
                              const Time& time)
{
    std::vector<TimedSize> points;
    for (const Knot& knot : knots)
        points.push_back({knot.size, knot.time});
    const KnotCurve curve = fit_curve(points);
    std::vector<double> out;
    for (int i = 0; i <= 2000; ++i) {
        const Bytes size = scaled(range.first, std::pow(range.last / range.first, i / 2000.0));
        const double truth = time(static_cast<double>(size.value()));
        out.push_back(std::abs(time_at(curve, size).value() / truth - 1));
    }
    std::sort(out.begin(), out.end());
    return out;
}

double share_of(const std::vector<double>& sorted_errors, double limit)
{
    const auto above = std::upper_bound(sorted_errors.begin(), sorted_errors.end(), limit);
    return static_cast<double>(above - sorted_errors.begin()) /
           static_cast<double>(sorted_errors.size());
}

double one_line(double bytes)
{
    return 10e-6 + bytes / 100e9;
}

// Three algorithms, each best somewhere.
double three_lines(double bytes)
{
    return std::min({10e-6 + bytes / 5e9, 30e-6 + bytes / 40e9, 120e-6 + bytes / 200e9});
}

// Switches at 3 MB to what is as fast there, and too early at 6 MB: 220 us before, 260 us after.
double switches(double bytes)
{
    if (bytes < 3e6)
        return 10e-6 + bytes / 20e9;
    return bytes < 6e6 ? 100e-6 + bytes / 50e9 : 220e-6 + bytes / 150e9;
}

// Small messages of a chatty protocol: twice as slow from 10 kB on.
double small_jump(double bytes)
{
    return (bytes < 10e3 ? 10e-6 : 20e-6) + bytes / 20e9;
}

} // namespace

TEST_CASE("the starting grid is coarse, and denser where algorithms switch")
{
    const std::vector<Bytes> sizes = starting_sizes({});
    const std::vector<Bytes> expected{512_B, 2_KiB, 8_KiB, 32_KiB, 128_KiB, 512_KiB, 1_MiB,
                                      2_MiB, 4_MiB, 8_MiB, 16_MiB, 64_MiB,  256_MiB, 512_MiB};
    CHECK(sizes == expected);
}

TEST_CASE("the starting grid keeps to the bounds and steps that are asked for")
{
    Random random(5);
    for (int run = 0; run < 1000; ++run) {
        SizeRange range;
        range.first = Bytes(static_cast<std::uint64_t>(std::exp(12 * random.uniform())));
        range.last = scaled(range.first, std::exp(15 * random.uniform()));
        range.step = Bytes(static_cast<std::uint64_t>(random.integer(1, 96)));
        const std::vector<Bytes> sizes = starting_sizes(range);
        CAPTURE(run, range.first.value(), range.last.value(), range.step.value());
        REQUIRE_FALSE(sizes.empty());
        CHECK(sizes.front() < range.first + range.step);
        CHECK(sizes.front() >= std::min(range.first, sizes.back()));
        if (range.last >= range.first + range.step) {
            CHECK(sizes.back() <= range.last);
            CHECK(sizes.back() + range.step > range.last);
        }
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            CHECK(sizes[i].value() % range.step.value() == 0);
            if (i > 0)
                CHECK(sizes[i] > sizes[i - 1]);
            if (i > 0 && sizes.size() > 2)
                CHECK(sizes[i] / sizes[i - 1] >= 1.2);
        }
    }
}

TEST_CASE("a curve that the grid predicts needs no more sizes")
{
    CHECK(closed_loop({}, one_line).size() == starting_sizes({}).size());
}

TEST_CASE("the closed loop reaches its goal with fewer sizes than an even grid needs")
{
    const SizeRange range;
    for (const Time& time : {Time(three_lines), Time(switches), Time(small_jump)}) {
        const std::vector<Knot> loop = closed_loop(range, time);
        const std::vector<double> errors = errors_of(loop, range, time);
        const double good = share_of(errors, 0.05);
        std::size_t even = 3;
        while (even < 200 &&
               share_of(errors_of(even_grid(range, even, time), range, time), 0.05) < good)
            ++even;
        CAPTURE(loop.size(), even, good, errors.back());
        CHECK(good > 0.975); // a jump is known within a factor of 1.41: 2.5 % of the range
        CHECK(loop.size() < even);
        CHECK(loop.size() > starting_sizes(range).size());
    }
}

namespace {

// Lines, each with a larger latency and a larger rate than the one before, and jumps up to 40 %.
Time random_time(Random& random)
{
    struct Line {
        double from = 0;
        double alpha = 0;
        double rate = 0;
    };
    std::vector<Line> lines{{0, 5e-6 + 50e-6 * random.uniform(), 1e9 + 9e9 * random.uniform()}};
    double size = 512;
    for (auto more = random.integer(0, 3); more > 0; --more) {
        size *= std::exp(8 * random.uniform());
        const Line& before = lines.back();
        const double there = before.alpha + size / before.rate;
        const double rate = before.rate * (1 + 5 * random.uniform());
        const double jump = random.uniform() < 0.5 ? 1 + 0.4 * random.uniform() : 1;
        lines.push_back({size, jump * there - size / rate, rate});
    }
    return [lines](double bytes) {
        const auto after = std::find_if(lines.begin() + 1, lines.end(),
                                        [&](const Line& line) { return bytes < line.from; });
        return (after - 1)->alpha + bytes / (after - 1)->rate;
    };
}

} // namespace

TEST_CASE("on random curves the loop errs less than an even grid of as many sizes")
{
    Random random(11);
    double of_loop = 0;
    double of_grid = 0;
    int reached = 0;
    constexpr int curves = 40;
    for (int run = 0; run < curves; ++run) {
        const Time time = random_time(random);
        const std::vector<Knot> loop = closed_loop({}, time);
        const double good = share_of(errors_of(loop, {}, time), 0.05);
        of_loop += good / curves;
        of_grid += share_of(errors_of(even_grid({}, loop.size(), time), {}, time), 0.05) / curves;
        reached += good > 0.95 ? 1 : 0;
    }
    CHECK(reached > 0.9 * curves);
}

TEST_CASE("the loop asks for sizes of the grid, inside the bounds, once, and ends")
{
    Random random(7);
    for (int run = 0; run < 300; ++run) {
        SizeRange range;
        range.first = Bytes(static_cast<std::uint64_t>(random.integer(1, 100'000)));
        range.last = scaled(range.first, std::exp(12 * random.uniform()));
        range.step = Bytes(static_cast<std::uint64_t>(random.integer(1, 48)));
        const Time time = random_time(random);
        const double noise = 0.3 * random.uniform();
        const auto measured = [&](Bytes size) {
            Knot out = measured_at(size, time);
            out.time *= std::exp(noise * random.normal());
            out.low = out.time * (1 - 0.5 * noise);
            out.high = out.time * (1 + 0.5 * noise);
            return out;
        };
        std::vector<Knot> knots;
        std::set<Bytes> seen;
        for (const Bytes size : starting_sizes(range)) {
            knots.push_back(measured(size));
            seen.insert(size);
        }
        const std::size_t bound = 4 * seen.size(); // three more in each gap
        SizeLoop loop(range.step, {});
        while (true) {
            const auto at_most = static_cast<std::size_t>(random.integer(1, 5));
            const std::vector<Bytes> sizes = loop.next(knots, at_most);
            if (sizes.empty())
                break;
            CHECK(sizes.size() <= at_most);
            for (const Bytes size : sizes) {
                CHECK(size.value() % range.step.value() == 0);
                CHECK(size > knots.front().size);
                CHECK(size < starting_sizes(range).back());
                CHECK(seen.insert(size).second);
                if (random.uniform() < 0.9) // else it could not be measured
                    knots.push_back(measured(size));
            }
            REQUIRE(seen.size() <= bound);
        }
    }
}

TEST_CASE("a miss that noise explains is not measured again")
{
    // 7 % off the line in the middle, give or take 1 or 8 %.
    std::vector<Knot> knots;
    for (const Bytes size : starting_sizes({}))
        knots.push_back(measured_at(size, one_line));
    Knot& middle = knots[7];
    REQUIRE(middle.size == 2_MiB);
    middle.time *= 1.07;
    middle.low = middle.time * 0.99;
    middle.high = middle.time * 1.01;
    CHECK_FALSE(SizeLoop(4_B, {}).next(knots, 10).empty());
    middle.low = middle.time * 0.92;
    middle.high = middle.time * 1.08;
    CHECK(SizeLoop(4_B, {}).next(knots, 10).empty());
}

TEST_CASE("the gaps where algorithms switch come first")
{
    const auto two_jumps = [](double bytes) {
        return 10e-6 * (bytes < 10e3 ? 1 : 1.4) * (bytes < 3e6 ? 1 : 1.35) + bytes / 1e12;
    };
    std::vector<Knot> knots;
    for (const Bytes size : starting_sizes({}))
        knots.push_back(measured_at(size, two_jumps));
    SizeLoop loop(4_B, {});
    const std::vector<Bytes> first = loop.next(knots, 1);
    REQUIRE(first.size() == 1);
    CHECK(first[0] > 1_MiB);
    CHECK(first[0] < 16_MiB);
}

TEST_CASE("without budget nothing is asked for and what is open is told")
{
    std::vector<Knot> knots;
    for (const Bytes size : starting_sizes({}))
        knots.push_back(measured_at(size, small_jump));
    SizeLoop loop(4_B, {});
    CHECK(loop.next(knots, 0).empty());
    const std::vector<SizeGap> open = loop.unresolved();
    REQUIRE_FALSE(open.empty());
    CHECK(std::any_of(open.begin(), open.end(), [](const SizeGap& gap) {
        return gap.from < Bytes(10'000) && gap.to > Bytes(10'000) && gap.miss > 0.05;
    }));
}

TEST_CASE("a jump is left to one narrow gap, wherever it is")
{
    for (double jump = 3e3; jump < 2e8; jump *= 1.7) {
        const Time time = [&](double bytes) {
            return (bytes < jump ? 1 : 1.6) * (10e-6 + bytes / 20e9);
        };
        std::vector<Knot> knots;
        for (const Bytes size : starting_sizes({}))
            knots.push_back(measured_at(size, time));
        SizeLoop loop(4_B, {});
        for (auto sizes = loop.next(knots, 4); !sizes.empty(); sizes = loop.next(knots, 4))
            for (const Bytes size : sizes)
                knots.push_back(measured_at(size, time));
        const std::vector<SizeGap> left = loop.unresolved();
        CAPTURE(jump);
        const auto holds = [&](const SizeGap& gap) {
            return static_cast<double>(gap.from.value()) < jump &&
                   static_cast<double>(gap.to.value()) >= jump;
        };
        CHECK(std::count_if(left.begin(), left.end(), holds) == 1);
        for (const SizeGap& gap : left)
            CHECK(gap.to / gap.from < 1.42);
    }
}

TEST_CASE("sizes that somebody else measured are not asked for")
{
    std::vector<Knot> knots;
    for (const Bytes size : starting_sizes({}))
        knots.push_back(measured_at(size, small_jump));
    const auto second_round = [&](std::span<const Bytes> also) {
        SizeLoop loop(4_B, {});
        std::vector<Knot> all = knots;
        for (const Bytes size : loop.next(knots, 100))
            all.push_back(measured_at(size, small_jump));
        for (const Bytes size : also)
            all.push_back(measured_at(size, small_jump));
        return loop.next(all, 100);
    };
    const std::vector<Bytes> asked = second_round({});
    REQUIRE_FALSE(asked.empty());
    for (const Bytes size : second_round(asked))
        CHECK(std::find(asked.begin(), asked.end(), size) == asked.end());
}

TEST_CASE("two sizes say nothing of what is between them, one or none ask for nothing")
{
    const std::vector<Knot> two{measured_at(1_KiB, one_line), measured_at(4_KiB, one_line)};
    CHECK(SizeLoop(4_B, {}).next(two, 10) == std::vector<Bytes>{2_KiB});
    CHECK(SizeLoop(4_B, {}).next(std::span(two).first(1), 10).empty());
    CHECK(SizeLoop(4_B, {}).next({}, 10).empty());
}

TEST_CASE("noise of honest intervals opens few gaps of a curve that the grid predicts")
{
    Random random(13);
    for (const double noise : {0.005, 0.01, 0.02, 0.05}) {
        std::size_t asked = 0;
        constexpr int runs = 200;
        for (int run = 0; run < runs; ++run) {
            const auto measured = [&](Bytes size) {
                Knot out = measured_at(size, one_line);
                out.time *= std::exp(noise * random.normal());
                out.low = out.time * (1 - 2 * noise);
                out.high = out.time * (1 + 2 * noise);
                return out;
            };
            std::vector<Knot> knots;
            for (const Bytes size : starting_sizes({}))
                knots.push_back(measured(size));
            SizeLoop loop(4_B, {});
            for (auto sizes = loop.next(knots, 4); !sizes.empty(); sizes = loop.next(knots, 4))
                for (const Bytes size : sizes) {
                    knots.push_back(measured(size));
                    ++asked;
                }
        }
        CAPTURE(noise, asked);
        CHECK(asked <= 2 * runs);
    }
}

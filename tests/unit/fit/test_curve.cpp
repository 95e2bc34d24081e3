#include "calibrate/fit/compact_form.h"
#include "calibrate/fit/curve.h"
#include "calibrate/fit/errors.h"
#include "sim/base/random.h"
#include "tests/catch.h"
#include "tests/unit/fit/support.h"

#include <cmath>

using namespace trainyard;

namespace {

std::vector<TimedSize> points_of(const std::function<double(double)>& seconds, int count = 20)
{
    return clean(made_sweep(1 << 10, count, seconds)).points;
}

double line(double size)
{
    return 20e-6 + size / 200e9;
}

// What NCCL does: low latency and a low rate, then a higher rate for more latency.
double two_lines(double size)
{
    return std::min(10e-6 + size / 20e9, 40e-6 + size / 300e9);
}

std::vector<TimedSize> noisy(std::uint64_t seed)
{
    std::vector<TimedSize> points = points_of(two_lines);
    Random random(seed);
    for (TimedSize& point : points)
        point.time *= std::exp(0.1 * (random.uniform() - 0.5));
    return points;
}

} // namespace

TEST_CASE("a curve through one alpha-beta line is that line, between its points too")
{
    const KnotCurve curve = fit_curve(points_of(line));
    for (double size = 1100; size < 5e8; size *= 1.7) {
        const Bytes at(static_cast<std::uint64_t>(size));
        CHECK_THAT(time_at(curve, at).value(),
                   WithinRel(line(static_cast<double>(at.value())), 1e-9));
    }
    CHECK(leave_one_out_errors(points_of(line)).mean() < 1e-9);
}

TEST_CASE("a curve of falling times does not fall, and errs by as little as it can")
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const std::vector<TimedSize> points = noisy(seed);
        const KnotCurve curve = fit_curve(points);
        for (std::size_t i = 1; i < curve.knots.size(); ++i) {
            CHECK(curve.knots[i].size > curve.knots[i - 1].size);
            CHECK(curve.knots[i].time >= curve.knots[i - 1].time);
        }
        // Noise of +-5 %: pooling never moves a time by more than the noise of two.
        CHECK(in_sample_errors(curve, points).mean() < 0.05);
    }
}

TEST_CASE("isotonic times keep the geometric mean of what they pool")
{
    std::vector<TimedSize> points = points_of(line, 4);
    points[1].time = Seconds(40e-6);
    points[2].time = Seconds(10e-6);
    points[0].time = Seconds(5e-6);
    points[3].time = Seconds(90e-6);
    const std::vector<TimedSize> smooth = isotonic(points);
    CHECK(smooth[0].time == points[0].time);
    CHECK_THAT(smooth[1].time.value(), WithinRel(20e-6, 1e-12)); // sqrt(40 x 10)
    CHECK(smooth[2].time == smooth[1].time);
    CHECK(smooth[3].time == points[3].time);
}

TEST_CASE("at a corner of two lines the curve lies above the chord and below both lines")
{
    // The lines meet at 643 kB, between the points at 512 KiB and 1 MiB.
    const std::vector<TimedSize> points = points_of(two_lines);
    const KnotCurve curve = fit_curve(points);
    const TimedSize& a = points[9];
    const TimedSize& b = points[10];
    const double middle = 642857;
    const double chord = a.time.value() + (b.time - a.time).value() *
                                              (middle - static_cast<double>(a.size.value())) /
                                              static_cast<double>((b.size - a.size).value());
    const double fitted = time_at(curve, Bytes(642857)).value();
    CHECK(fitted > chord * 1.001);
    CHECK(fitted < two_lines(middle));
}

TEST_CASE("errors are relative, by band, and empty where nothing can be left out")
{
    const std::vector<TimedSize> points = points_of(line, 2);
    CHECK(leave_one_out_errors(points).count() == 0);
    ErrorTally tally;
    tally.add(Bytes(1024), -0.1);
    tally.add(Bytes(64 << 10), 0.3);
    tally.add(Bytes(64 << 20), 0.02);
    CHECK_THAT(tally.mean(SizeBand::up_to_64k), WithinRel(0.2, 1e-12));
    CHECK(tally.count(SizeBand::up_to_16m) == 0);
    CHECK_THAT(tally.mean(), WithinRel(0.14, 1e-12));
}

TEST_CASE("two launches alike hold each other out without error")
{
    CHECK(held_out_errors(points_of(two_lines), points_of(two_lines)).mean() < 1e-12);
}

TEST_CASE("the compact form finds the lines that made the times, and where they meet")
{
    const std::vector<AlphaBetaLine> lines = fit_lines(points_of(two_lines));
    REQUIRE(lines.size() == 2);
    CHECK_THAT(lines[0].alpha.value(), WithinRel(10e-6, 1e-6));
    CHECK_THAT(lines[1].rate.value(), WithinRel(300e9, 1e-6));
    const std::vector<Bytes> switches = switch_points(lines);
    REQUIRE(switches.size() == 1);
    // 30 us / (1/20 - 1/300 ns/B) = 642,857 B
    CHECK_THAT(static_cast<double>(switches[0].value()), WithinRel(642857.0, 1e-5));
}

TEST_CASE("a line has no negative latency and no negative slope")
{
    const AlphaBetaLine falling = fit_line(points_of([](double size) { return 1 / size; }, 8));
    CHECK(falling.rate.value() > 1e14);
    const AlphaBetaLine steep = fit_line(points_of([](double size) { return size * size; }, 8));
    CHECK(steep.alpha.value() == 0);
}

TEST_CASE("more lines never fit worse")
{
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const std::vector<TimedSize> points = noisy(seed);
        double before = 1e9;
        for (std::size_t lines = 1; lines <= most_lines; ++lines) {
            const std::vector<AlphaBetaLine> form = fit_lines(points, lines);
            double error = 0;
            for (const TimedSize& point : points)
                error += std::pow(time_at(form, point.size) / point.time - 1, 2);
            CHECK(error <= before * 1.0001);
            before = error;
        }
    }
}

// Measured GEMM times: exact where measured, monotone, a constant rate met everywhere.

#include "sim/base/fields.h"
#include "sim/cost/kernel_time.h"
#include "tests/unit/cost/support.h"

#include <random>

using namespace trainyard;

namespace {

Seconds at_rate(std::int64_t m, std::int64_t n, std::int64_t k, double flops_per_second)
{
    return Seconds(2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) /
                   flops_per_second);
}

// Sides 64, 256, 1024; a call's overhead and a rate.
GemmSurface host_surface(double overhead = 5e-6)
{
    std::vector<GemmPoint> points;
    for (const std::int64_t m : {64, 256, 1024})
        for (const std::int64_t n : {64, 256, 1024})
            for (const std::int64_t k : {64, 256, 1024})
                points.push_back({m, n, k, Seconds(overhead) + at_rate(m, n, k, 50e9)});
    return GemmSurface(points);
}

Problems surface_problems(const std::string& rows)
{
    const std::string text = R"({"columns": ["m", "n", "k", "time [us]"], "rows": )" + rows + "}";
    const Checked<Json> json = parse_json(text, "surface.json");
    REQUIRE(json);
    Problems problems;
    GemmSurface surface;
    FieldValue<GemmSurface>::read(Reader(*json, "surface.json", problems), surface);
    return problems;
}

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.precision = Precision::fp32;
    kernel.gemm = {m, n, k};
    kernel.launches = 0;
    return kernel;
}

} // namespace

TEST_CASE("a measured product takes exactly its measured time")
{
    const GemmSurface surface = host_surface();
    for (const GemmPoint& point : surface.points())
        CHECK(surface.time({point.m, point.n, point.k}) == point.time);
}

TEST_CASE("a constant rate is met at every shape between and above the measured ones")
{
    const GemmSurface surface = host_surface(0);
    for (const std::int64_t m : {64, 100, 512, 4096})
        for (const std::int64_t n : {65, 700, 1024, 3000})
            for (const std::int64_t k : {128, 333, 1000, 2048})
                CHECK_THAT(surface.time({m, n, k}).value(),
                           WithinRel(at_rate(m, n, k, 50e9).value(), 1e-9));
}

TEST_CASE("no product gets faster when one of its sides grows")
{
    std::mt19937 random(7);
    std::uniform_int_distribution<std::int64_t> side(1, 3000);
    const GemmSurface surface = host_surface();
    for (int i = 0; i < 2000; ++i) {
        const GemmShape small{side(random), side(random), side(random)};
        GemmShape large = small;
        std::int64_t* const sides[] = {&large.m, &large.n, &large.k};
        *sides[i % 3] += side(random);
        INFO(small.m << " " << small.n << " " << small.k);
        CHECK(surface.time(large).value() >= surface.time(small).value() * (1 - 1e-12));
    }
}

TEST_CASE("between two measured shapes the time stays between theirs")
{
    const GemmSurface surface = host_surface();
    const Seconds between = surface.time({512, 256, 256});
    CHECK(between > surface.time({256, 256, 256}));
    CHECK(between < surface.time({1024, 256, 256}));
}

TEST_CASE("the products of a batch count as rows of one")
{
    const GemmSurface surface = host_surface();
    CHECK(surface.time({64, 256, 256, 4}) == surface.time({256, 256, 256}));
}

TEST_CASE("a device with a surface takes its times, others their peak and efficiency")
{
    Profile profile = assembled("cpu", "", "host-loop");
    const CostModel before(profile);
    profile.hardware.device.gemm_surface.fp32 = host_surface();
    const CostModel after(profile);
    CHECK(after.kernel_time(product(256, 1024, 64)) == host_surface().time({256, 1024, 64}));
    // 2 x 256 x 1024 x 64 operations at 0.343 of 224 GFLOP/s, and 64 / (64 + 16) of that.
    CHECK_THAT(before.kernel_time(product(256, 1024, 64)).value(),
               WithinRel(at_rate(256, 1024, 64, 224e9 * 0.343 * 0.8).value(), 1e-9));
}

TEST_CASE("tables that are no grid, or fall, are refused")
{
    CHECK(surface_problems("[[64, 64, 64, 10.0], [64, 64, 128, 20.0]]").empty());
    CHECK(has_errors(surface_problems("[]")));
    CHECK(has_errors(surface_problems("[[64, 64, 64, 0.0]]")));
    CHECK(has_errors(surface_problems("[[64, 64, 0, 1.0]]")));
    CHECK(has_errors(surface_problems("[[64, 64, 64, 10.0], [64, 64, 64, 11.0]]")));
    CHECK(has_errors(surface_problems("[[64, 64, 64, 10.0], [64, 64, 128, 9.0]]")));
    const Problems hole = surface_problems("[[64, 64, 64, 1.0], [64, 128, 128, 4.0]]");
    REQUIRE(has_errors(hole));
    CHECK(hole.front().message.find("64 x 64 x 128 is missing") != std::string::npos);
}

TEST_CASE("a surface is written as it is read, with grade and source")
{
    Profile profile = assembled("cpu", "", "host-loop");
    profile.hardware.device.gemm_surface.fp32 = host_surface();
    profile.hardware.device.provenance["gemm_surface.fp32"] = {Grade::measured, "here", {}, {}};
    const Json written = to_json(profile);
    const Json* surface = written.find("hardware")->find("device")->find("gemm_surface");
    REQUIRE(surface != nullptr);
    CHECK(surface->find("fp32")->find("grade")->as_string() == "measured");
    GemmSurface read;
    Problems problems;
    CHECK(FieldValue<GemmSurface>::read(Reader(*surface->find("fp32")->find("value"), "", problems),
                                        read));
    CHECK(FieldValue<GemmSurface>::write(read) == *surface->find("fp32")->find("value"));
    for (const GemmPoint& point : host_surface().points()) // to the tenth of a picosecond
        CHECK_THAT(read.time({point.m, point.n, point.k}).value(),
                   WithinAbs(point.time.value(), 1e-13));
}

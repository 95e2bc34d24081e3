// Profiles of ranks on CPUs, from what was measured on their host.

#include "calibrate/fit/gemm_grid.h"
#include "calibrate/fit/host_profile.h"
#include "sim/cost/cost_model.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/unit/fit/support.h"

using namespace trainyard;

namespace {

Sweep sweep_over(Backend backend, int ranks, double latency, double rate)
{
    Sweep out = made_sweep(1024, 16, [&](double size) { return latency + size / rate; });
    out.backend = backend;
    out.ranks = ranks;
    out.data_type = "float";
    return out;
}

std::vector<GemmPoint> products(double rate)
{
    std::vector<GemmPoint> out;
    for (const std::int64_t m : {32, 128, 512})
        for (const std::int64_t n : {128, 512})
            for (const std::int64_t k : {128, 512})
                out.push_back({m, n, k, Seconds(2.0 * static_cast<double>(m * n * k) / rate)});
    return out;
}

HostMeasured two_ranks()
{
    HostMeasured out;
    out.name = "here";
    out.cpu = "Test 9000";
    out.ranks = 2;
    out.memory = Bytes(8'000'000'000);
    out.source = "a test";
    out.products = products(40e9);
    out.memory_bandwidth = MeasuredValue{9e9, 8.5e9, 9.5e9};
    out.sweeps = {sweep_over(Backend::gloo, 2, 60e-6, 2e9), sweep_over(Backend::mpi, 2, 2e-6, 3e9)};
    HostLibrary gloo;
    gloo.backend = Backend::gloo;
    gloo.compute_moving = MeasuredValue{0.4, 0.35, 0.45};
    gloo.transfer_slowdown = MeasuredValue{1.5, 1.4, 1.6};
    HostLibrary mpi;
    mpi.backend = Backend::mpi;
    mpi.latency = MeasuredValue{0.8e-6, 0.7e-6, 0.9e-6};
    mpi.rate = MeasuredValue{5e9, 4.8e9, 5.1e9};
    out.libraries = {gloo, mpi};
    out.environment.libraries = {{"Open MPI", "4.1.4"}};
    return out;
}

// The profile as a scenario gets it: written, then read, without a warning.
Profile written_and_read(const HostMeasured& measured)
{
    const Checked<FittedProfile> fitted = host_profile(measured);
    REQUIRE(fitted);
    const testing::Folder folder;
    const Checked<ProfileFile> file =
        load_profile(folder.file("here.json", to_text(fitted->profile)));
    if (!file)
        FAIL(render(file.error(), ""));
    CHECK(file->warnings.empty());
    return file->profile;
}

GroupShape ranks_of_host(int ranks)
{
    GroupShape out;
    out.ranks = out.ranks_per_domain = out.ranks_per_node = out.gpus_per_node = ranks;
    return out;
}

} // namespace

TEST_CASE("a host's profile gives back what was measured on it")
{
    const HostMeasured measured = two_ranks();
    const Profile profile = written_and_read(measured);
    const CostModel model(profile);
    for (const Sweep& sweep : measured.sweeps)
        for (const SweepRow& row : sweep.rows)
            CHECK_THAT(model
                           .collective(CollectiveKind::all_reduce, row.size, ranks_of_host(2),
                                       sweep.backend)
                           .total.value(),
                       WithinRel(row.out_of_place->time.value(), 1e-6));
    for (const GemmPoint& point : measured.products)
        CHECK_THAT(
            profile.hardware.device.gemm_surface.fp32.time({point.m, point.n, point.k}).value(),
            WithinRel(point.time.value(), 1e-9));
    CHECK(profile.hardware.device.is_cpu());
    CHECK(profile.hardware.device.memory == Bytes(4'000'000'000));
    CHECK_THAT(profile.hardware.device.hbm_bandwidth.value(), WithinRel(9e9, 1e-12));
    CHECK(profile.installation.environment.libraries.at("Open MPI") == "4.1.4");
}

TEST_CASE("measured constants of a host keep their intervals and their grade")
{
    const Profile profile = written_and_read(two_ranks());
    const ProvenanceMap known = provenance_of(profile);
    for (const char* path :
         {"hardware.device.gemm_surface.fp32", "hardware.device.hbm_bandwidth",
          "hardware.mpi.latency_inside", "hardware.mpi.rate_inside", "hardware.gloo.latency",
          "hardware.gloo.max_per_communicator", "hardware.interference.gloo.compute_moving"})
    {
        INFO(path);
        REQUIRE(known.count(path));
        CHECK(known.at(path).grade == Grade::measured);
    }
    CHECK(profile.hardware.interference.gloo.transfer_slowdown == 1.5);
    CHECK_THAT(profile.hardware.mpi.rate_inside.value(), WithinRel(5e9, 1e-12));
    for (const KnotTable& table : profile.hardware.knots)
        CHECK(table.grade == Grade::measured);
}

TEST_CASE("a library's form follows its sweep where no sweep reaches")
{
    // Two ranks send the buffer once: 2 (n-1)/n = 1. Broadcasts send it once too.
    const CostModel model(written_and_read(two_ranks()));
    const Bytes size(64 << 20);
    CHECK_THAT(model.collective(CollectiveKind::broadcast, size, ranks_of_host(2), Backend::gloo)
                   .total.value(),
               WithinRel(60e-6 + static_cast<double>(size.value()) / 2e9, 0.02));
}

TEST_CASE("group sizes between measured ones are estimated for each library apart")
{
    HostMeasured measured = two_ranks();
    measured.sweeps.push_back(sweep_over(Backend::gloo, 8, 180e-6, 1e9));
    const Profile profile = written_and_read(measured);
    const CostModel model(profile);
    const auto table = [&](int ranks, Backend backend) {
        return model.knots_for(CollectiveKind::all_reduce, ranks_of_host(ranks), backend);
    };
    REQUIRE(table(4, Backend::gloo) != nullptr);
    CHECK(table(4, Backend::gloo)->grade == Grade::extrapolated);
    CHECK(table(4, Backend::mpi) == nullptr);
    CHECK(table(8, Backend::gloo)->grade == Grade::measured);
}

TEST_CASE("a host without what every job needs is refused, with all that is missing")
{
    HostMeasured measured = two_ranks();
    measured.products.clear();
    measured.memory_bandwidth.reset();
    measured.sweeps[0].backend = Backend::nccl;
    const Checked<FittedProfile> fitted = host_profile(measured);
    REQUIRE_FALSE(fitted);
    CHECK(fitted.error().size() == 3);
}

TEST_CASE("a grid's holes take the rate of smaller shapes, and are not graded measured")
{
    HostMeasured measured = two_ranks();
    const GemmPoint left_out = measured.products.back();
    measured.products.pop_back();
    const auto grid = gemm_grid(measured.products);
    REQUIRE(grid);
    CHECK(grid->estimated == 1);
    CHECK_THAT(grid->surface.time({left_out.m, left_out.n, left_out.k}).value(),
               WithinRel(left_out.time.value(), 1e-9));
    CHECK(provenance_of(written_and_read(measured)).at("hardware.device.gemm_surface.fp32").grade ==
          Grade::extrapolated);
}

TEST_CASE("a grid's times never fall with a side, and stand where they do not")
{
    std::vector<GemmPoint> points = products(40e9);
    points[3].time = points[3].time / 10; // 32 x 512 x 512 as fast as a shape inside it
    const auto grid = gemm_grid(points);
    REQUIRE(grid);
    CHECK(grid->most_moved > 0);
    const std::vector<GemmPoint> straight = grid->surface.points();
    for (const GemmPoint& a : straight)
        for (const GemmPoint& b : straight)
            if (a.m <= b.m && a.n <= b.n && a.k <= b.k)
                CHECK(a.time <= b.time);
    CHECK_THAT(straight.back().time.value(), WithinRel(points.back().time.value(), 1e-12));
}

TEST_CASE("scattered shapes are no grid")
{
    CHECK_FALSE(gemm_grid({}));
    CHECK_FALSE(gemm_grid({{1, 2, 3, Seconds(1)}, {4, 5, 6, Seconds(2)}, {7, 8, 9, Seconds(3)}}));
}

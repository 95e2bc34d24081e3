#include "calibrate/measure/output/change_check.h"
#include "calibrate/measure/output/device_measured.h"
#include "calibrate/measure/output/host_measured.h"
#include "calibrate/measure/output/machine_study.h"
#include "calibrate/measure/output/measured_values.h"
#include "calibrate/measure/output/sweeps.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <numeric>

using namespace trainyard;
using Catch::Matchers::Contains;

namespace {

class RunMaker {
public:
    RunMaker(const std::string& backend, const std::string& device, int ranks)
    {
        run.backend = backend;
        run.started = "2026-11-22T10:00:00Z";
        all_ = {"all", std::vector<int>(static_cast<std::size_t>(ranks)), "auto", "auto"};
        std::iota(all_.members.begin(), all_.members.end(), 0);
        for (int rank = 0; rank < ranks; ++rank) {
            RankFacts facts;
            facts.place = {rank, ranks, rank, ranks};
            facts.host = "box";
            facts.facts.name = backend;
            facts.facts.version = "1.2.3";
            facts.facts.device = device;
            facts.facts.memory = Bytes(std::uint64_t{64} << 30);
            run.ranks.push_back(facts);
        }
    }

    MeasuredPoint& add(const TimedWork& work, double seconds, int launch = 0)
    {
        MeasuredPoint point;
        point.point = {all_, work, launch};
        point.batches = std::vector<double>(20, seconds);
        point.estimate = estimate_of(point.batches);
        run.points.push_back(point);
        return run.points.back();
    }

    // All-reduces of 1 KiB to 16 MiB at 10 us + S / rate.
    void add_sweep(double rate, int launch = 0)
    {
        for (std::uint64_t size = 1024; size <= std::uint64_t{16} << 20; size *= 4)
            add(CollectiveWork{CollectiveKind::all_reduce, Bytes(size), ElementType::float32,
                               Buffers::out_of_place, 0},
                10e-6 + static_cast<double>(size) / rate, launch);
    }

    // Products of m x n x k at 50 GFLOP/s, copies at 10 GB/s (reads and writes 20), sums that read
    // and write 30 GB/s.
    void add_kernels(ElementType type)
    {
        for (const std::int64_t m : {64, 512})
            for (const std::int64_t n : {64, 512})
                for (const std::int64_t k : {64, 512}) {
                    LocalWork work;
                    work.kind = LocalKind::gemm;
                    work.m = m;
                    work.n = n;
                    work.k = k;
                    work.type = type;
                    add(work, 2.0 * static_cast<double>(m * n * k) / 50e9);
                }
        LocalWork copy;
        copy.kind = LocalKind::memory_copy;
        copy.size = Bytes(100'000'000);
        add(copy, 0.01);
        LocalWork sum = copy;
        sum.kind = LocalKind::memory_add;
        add(sum, 0.01);
    }

    MeasuredRun run;

private:
    GroupSpec all_;
};

FittedProfile fitted_on_gpus(const MeasuredRun& run)
{
    FitRequest request;
    request.name = "mine";
    const auto fitted = gpu_profile(run, request);
    if (!fitted)
        FAIL(render(fitted.error(), ""));
    return *fitted;
}

Profile loaded(const Json& profile)
{
    const testing::Folder folder;
    const auto file = load_profile(folder.file("mine.json", to_text(profile)));
    if (!file)
        FAIL(render(file.error(), ""));
    return file->profile;
}

} // namespace

TEST_CASE("a work's time is the median of its launches, with their extremes")
{
    RunMaker maker("gloo", "a CPU", 2);
    const PingPongWork ping{0, 1, Bytes(8)};
    maker.add(ping, 3e-6, 0);
    maker.add(ping, 1e-6, 1);
    maker.add(ping, 2e-6, 2);
    maker.add(CollectiveWork{}, 1).wrong = 5; // wrong results count for nothing
    const std::vector<WorkTime> times = work_times(maker.run);
    REQUIRE(times.size() == 1);
    CHECK(times[0].seconds.value == 2e-6);
    CHECK(times[0].seconds.low == 1e-6);
    CHECK(times[0].seconds.high == 3e-6);
    // Of 8 bytes: 4 MB/s, and the interval turns round.
    const MeasuredValue rate = rate_of(8, times[0].seconds);
    CHECK(rate.value == Approx(4e6));
    CHECK(rate.low == Approx(8 / 3e-6));
    CHECK(rate.high == Approx(8e6));
}

TEST_CASE("pairs fill matrices by world rank: one way, both ways as a sum, latency")
{
    RunMaker maker("gloo", "a CPU", 3);
    maker.add(ExchangeWork{{{0, 2}}, Bytes(1'000'000)}, 1e-3);
    maker.add(ExchangeWork{{{0, 2}, {2, 0}}, Bytes(1'000'000)}, 1.25e-3);
    maker.add(PingPongWork{0, 1, Bytes(8)}, 5e-6);
    const std::vector<PairMatrix> matrices = pair_matrices(maker.run);
    REQUIRE(matrices.size() == 3);
    CHECK(matrices[0].values[0][2].value() == Approx(1e9));
    CHECK_FALSE(matrices[0].values[2][0]);
    CHECK(matrices[1].values[2][0].value() == Approx(1.6e9)); // 2 MB in 1.25 ms
    CHECK(matrices[2].values[1][0].value() == 5e-6);
}

TEST_CASE("what a kernel and a collective lose to one another follows from times alone and beside")
{
    RunMaker maker("gloo", "a CPU", 2);
    CollectiveWork collective;
    collective.size = Bytes(1 << 20);
    LocalWork gemm;
    gemm.m = gemm.n = gemm.k = 100;
    maker.add(collective, 2e-3);
    maker.add(gemm, 1e-3);
    maker.add(BesideWork{collective, gemm, false, 17}, 1.5e-3);
    maker.add(BesideWork{collective, gemm, true, 4}, 3e-3);
    const Slowdowns slow = slowdowns(work_times(maker.run), LocalKind::gemm);
    CHECK(slow.compute_lost.value().value == Approx(1.0 / 3)); // two thirds of the rate are left
    CHECK(slow.transfer.value().value == Approx(1.5));
    CHECK_FALSE(slowdowns(work_times(maker.run), LocalKind::memory_copy).compute_lost);
}

TEST_CASE("what noise makes faster beside other work counts as not slowed")
{
    RunMaker maker("gloo", "a CPU", 2);
    CollectiveWork collective;
    collective.size = Bytes(1 << 20);
    LocalWork gemm;
    gemm.m = gemm.n = gemm.k = 100;
    maker.add(collective, 2e-3);
    maker.add(gemm, 1e-3);
    maker.add(BesideWork{collective, gemm, false, 17}, 0.95e-3);
    maker.add(BesideWork{collective, gemm, true, 4}, 1.9e-3);
    const Slowdowns slow = slowdowns(work_times(maker.run), LocalKind::gemm);
    CHECK(slow.compute_lost.value().value == 0);
    CHECK(slow.transfer.value().value == 1);
    CHECK(slow.transfer.value().low == 1);
}

TEST_CASE("of several collectives beside a kernel the middle product of both losses counts")
{
    // Products 1, 0.6 and 1.4 of c = 1/3, 1/2, 0.35 and s = 3, 1.2, 4: the middle ones of each,
    // 0.35 and 3, would make 1.05.
    RunMaker maker("gloo", "a CPU", 2);
    LocalWork gemm;
    gemm.m = gemm.n = gemm.k = 100;
    maker.add(gemm, 1e-3);
    const auto add = [&](unsigned size, double lost, double longer) {
        CollectiveWork collective;
        collective.size = Bytes(size);
        maker.add(collective, 2e-3);
        maker.add(BesideWork{collective, gemm, false, 1}, 1e-3 / (1 - lost));
        maker.add(BesideWork{collective, gemm, true, 1}, 2e-3 * longer);
    };
    add(1 << 20, 1.0 / 3, 3);
    add(4 << 20, 0.5, 1.2);
    add(16 << 20, 0.35, 4);
    const Slowdowns slow = slowdowns(work_times(maker.run), LocalKind::gemm);
    CHECK(slow.transfer.value().value == Approx(3));
    CHECK(slow.compute_lost.value().value == Approx(1.0 / 3));
    CHECK(slow.compute_lost.value().low == Approx(1.0 / 3));
    CHECK(slow.compute_lost.value().high == Approx(0.5));
}

TEST_CASE("a run on CPUs makes a profile that loads, with what was measured")
{
    RunMaker maker("gloo", "Some CPU 9000", 2);
    for (const int launch : {0, 1, 2})
        maker.add_sweep(1e9, launch);
    maker.add_kernels(ElementType::float32);
    maker.add(PingPongWork{0, 1, Bytes(8)}, 5e-6);
    HostMeasured measured = host_measured(maker.run);
    measured.name = "mine";
    CHECK(measured.memory_bandwidth.value().value == Approx(30e9));
    CHECK(measured.products.size() == 8);
    CHECK(measured.sweeps.size() == 3);
    const auto fitted = host_profile(measured);
    REQUIRE(fitted);
    const Profile profile = loaded(fitted->profile);
    CHECK(profile.hardware.device.name == "CPU Some CPU 9000");
    CHECK(profile.hardware.device.peak.fp32.value() == Approx(50e9));
    CHECK(profile.installation.environment.libraries.at("gloo") == "1.2.3");
    REQUIRE_FALSE(profile.hardware.knots.empty());
    CHECK(profile.hardware.knots.front().launches == 3);
    CHECK(time_at(profile.hardware.knots.front().samples, Bytes(1 << 20)).value() ==
          Approx(10e-6 + (1 << 20) / 1e9).epsilon(0.02));
}

TEST_CASE("a run on GPUs makes a profile of its device with measured products")
{
    RunMaker maker("nccl", "NVIDIA H100 80GB HBM3", 8);
    maker.add_sweep(200e9);
    maker.add_kernels(ElementType::bfloat16);
    const Profile profile = loaded(fitted_on_gpus(maker.run).profile);
    CHECK(profile.hardware.device.name == "H100-SXM5-80GB");
    CHECK_FALSE(profile.hardware.device.gemm_surface.bf16.empty());
    CHECK(profile.hardware.device.gemm_surface.fp16.empty());
    // 20 GB/s of 3.35 TB/s: what the copies of this test reach.
    CHECK(profile.hardware.device.hbm_efficiency == Approx(20e9 / 3.35e12).epsilon(0.01));
    CHECK(profile.hardware.knots.front().ranks_per_domain == 8);
}

TEST_CASE("one GPU alone makes a profile of its device, without collectives")
{
    RunMaker maker("nccl", "NVIDIA H200", 1);
    maker.add_kernels(ElementType::bfloat16);
    const FittedProfile fitted = fitted_on_gpus(maker.run);
    CHECK(fitted.tables.empty());
    CHECK(loaded(fitted.profile).hardware.device.name == "H200-SXM-141GB");
}

TEST_CASE("a link that is slow every time is named with its rates")
{
    RunMaker maker("nccl", "NVIDIA H100 80GB HBM3", 4);
    for (const int launch : {0, 1, 2})
        for (int from = 0; from < 4; ++from)
            for (int to = 0; to < 4; ++to)
                if (from != to)
                    maker.add(ExchangeWork{{{from, to}}, Bytes(100'000'000)},
                              from == 1 && to == 3 ? 1e-3 : 0.25e-3, launch);
    const MachineStudy study = study_of(maker.run, std::nullopt);
    REQUIRE(study.slow_pairs.slow.size() == 1);
    CHECK(study.finds_fault());
    CHECK_THAT(describe(study), Contains("slow: GPU 1 -> GPU 3") && Contains("100"));
}

TEST_CASE("a GPU that computes slower than the others is named")
{
    RunMaker maker("nccl", "NVIDIA H100 80GB HBM3", 4);
    LocalWork gemm;
    gemm.m = gemm.n = gemm.k = 4096;
    maker.add(gemm, 1e-3).by_rank = {0.8e-3, 0.8e-3, 1e-3, 0.8e-3};
    const MachineStudy study = study_of(maker.run, std::nullopt);
    REQUIRE(study.slow_devices.size() == 1);
    CHECK(study.slow_devices.front().what == "GPU 2");
}

TEST_CASE("a machine that measures as its profile says has not changed, a slower one has")
{
    RunMaker then("gloo", "a CPU", 2);
    then.add_sweep(1e9);
    then.add_kernels(ElementType::float32);
    HostMeasured measured = host_measured(then.run);
    measured.name = "mine";
    const Profile profile = loaded(host_profile(measured).value().profile);

    RunMaker same("gloo", "a CPU", 2);
    same.add_sweep(0.97e9);
    const ChangeReport sound =
        changes_since(profile, collective_sweeps(same.run), measured.environment);
    REQUIRE(sound.curves.size() == 1);
    CHECK_FALSE(sound.changed());
    CHECK(sound.curves.front().ratio == Approx(1.02).epsilon(0.02));
    CHECK(sound.environment.empty());

    RunMaker slower("gloo", "a CPU", 2);
    slower.add_sweep(0.5e9);
    Environment other = measured.environment;
    other.libraries["gloo"] = "9.9.9";
    const ChangeReport changed = changes_since(profile, collective_sweeps(slower.run), other);
    CHECK(changed.changed());
    CHECK_THAT(describe(changed), Contains("changed   all_reduce among 2 ranks, float"));
    CHECK(changed.environment.size() == 1);

    RunMaker others("gloo", "a CPU", 3);
    others.add_sweep(1e9);
    CHECK(changes_since(profile, collective_sweeps(others.run), {}).not_there.size() == 1);

    // Sizes above all of the profile's: there is nothing to compare them with.
    RunMaker larger("gloo", "a CPU", 2);
    for (const std::uint64_t mebibytes : {64, 128, 256})
        larger.add(CollectiveWork{CollectiveKind::all_reduce, Bytes(mebibytes << 20),
                                  ElementType::float32, Buffers::out_of_place, 0},
                   0.01 * static_cast<double>(mebibytes));
    const ChangeReport beyond = changes_since(profile, collective_sweeps(larger.run), {});
    CHECK(beyond.curves.empty());
    CHECK(beyond.not_there ==
          std::vector<std::string>{"all_reduce among 2 ranks, float at these sizes"});
}

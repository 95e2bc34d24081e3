#include "calibrate/measure/nccl/cuda_facts.h"
#include "tests/catch.h"
#include "tests/support/simulated_nccl/ranks.h"

using namespace trainyard;
using namespace trainyard::simulated;

namespace {

// Twice every limit of a test's ranks, and room for a busy machine: no end takes longer.
constexpr double longest_end = 4;

struct Scene {
    std::shared_ptr<World> world = std::make_shared<World>();
    int ranks;

    explicit Scene(int count) : ranks(count)
    {
        for (int rank = 0; rank < ranks; ++rank)
            world->faults[rank] = {};
    }
    Faults& rank(int number) { return world->faults.at(number); }

    // Three batches of a 4 KiB all-reduce on every rank.
    std::vector<RankEnd> run() const
    {
        const std::vector<RankEnd> ends = run_ranks(
            world, ranks,
            [this](int, RankBackend& backend, Rendezvous& rendezvous) {
                const auto group = backend.join(all_of(ranks), rendezvous);
                group->prepare(CollectiveWork{CollectiveKind::all_reduce, Bytes(1 << 12)});
                for (int batch = 0; batch < 3; ++batch)
                    group->run(5);
            },
            short_limits());
        for (const RankEnd& end : ends)
            CHECK(end.seconds < longest_end);
        return ends;
    }
};

MeasureFailure failure_of(const std::vector<RankEnd>& ends, int rank)
{
    const std::optional<MeasureFailure>& failure = ends.at(static_cast<std::size_t>(rank)).failure;
    if (!failure)
        FAIL_CHECK("rank " << rank << " did not fail");
    return failure.value_or(MeasureFailure{});
}

} // namespace

TEST_CASE("a driver, device or memory that is not there is named, with what to do")
{
    struct Case {
        CudaCode driver;
        CudaCode device;
        FailureKind kind;
        const char* fix;
    };
    for (const Case& one :
         {Case{CudaCode::insufficient_driver, {}, FailureKind::missing, "update the NVIDIA driver"},
          Case{CudaCode::no_driver, {}, FailureKind::missing, "install the NVIDIA driver"},
          Case{CudaCode::no_device, {}, FailureKind::missing, "CUDA_VISIBLE_DEVICES"},
          Case{CudaCode::system_not_ready, {}, FailureKind::missing, "fabricmanager"},
          Case{CudaCode::driver_mismatch, {}, FailureKind::missing, "restart"},
          Case{{}, CudaCode::devices_unavailable, FailureKind::refused, "exclusive mode"},
          Case{{}, CudaCode::out_of_memory, FailureKind::refused, "nvidia-smi"},
          Case{
              {}, CudaCode::no_kernel_image, FailureKind::missing, "TRAINYARD_CUDA_ARCHITECTURES"}})
    {
        Scene scene(1);
        scene.rank(0).driver = one.driver;
        scene.rank(0).device = one.device;
        const MeasureFailure failure = failure_of(scene.run(), 0);
        CHECK(failure.kind == one.kind);
        CHECK_THAT(failure.fix, ContainsSubstring(one.fix));
    }
}

TEST_CASE("no GPU at all is a missing device, not a division by zero")
{
    Scene scene(1);
    scene.rank(0).devices = 0;
    CHECK(failure_of(scene.run(), 0).kind == FailureKind::missing);
}

TEST_CASE("buffers that do not fit say how much there is")
{
    Scene scene(1);
    scene.rank(0).memory = std::uint64_t{200} << 20;
    const auto ends =
        run_ranks(scene.world, 1, [](int, RankBackend& backend, Rendezvous& rendezvous) {
            const auto group = backend.join(all_of(1), rendezvous);
            group->prepare(LocalWork{.kind = LocalKind::memory_copy, .size = Bytes(1u << 30)});
        });
    const MeasureFailure failure = failure_of(ends, 0);
    CHECK(failure.kind == FailureKind::refused);
    CHECK_THAT(failure.message, ContainsSubstring("allocating 1 GiB"));
    CHECK_THAT(failure.fix, ContainsSubstring("--max-size"));
}

TEST_CASE("buffers of less than rotation wants are taken where memory is short")
{
    Scene scene(1);
    scene.rank(0).memory = std::uint64_t{12} << 20;
    const auto ends =
        run_ranks(scene.world, 1, [](int, RankBackend& backend, Rendezvous& rendezvous) {
            const auto group = backend.join(all_of(1), rendezvous);
            group->prepare(LocalWork{.kind = LocalKind::memory_copy, .size = Bytes(10u << 20)});
            CHECK(group->run(4).elapsed.value() > 0);
        });
    CHECK_FALSE(ends[0].failure);
}

TEST_CASE("a rank that does not come is named by all others")
{
    Scene scene(4);
    scene.rank(2).dies_before_meeting = true;
    const auto ends = scene.run();
    for (const int rank : {0, 1, 3}) {
        const MeasureFailure failure = failure_of(ends, rank);
        CHECK(failure.kind == FailureKind::timed_out);
        CHECK_THAT(failure.message, ContainsSubstring("rank 2 of all 4 did not come"));
    }
}

TEST_CASE("two ranks on one GPU are named before NCCL is asked")
{
    Scene scene(3);
    for (int rank = 0; rank < 3; ++rank)
        scene.rank(rank).devices = 2;
    const auto ends = scene.run();
    for (int rank = 0; rank < 3; ++rank) {
        const MeasureFailure failure = failure_of(ends, rank);
        CHECK(failure.kind == FailureKind::refused);
        CHECK_THAT(failure.message, ContainsSubstring("ranks 0, 2 of all 3 are on one GPU, GPU-0"));
        CHECK_THAT(failure.fix, ContainsSubstring("TRAINYARD_SHARE_GPU=1"));
    }
}

TEST_CASE("NCCL's own word on a duplicate GPU has the same advice")
{
    Scene scene(2);
    scene.rank(1).create = NcclResult::invalid_usage;
    scene.rank(1).says = "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000";
    const auto ends = scene.run();
    const MeasureFailure failure = failure_of(ends, 1);
    CHECK(failure.kind == FailureKind::refused);
    CHECK_THAT(failure.message, ContainsSubstring("rank 1 of all 2"));
    CHECK_THAT(failure.message, ContainsSubstring("Duplicate GPU"));
    CHECK_THAT(failure.fix, ContainsSubstring("a GPU of its own"));
    CHECK(failure_of(ends, 0).kind == FailureKind::timed_out);
}

TEST_CASE("a communicator that fails or hangs in the making ends on every rank")
{
    Scene fails(3);
    fails.rank(1).create = NcclResult::system_error;
    fails.rank(1).says = "Call to ibv_create_qp failed";
    const auto failed = fails.run();
    CHECK_THAT(failure_of(failed, 1).message, ContainsSubstring("ibv_create_qp"));
    CHECK_THAT(failure_of(failed, 1).fix, ContainsSubstring("NCCL_SOCKET_IFNAME"));

    Scene hangs(3);
    hangs.rank(0).create_hangs = true;
    const auto hung = hangs.run();
    for (int rank = 0; rank < 3; ++rank) {
        const MeasureFailure failure = failure_of(hung, rank);
        CHECK(failure.kind == FailureKind::timed_out);
        CHECK_THAT(failure.message, ContainsSubstring("making the communicator"));
        CHECK_THAT(failure.fix, ContainsSubstring("start this process again"));
    }
}

TEST_CASE("a collective that hangs on the device is given up and its communicator aborted")
{
    Scene scene(3);
    scene.rank(1).hangs_on_device = true;
    scene.rank(1).healthy_ops = 8; // in the second batch
    const auto ends = scene.run();
    for (int rank = 0; rank < 3; ++rank) {
        const MeasureFailure failure = failure_of(ends, rank);
        CHECK(failure.kind == FailureKind::timed_out);
        CHECK_THAT(failure.message,
                   ContainsSubstring("rank " + std::to_string(rank) + " of all 3"));
        CHECK_THAT(failure.message, ContainsSubstring("all_reduce 4 KiB"));
        CHECK_FALSE(failure.fix.empty());
    }
    CHECK(scene.world->aborts == 3);
    CHECK(scene.world->living_comms == 0);
}

TEST_CASE("a call that blocks is ended by an abort from outside")
{
    Scene scene(2);
    scene.rank(1).hangs_in_call = true;
    scene.rank(1).healthy_ops = 3;
    const auto ends = scene.run();
    const MeasureFailure failure = failure_of(ends, 1);
    CHECK(failure.kind == FailureKind::timed_out);
    CHECK_THAT(failure.message, ContainsSubstring("rank 1 of all 2, all_reduce 4 KiB"));
    CHECK_THAT(failure.message, ContainsSubstring("did not come back"));
    CHECK(failure_of(ends, 0).kind == FailureKind::timed_out);
    CHECK(scene.world->aborts == 2);
}

TEST_CASE("a call that not even an abort ends is left behind")
{
    Scene scene(2);
    scene.rank(0).hangs_in_call = true;
    scene.rank(0).ignores_abort = true;
    const auto ends = scene.run();
    const MeasureFailure failure = failure_of(ends, 0);
    CHECK(failure.kind == FailureKind::timed_out);
    CHECK_THAT(failure.fix, ContainsSubstring("start this process again"));
    CHECK(failure_of(ends, 1).kind == FailureKind::timed_out);
}

TEST_CASE("an error that NCCL reports behind our back ends the wait at once")
{
    Scene scene(2);
    for (int rank = 0; rank < 2; ++rank) {
        scene.rank(rank).hangs_on_device = true;
        scene.rank(rank).healthy_ops = 4;
        scene.rank(rank).async = NcclResult::remote_error;
    }
    const auto ends = scene.run();
    for (int rank = 0; rank < 2; ++rank) {
        const MeasureFailure failure = failure_of(ends, rank);
        CHECK(failure.kind == FailureKind::broken);
        CHECK_THAT(failure.message, ContainsSubstring("remote process exited"));
        CHECK_THAT(failure.fix, ContainsSubstring("peer"));
    }
    CHECK(scene.world->aborts == 2);
}

TEST_CASE("abort from another thread ends a batch, and nothing more is measured")
{
    Scene scene(2);
    scene.rank(1).hangs_on_device = true;
    const auto ends = run_ranks(
        scene.world, 2,
        [&](int, RankBackend& backend, Rendezvous& rendezvous) {
            const auto group = backend.join(all_of(2), rendezvous);
            group->prepare(CollectiveWork{CollectiveKind::all_reduce, Bytes(64)});
            group->abort();
            group->run(5);
        },
        short_limits());
    for (int rank = 0; rank < 2; ++rank)
        CHECK(failure_of(ends, rank).kind == FailureKind::aborted);
}

TEST_CASE("slices, busy GPUs and older drivers make numbers doubtful")
{
    CudaDevice device;
    device.name = "NVIDIA A100-SXM4-40GB MIG 1g.5gb";
    device.uuid = "MIG-0";
    CHECK_THAT(facts_of(device).warnings.at(0), StartsWith("a MIG slice"));

    CudaDevice busy;
    busy.memory = Bytes(std::uint64_t{80} << 30);
    busy.free_memory = Bytes(std::uint64_t{50} << 30);
    busy.driver_version = 12040;
    busy.runtime_version = 13000;
    const BackendFacts facts = facts_of(busy);
    CHECK_THAT(facts.warnings.at(0), ContainsSubstring("30 GiB"));
    CHECK_THAT(facts.warnings.at(1), ContainsSubstring("supports CUDA 12.4"));
}

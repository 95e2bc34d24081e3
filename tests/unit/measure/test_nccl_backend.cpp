#include "sim/base/files.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/support/set_variable.h"
#include "tests/support/simulated_nccl/ranks.h"

#include <fstream>

using namespace trainyard;
using namespace trainyard::simulated;

namespace {

constexpr double exact = 1e-9;

std::shared_ptr<World> world_of(int ranks)
{
    auto world = std::make_shared<World>();
    for (int rank = 0; rank < ranks; ++rank)
        world->faults[rank] = {};
    return world;
}

CollectiveWork sum_of(std::uint64_t size)
{
    return {CollectiveKind::all_reduce, Bytes(size), ElementType::float32, Buffers::out_of_place,
            0};
}

LocalWork of_kind(LocalKind kind)
{
    LocalWork work;
    work.kind = kind;
    return work;
}

void check_none_failed(const std::vector<RankEnd>& ends)
{
    for (const RankEnd& end : ends)
        if (end.failure)
            FAIL_CHECK(end.failure->message);
}

// Seconds of a batch of `ops` on each rank.
std::vector<double> batch_times(const std::shared_ptr<World>& world, int ranks,
                                const TimedWork& work, int ops)
{
    std::vector<double> times(static_cast<std::size_t>(ranks));
    check_none_failed(
        run_ranks(world, ranks, [&](int rank, RankBackend& backend, Rendezvous& rendezvous) {
            const auto group = backend.join(all_of(ranks), rendezvous);
            group->prepare(work);
            group->run(1);
            times[static_cast<std::size_t>(rank)] = group->run(ops).elapsed.value();
        }));
    return times;
}

// Wrong elements on each rank; -1: the rank cannot tell.
std::vector<std::int64_t> wrong_counts(const std::shared_ptr<World>& world, int ranks,
                                       const TimedWork& work)
{
    std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks));
    check_none_failed(
        run_ranks(world, ranks, [&](int rank, RankBackend& backend, Rendezvous& rendezvous) {
            const auto group = backend.join(all_of(ranks), rendezvous);
            group->prepare(work);
            group->run(3);
            counts[static_cast<std::size_t>(rank)] = group->wrong_elements().value_or(-1);
            group->run(2);
        }));
    return counts;
}

} // namespace

TEST_CASE("a batch of collectives takes its ops' times, sizes counted as nccl-tests counts them")
{
    using enum CollectiveKind;
    const int ranks = 4;
    const std::uint64_t size = 1 << 14;
    for (const CollectiveKind kind :
         {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce})
    {
        const auto world = world_of(ranks);
        CollectiveWork work = sum_of(size);
        work.collective = kind;
        // Latency + size / rate, over and over: the host's part hides behind the device's.
        const double one = world->speeds.latency + static_cast<double>(size) / world->speeds.rate;
        for (const double time : batch_times(world, ranks, work, 300))
            CHECK_THAT(time, WithinRel(300 * one, exact));
    }
}

TEST_CASE("short ops take what the host needs to queue them")
{
    const auto world = world_of(2);
    world->speeds.latency = 0.1e-6;
    world->speeds.host_issue = 4e-6;
    const double time = batch_times(world, 2, sum_of(4), 100)[0];
    CHECK_THAT(time, WithinRel(100 * 4e-6, 0.02));
}

TEST_CASE("an all-to-all of messages and NCCL's own carry the same data")
{
    for (const bool own : {false, true}) {
        const auto world = world_of(3);
        world->has_all_to_all = own;
        CollectiveWork work = sum_of(1200);
        work.collective = CollectiveKind::all_to_all;
        CHECK(wrong_counts(world, 3, work) == std::vector<std::int64_t>{0, 0, 0});
    }
}

TEST_CASE("every collective gives every rank its part, in all types, and in place")
{
    using enum CollectiveKind;
    for (const CollectiveKind kind :
         {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, barrier})
        for (const ElementType type : {ElementType::float32, ElementType::float16,
                                       ElementType::bfloat16, ElementType::uint8})
            for (const Buffers buffers : {Buffers::out_of_place, Buffers::in_place}) {
                if (buffers == Buffers::in_place &&
                    (kind == all_to_all || type != ElementType::bfloat16))
                    continue;
                const CollectiveWork work{kind, Bytes(600), type, buffers, 2};
                CHECK(wrong_counts(world_of(3), 3, work) == std::vector<std::int64_t>{0, 0, 0});
            }
}

TEST_CASE("a result that is wrong on one rank is counted there")
{
    using enum CollectiveKind;
    for (const CollectiveKind kind :
         {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast}) {
        const auto world = world_of(4);
        world->faults[2].corrupts = true;
        CollectiveWork work = sum_of(4096);
        work.collective = kind;
        CHECK(wrong_counts(world, 4, work) == std::vector<std::int64_t>{0, 0, 1, 0});
    }
}

TEST_CASE("messages arrive where they are sent, all of them at once")
{
    const std::uint64_t size = 1 << 14;
    const ExchangeWork work{{{0, 1}, {0, 2}, {2, 1}, {1, 2}}, Bytes(size)};
    CHECK(wrong_counts(world_of(4), 4, work) == std::vector<std::int64_t>{0, 0, 0, 0});

    const auto world = world_of(4);
    const std::vector<double> times = batch_times(world, 4, work, 50);
    // Rank 0 sends twice the size, rank 3 nothing.
    const double two = world->speeds.latency + 2.0 * static_cast<double>(size) / world->speeds.rate;
    CHECK_THAT(times[0], WithinRel(50 * two, exact));
    CHECK(times[3] < 1e-6);
}

TEST_CASE("one op of a ping-pong is one way")
{
    const PingPongWork work{2, 0, Bytes(1 << 16)};
    CHECK(wrong_counts(world_of(3), 3, work) == std::vector<std::int64_t>{0, 0, 0});
    const auto world = world_of(3);
    const double one = world->speeds.latency + static_cast<double>(1 << 16) / world->speeds.rate;
    const std::vector<double> times = batch_times(world, 3, work, 40);
    CHECK_THAT(times[0], WithinRel(40 * one, exact));
    CHECK_THAT(times[2], WithinRel(40 * one, exact));
}

TEST_CASE("kernels are timed by the device, launches and issue by the host")
{
    const auto world = world_of(1);
    const Speeds& speeds = world->speeds;
    const LocalWork gemm{LocalKind::gemm, 1024, 2048, 512, 1, Bytes(0), ElementType::bfloat16};
    const double flops = 2.0 * 1024 * 2048 * 512;
    CHECK_THAT(batch_times(world_of(1), 1, gemm, 20)[0],
               WithinRel(20 * flops / speeds.flop_rate, exact));
    // Queued, issue hides behind the kernel; waited for, both add up.
    CHECK_THAT(batch_times(world_of(1), 1, of_kind(LocalKind::launch_queued), 200)[0],
               WithinRel(200 * speeds.kernel, 0.01));
    CHECK_THAT(batch_times(world_of(1), 1, of_kind(LocalKind::launch), 200)[0],
               WithinRel(200 * (speeds.host_issue + speeds.kernel), exact));
    CHECK_THAT(batch_times(world_of(1), 1, of_kind(LocalKind::launch_graph), 200)[0],
               WithinRel(200 * speeds.kernel, 0.01));
    CHECK_THAT(batch_times(world_of(1), 1, of_kind(LocalKind::issue), 200)[0],
               WithinRel(200 * speeds.host_issue, exact));
}

TEST_CASE(
    "products of 8 bits are timed and checked on data that no sum rounds, where a GPU has them")
{
    LocalWork work{LocalKind::gemm, 128, 64, 256, 1, Bytes(0), ElementType::float8_e4m3};
    const auto world = world_of(1);
    CHECK(wrong_counts(world, 1, work) == std::vector<std::int64_t>{0});
    const double flops = 2.0 * 128 * 64 * 256;
    CHECK_THAT(batch_times(world_of(1), 1, work, 20)[0],
               WithinRel(20 * flops / world->speeds.flop_rate, exact));

    const auto why = [](const TimedWork& asked, int capability) {
        const auto one = world_of(1);
        one->faults[0].capability = capability;
        std::string said;
        check_none_failed(run_ranks(
            one, 1, [&](int, RankBackend& backend, Rendezvous&) { said = backend.cannot(asked); }));
        return said;
    };
    CHECK(why(work, 90).empty());
    CHECK(why(work, 89).empty());
    CHECK(why(work, 86) == "float8_e4m3 needs compute capability 8.9, this GPU has 8.6");
    work.n = 100;
    CHECK(why(work, 100) == "cuBLASLt multiplies float8_e4m3 where m, n and k are multiples of 16");
    CollectiveWork sum = sum_of(64);
    sum.type = ElementType::float8_e4m3;
    CHECK_THAT(why(sum, 90), StartsWith("collectives of float8_e4m3 are not timed"));
    work.type = ElementType::bfloat16;
    CHECK(why(work, 70).empty());
}

TEST_CASE("what runs beside must last as long as what is timed")
{
    const LocalWork gemm{LocalKind::gemm, 1024, 1024, 1024, 1, Bytes(0), ElementType::float32};
    const double kernel = 2.0 * 1024 * 1024 * 1024 / Speeds{}.flop_rate; // 21 us
    const double sum = Speeds{}.latency + 1e5 / Speeds{}.rate;           // 120 us
    for (const bool times_collective : {true, false})
        for (const bool enough : {true, false}) {
            const double ratio = times_collective ? sum / kernel : kernel / sum;
            const int repeats = static_cast<int>(60 * ratio * (enough ? 1.3 : 0.7));
            const BesideWork work{sum_of(100'000), gemm, times_collective, repeats};
            std::vector<BatchTime> times(2);
            check_none_failed(run_ranks(
                world_of(2), 2, [&](int rank, RankBackend& backend, Rendezvous& rendezvous) {
                    const auto group = backend.join(all_of(2), rendezvous);
                    group->prepare(work);
                    times[static_cast<std::size_t>(rank)] = group->run(60);
                }));
            for (const BatchTime& time : times) {
                CHECK(time.covered == enough);
                CHECK_THAT(time.elapsed.value(),
                           WithinRel(60 * (times_collective ? sum : kernel), 0.01));
            }
        }
}

TEST_CASE("a forced algorithm holds for its communicator alone")
{
    const auto world = world_of(2);
    const auto ends = run_ranks(world, 2, [&](int, RankBackend& backend, Rendezvous& rendezvous) {
        GroupSpec group = all_of(2);
        group.algorithm = "Tree";
        group.protocol = "LL128";
        const auto tree = backend.join(group, rendezvous);
        tree->prepare(sum_of(64));
        CollectiveWork gather = sum_of(64);
        gather.collective = CollectiveKind::all_gather;
        tree->prepare(gather);
    });
    // Nothing is timed under a name that is not its own.
    for (const RankEnd& end : ends)
        CHECK(end.failure.value_or(MeasureFailure{}).message == "NCCL has no Tree for all_gather");
    CHECK(world->forced == std::vector<std::string>(2, "Tree/LL128"));
    CHECK(world->variables["NCCL_ALGO"].empty());
    CHECK(world->living_comms == 0);
}

TEST_CASE("facts name the device and what makes numbers doubtful")
{
    const auto world = world_of(4);
    for (auto& [rank, faults] : world->faults)
        faults.devices = 2;
    std::vector<BackendFacts> all(4);
    check_none_failed(run_ranks(world, 4, [&](int rank, RankBackend& backend, Rendezvous&) {
        all[static_cast<std::size_t>(rank)] = backend.facts();
    }));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        CHECK(all[rank].name == "nccl");
        CHECK(all[rank].version == "2.28.9");
        CHECK(all[rank].device_id == "GPU-" + std::to_string(rank % 2));
        CHECK(all[rank].cuda == "13.0");
        CHECK(all[rank].warnings == std::vector<std::string>{"4 ranks of this host share 2 GPUs"});
    }
}

TEST_CASE("work that NCCL or the device does not do is refused with the reason")
{
    check_none_failed(run_ranks(world_of(1), 1, [&](int, RankBackend& backend, Rendezvous&) {
        CollectiveWork in_place = sum_of(64);
        in_place.collective = CollectiveKind::all_to_all;
        in_place.buffers = Buffers::in_place;
        CHECK_THAT(backend.cannot(in_place), ContainsSubstring("in place"));
        CHECK(backend.cannot(of_kind(LocalKind::attention_forward)) == "no attention here");
        CHECK_THAT(backend.cannot(BesideWork{sum_of(64), of_kind(LocalKind::launch), true, 1}),
                   ContainsSubstring("host"));
        CHECK(backend.cannot(sum_of(64)).empty());
    }));
}

namespace {

// What each rank has of NCCL's dump, after a group of two and one of all three.
std::vector<std::string> dumps_of(const std::shared_ptr<World>& world)
{
    std::vector<std::string> out(3);
    check_none_failed(
        run_ranks(world, 3, [&](int rank, RankBackend& backend, Rendezvous& rendezvous) {
            const auto group = backend.join(all_of(3), rendezvous);
            out[static_cast<std::size_t>(rank)] = backend.node_topology();
        }));
    return out;
}

} // namespace

TEST_CASE("NCCL's dump of the topology is taken once, by the first rank, and leaves nothing behind")
{
    const auto world = world_of(3);
    const std::string dump = world->topology;
    CHECK(dumps_of(world) == std::vector<std::string>{dump, "", ""});
    CHECK(world->variables.count("NCCL_TOPO_DUMP_FILE") == 0);
    CHECK(world->variables.count("NCCL_TOPO_DUMP_FILE_RANK") == 0);
}

TEST_CASE("a communicator of some ranks only shows some GPUs: its dump is not asked for")
{
    const auto world = world_of(3);
    std::string after_two = "none";
    check_none_failed(
        run_ranks(world, 3, [&](int rank, RankBackend& backend, Rendezvous& rendezvous) {
            if (rank == 2)
                return;
            const auto two = backend.join(all_of(2), rendezvous);
            if (rank == 0)
                after_two = backend.node_topology();
        }));
    CHECK(after_two.empty());
}

TEST_CASE("a file that the user has NCCL dump to is read and stays, an old one is not believed")
{
    const testing::Folder folder;
    const std::string file = (folder.path() / "theirs.xml").string();
    const testing::SetVariable where("NCCL_TOPO_DUMP_FILE", file);
    const auto world = world_of(3);
    {
        const testing::SetVariable who("NCCL_TOPO_DUMP_FILE_RANK", "0");
        CHECK(dumps_of(world)[0] == world->topology);
        CHECK(read_file(file) == world->topology);
    }
    const testing::SetVariable nobody("NCCL_TOPO_DUMP_FILE_RANK", "7");
    CHECK(dumps_of(world_of(3))[0].empty());
}

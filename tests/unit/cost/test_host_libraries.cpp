// Collectives between host memories: MPI's closed form, sweeps of any library, interference.

#include "tests/unit/cost/support.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

using enum CollectiveKind;

Profile host()
{
    return assembled("cpu", "", "host-loop");
}

GroupShape ranks_of_host(int ranks)
{
    GroupShape shape;
    shape.ranks = shape.ranks_per_domain = shape.ranks_per_node = shape.gpus_per_node = ranks;
    shape.pcie = 10_GBps;
    return shape;
}

// 4 KiB in 50 us, 1 MiB in 400 us, 16 MiB in 6 ms.
KnotTable sweep_over(Backend backend)
{
    KnotTable table;
    table.backend = backend;
    table.ranks_per_domain = 2;
    for (const auto& [size, time] : {std::pair{4_KiB, 50e-6}, {1_MiB, 400e-6}, {16_MiB, 6e-3}})
        table.samples.knots.push_back({size, Seconds(time), Seconds(time), Seconds(time)});
    return table;
}

double seconds(const Profile& profile, Backend backend, Bytes size, int ranks = 2)
{
    return CostModel(profile)
        .collective(all_reduce, size, ranks_of_host(ranks), backend)
        .total.value();
}

} // namespace

TEST_CASE("a small sum over MPI takes one message's latency per doubling of ranks")
{
    const double latency = host().hardware.mpi.latency_inside.value();
    for (const int ranks : {2, 4, 8, 64})
        CHECK_THAT(CostModel(host())
                       .collective(all_reduce, 1_B, ranks_of_host(ranks), Backend::mpi)
                       .latency.value(),
                   WithinRel(std::log2(ranks) * latency, 1e-9));
}

TEST_CASE("a large sum over MPI is sent twice less a rank's part, and added")
{
    // Rabenseifner: 2 (n-1)/n S at the rate of a pair, and sums that touch three times (n-1)/n S.
    const MpiClass& mpi = host().hardware.mpi;
    const double bytes = 1073741824.0;
    for (const int ranks : {4, 16}) {
        const double part = (ranks - 1.0) / ranks;
        const double expected =
            2 * part * bytes / mpi.rate_inside.value() + 3 * part * bytes / mpi.sum_rate.value();
        CHECK_THAT(seconds(host(), Backend::mpi, 1_GiB, ranks), WithinRel(expected, 1e-3));
    }
}

TEST_CASE("a message of MPI takes its latency and the rate of a pair")
{
    const MpiClass& mpi = host().hardware.mpi;
    const double time =
        CostModel(host()).send_receive(1_MiB, ranks_of_host(2), Backend::mpi).total.value();
    CHECK_THAT(time,
               WithinRel(mpi.latency_inside.value() + 1048576.0 / mpi.rate_inside.value(), 1e-9));
}

TEST_CASE("a sweep of a library times its collectives, and no other library's")
{
    for (const Backend swept : {Backend::gloo, Backend::mpi, Backend::ucx, Backend::nvshmem}) {
        Profile profile = host();
        profile.hardware.knots = {sweep_over(swept)};
        for (const auto& entry : enum_names<Backend>()) {
            INFO(to_name(swept) << " " << entry.name);
            if (entry.value != swept) {
                CHECK(seconds(profile, entry.value, 1_MiB) == seconds(host(), entry.value, 1_MiB));
                continue;
            }
            const double in_situ = on_host(swept) ? 1.0 : profile.hardware.fabric.in_situ;
            CHECK_THAT(seconds(profile, swept, 4_KiB), WithinRel(50e-6 * in_situ, 1e-9));
            CHECK_THAT(seconds(profile, swept, 16_MiB), WithinRel(6e-3 * in_situ, 1e-9));
            // Halfway from 1 to 16 MiB, in bytes.
            CHECK_THAT(seconds(profile, swept, Bytes((1U << 19) * 17)),
                       WithinRel(3.2e-3 * in_situ, 1e-9));
        }
        CHECK(seconds(profile, swept, 1_MiB, 4) == seconds(host(), swept, 1_MiB, 4));
    }
}

TEST_CASE("a sweep in place times a library's collectives where there is no other")
{
    Profile profile = host();
    KnotTable in_place = sweep_over(Backend::gloo);
    in_place.in_place = true;
    profile.hardware.knots = {in_place};
    CHECK_THAT(seconds(profile, Backend::gloo, 1_MiB), WithinRel(400e-6, 1e-9));
    KnotTable other = sweep_over(Backend::gloo);
    for (Knot& knot : other.samples.knots)
        knot.time = knot.time * 2.0;
    profile.hardware.knots = {in_place, other};
    CHECK_THAT(seconds(profile, Backend::gloo, 1_MiB), WithinRel(800e-6, 1e-9));
}

TEST_CASE("far beyond its sizes a sweep grows as its library's form does")
{
    Profile profile = host();
    profile.hardware.knots = {sweep_over(Backend::gloo)};
    const double end = seconds(profile, Backend::gloo, 64_MiB);
    CHECK_THAT(end, WithinRel(6e-3 + 48 * (5.6e-3 / 15), 1e-9)); // the last slope to 4 times
    const double form =
        seconds(host(), Backend::gloo, 1_GiB) / seconds(host(), Backend::gloo, 64_MiB);
    CHECK_THAT(seconds(profile, Backend::gloo, 1_GiB), WithinRel(end * form, 1e-9));
}

TEST_CASE("longer links make a swept collective later, slower ones longer")
{
    Profile profile = host();
    KnotTable across = sweep_over(Backend::gloo);
    across.ranks_per_domain = 1;
    across.domains = 2;
    across.network = profile.hardware.network.name;
    profile.hardware.knots = {across};
    GroupShape shape;
    shape.ranks = shape.domains = shape.nodes = 2;
    shape.gpus_per_node = 1;
    shape.network.transport = Transport::tcp;
    shape.network.nics = 1;
    shape.network.nic_rate = 1_GBps;
    const CostModel model(profile);
    const auto total = [&] {
        return model.collective(all_reduce, 16_MiB, shape, Backend::gloo).total;
    };
    CHECK_THAT(total().value(), WithinRel(6e-3, 1e-9));
    shape.health.across_latency = Seconds(1e-3);
    CHECK_THAT(total().value(), WithinRel(7e-3, 1e-9));
    shape.health = {};
    shape.health.across = 0.5;
    CHECK(total().value() > 1.8 * 6e-3);
}

TEST_CASE("nothing measured, libraries on the host slow no compute")
{
    for (const Backend backend : {Backend::gloo, Backend::mpi}) {
        const TransferTime time =
            CostModel(host()).collective(all_reduce, 1_MiB, ranks_of_host(2), backend);
        CHECK(time.sm_share == 0);
        CHECK(time.traffic_share == 0);
    }
}

TEST_CASE("two threads that share a core neither lose nor win: a transfer costs all of compute")
{
    // Beside each other compute runs at 1/2 and the transfer takes twice as long: the transfer's
    // second at its own rate is a second of compute's.
    Profile profile = host();
    profile.hardware.interference.gloo = {std::nullopt, 0.5, 2.0};
    const TransferTime time =
        CostModel(profile).collective(all_reduce, 1_MiB, ranks_of_host(2), Backend::gloo);
    CHECK(time.traffic_share == 1.0);
    CHECK(time.sm_share == 0);
    CHECK(time.total.value() == seconds(host(), Backend::gloo, 1_MiB));
    CHECK(CostModel(profile)
              .collective(all_reduce, 1_MiB, ranks_of_host(2), Backend::mpi)
              .traffic_share == 0);
}

TEST_CASE("what is lost while a member waits is not charged again while its data moves")
{
    const BackendInterference busy_wait{0.3, 0.1, 1.5};
    CHECK_THAT(busy_wait.lost_to_full_rate(), WithinRel((0.3 + 0.1) * 1.5 - 0.3, 1e-12));
    CHECK(BackendInterference{0.4, std::nullopt, std::nullopt}.lost_to_full_rate() == 0);
}

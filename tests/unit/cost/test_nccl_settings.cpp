// What launch variables leave of NCCL's choice.

#include "sim/cost/algorithms/ring.h"
#include "sim/cost/algorithms/tree.h"
#include "tests/unit/cost/support.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

using enum CollectiveKind;

Profile profile()
{
    return assembled("H100");
}

GroupShape shape_of(int nodes)
{
    return whole_domains(profile(), 8, nodes, 8, 50_GBps);
}

double time_with(const NcclSettings& settings, CollectiveKind kind, Bytes size, int nodes = 1)
{
    return time_of(CostModel(profile(), settings), kind, size, shape_of(nodes)).value();
}

} // namespace

TEST_CASE("without settings NCCL's times are the same to the bit")
{
    const CostModel usual(profile());
    for (const Bytes size : {1_KiB, 1_MiB, 1_GiB})
        CHECK(time_with({}, all_reduce, size, 2) ==
              time_of(usual, all_reduce, size, shape_of(2)).value());
}

TEST_CASE("without peer-to-peer copies large collectives are slower by the ratio of the rates")
{
    NcclSettings settings;
    settings.host_path = load_fabric("pcie-host").value();
    const FabricClass& host = *settings.host_path;
    const FabricClass fabric = profile().hardware.fabric;
    // An all-gather of 1 GiB is all bandwidth on both ways: (7/8 + local copy / 8) / (rate x
    // efficiency); the measured curve of the usual way is within 20 % of that.
    const double parts = (7 + host.local_copy) / (7 + fabric.local_copy);
    const double expected = parts * 450 * fabric.efficiency.all_gather /
                            (host.line_rate.value() * 1e-9 * host.efficiency.all_gather);
    const double ratio = time_with(settings, all_gather, 1_GiB) / time_with({}, all_gather, 1_GiB);
    CHECK_THAT(ratio, WithinRel(expected, 0.2));
    CHECK(ratio > 10); // "ten times slower", as the guides say
}

TEST_CASE("neither peer copies nor shared memory: every rank goes through its NIC")
{
    NcclSettings settings;
    settings.host_path = load_fabric("pcie-host").value();
    settings.one_rank_domains = true;
    const GroupShape seen = settings.seen(shape_of(2));
    CHECK(seen.domains == 16);
    CHECK(seen.ranks_per_domain == 1);
}

TEST_CASE("a domain of several nodes falls into nodes without peer copies")
{
    GroupShape rack = shape_of(1);
    rack.ranks = rack.ranks_per_domain = 72;
    rack.nodes = 18;
    rack.ranks_per_node = 4;
    rack.nodes_per_domain = 18;
    NcclSettings settings;
    settings.host_path = load_fabric("pcie-host").value();
    const GroupShape seen = settings.seen(rack);
    CHECK(seen.domains == 18);
    CHECK(seen.ranks_per_domain == 4);
    CHECK_FALSE(seen.in_switch_reduction);
}

TEST_CASE("without InfiniBand nodes talk over sockets, and not inside")
{
    NcclSettings settings;
    settings.sockets = load_network("tcp").value();
    CHECK(time_with(settings, all_reduce, 1_GiB, 2) > 5 * time_with({}, all_reduce, 1_GiB, 2));
    CHECK(time_with(settings, all_reduce, 1_GiB) == time_with({}, all_reduce, 1_GiB));
}

TEST_CASE("without GPUDirect bytes cross host memory at the network's staged rate")
{
    NcclSettings settings;
    settings.gpu_direct = false;
    const double ratio =
        time_with(settings, all_gather, 4_GiB, 2) / time_with({}, all_gather, 4_GiB, 2);
    CHECK(ratio > 1.2);
    CHECK(ratio < 1.05 / profile().hardware.network.staged_efficiency);
}

TEST_CASE("fewer channels carry as much less, more hold more SMs")
{
    const int usual = profile().hardware.fabric.sms_held;
    NcclSettings settings;
    settings.nvls = false; // rings only
    const double all = time_with(settings, all_gather, 1_GiB);
    settings.most_channels = usual / 4;
    CHECK_THAT(time_with(settings, all_gather, 1_GiB) / all, WithinRel(4.0, 0.02));
    settings.most_channels = 0;
    settings.least_channels = 2 * usual;
    CHECK(time_with(settings, all_gather, 1_GiB) == all);
    const auto held = [&](const NcclSettings& s) {
        return CostModel(profile(), s)
            .collective(all_gather, 1_GiB, shape_of(1), Backend::nccl)
            .sm_share;
    };
    CHECK_THAT(held(settings) / held({}), WithinRel(2.0, 1e-9));
}

TEST_CASE("an algorithm or protocol asked for is never faster than NCCL's choice")
{
    for (const Algorithm* algorithm : all_algorithms())
        for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple})
            for (const Bytes size : {1_KiB, 1_MiB, 1_GiB})
                for (const int nodes : {1, 2, 8}) {
                    NcclSettings settings;
                    settings.algorithms = {algorithm};
                    settings.protocols = {protocol};
                    CHECK(time_with(settings, all_reduce, size, nodes) >=
                          time_with({}, all_reduce, size, nodes) * (1 - 1e-12));
                }
    NcclSettings rings;
    rings.algorithms = {&algorithms::ring};
    CHECK(time_with(rings, all_reduce, 1_GiB) > time_with({}, all_reduce, 1_GiB)); // NVLS
    NcclSettings small;
    small.protocols = {Protocol::ll};
    CHECK(time_with(small, all_gather, 1_GiB) > 5 * time_with({}, all_gather, 1_GiB));
}

TEST_CASE("rings that are asked for go round two domains too, and send twice what a tree sends")
{
    NcclSettings rings;
    rings.algorithms = {&algorithms::ring};
    const GroupShape two = shape_of(2);
    const auto nic_bytes = [&](const NcclSettings& settings) {
        return CostModel(profile(), settings)
            .collective(all_reduce, 1_GiB, two, Backend::nccl)
            .nic_bytes;
    };
    CHECK_THAT(nic_bytes(rings) / nic_bytes({}), WithinRel(2.0 * 15 / 16, 1e-9));
    CHECK(time_with(rings, all_reduce, 1_GiB, 2) > 1.2 * time_with({}, all_reduce, 1_GiB, 2));
}

TEST_CASE("trees over many domains keep nearly a ring's bandwidth")
{
    NcclSettings rings;
    rings.algorithms = {&algorithms::ring};
    NcclSettings trees;
    trees.algorithms = {&algorithms::tree};
    const double ratio =
        time_with(trees, all_reduce, 16_GiB, 4) / time_with(rings, all_reduce, 16_GiB, 4);
    CHECK(ratio > 1.0);
    CHECK(ratio < 1.25); // 0.92 of the bus bandwidth, and 2 buffers out in place of 2 x 31 / 32
}

TEST_CASE("more sockets carry more until the NIC is full")
{
    Profile tcp = assembled("A100", "tcp");
    GroupShape two = whole_domains(tcp, 8, 2, 1, 12.5_GBps);
    two.network.transport = Transport::tcp;
    const auto time = [&](int sockets) {
        NcclSettings settings;
        settings.max_per_nic = 0.94_GBps * sockets;
        return time_of(CostModel(tcp, settings), all_gather, 1_GiB, two).value();
    };
    CHECK_THAT(time(1) / time(2), WithinRel(2.0, 0.02));
    CHECK(time(16) == time(64));
}

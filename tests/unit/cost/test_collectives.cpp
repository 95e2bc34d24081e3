#include "sim/base/random.h"
#include "sim/cost/algorithms/nvls.h"
#include "sim/cost/algorithms/ring.h"
#include "sim/cost/algorithms/sharp.h"
#include "tests/unit/cost/support.h"

#include <array>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

constexpr std::array all_collectives{CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                     CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                     CollectiveKind::broadcast,      CollectiveKind::reduce,
                                     CollectiveKind::send_receive};

} // namespace

TEST_CASE("one rank has nobody to talk to, and no bytes take no time")
{
    const CostModel model(assembled("H100"));
    GroupShape alone;
    const GroupShape eight = whole_domains(model.profile(), 8, 1, 8, 50_GBps);
    for (const CollectiveKind kind : all_collectives) {
        CHECK(time_of(model, kind, 1_GiB, alone) == Seconds(0));
        CHECK(time_of(model, kind, 0_B, eight) == Seconds(0));
    }
    CHECK(model.collective(CollectiveKind::barrier, 0_B, eight, Backend::nccl).total > Seconds(0));
    CHECK(model.collective(CollectiveKind::barrier, 0_B, alone, Backend::nccl).total == Seconds(0));
}

TEST_CASE(
    "a larger buffer never takes less time, whatever the group, and never less than its latency")
{
    Random random(7);
    for (const char* device : {"A100", "H100", "B200", "GB200"}) {
        const CostModel model(assembled(device));
        for (int trial = 0; trial < 40; ++trial) {
            const int per_domain = 1 << random.integer(0, 3);
            const int domains = 1 << random.integer(0, 5);
            const GroupShape shape =
                whole_domains(model.profile(), per_domain, domains, per_domain, 50_GBps);
            const Backend backend = random.uniform() < 0.2 ? Backend::gloo : Backend::nccl;
            for (const CollectiveKind kind : all_collectives) {
                Seconds before(0);
                for (std::uint64_t size = 1; size < (std::uint64_t{1} << 34); size = size * 3 + 1) {
                    const TransferTime now = model.collective(kind, Bytes(size), shape, backend);
                    INFO(device << " " << to_name(kind) << " " << per_domain << " x " << domains
                                << " " << size);
                    CHECK(now.total >= before);
                    CHECK(now.total >= now.latency);
                    before = now.total;
                }
            }
        }
    }
}

TEST_CASE("twice the link rates halve the bandwidth part of the form and leave the latency")
{
    Profile profile = bare_form(assembled("A100", "hdr200"));
    Profile fast = profile;
    fast.hardware.fabric.line_rate *= 2;
    const CostModel slow_model(profile);
    const CostModel fast_model(fast);
    for (const int domains : {1, 2, 4}) {
        const GroupShape slow = whole_domains(profile, 8, domains, 8, 25_GBps);
        const GroupShape quick = whole_domains(fast, 8, domains, 8, 50_GBps);
        for (const CollectiveKind kind : all_collectives) {
            // At a gigabyte both are on the simple line of the same algorithm.
            const TransferTime a = slow_model.collective(kind, 8_GiB, slow, Backend::nccl);
            const TransferTime b = fast_model.collective(kind, 8_GiB, quick, Backend::nccl);
            CHECK(a.latency == b.latency);
            const double slope_a =
                (a.total - slow_model.collective(kind, 4_GiB, slow, Backend::nccl).total).value();
            const double slope_b =
                (b.total - fast_model.collective(kind, 4_GiB, quick, Backend::nccl).total).value();
            CHECK_THAT(slope_b, WithinRel(slope_a / 2, 1e-9));
        }
    }
}

TEST_CASE("faster links than a sweep's are never slower than the sweep, slower ones never faster")
{
    for (const char* device : {"A100", "H100", "B200"}) {
        const Profile profile = assembled(device);
        const CostModel model(profile);
        for (const int ranks : {2, 4, 8}) {
            const GroupShape shape = whole_domains(profile, ranks, 1, ranks, 50_GBps);
            GroupShape faster = shape;
            faster.nvlink = shape.nvlink * 2;
            GroupShape slower = shape;
            slower.nvlink = shape.nvlink / 2;
            for (const CollectiveKind kind : all_collectives)
                for (std::uint64_t size = 1024; size <= (1ULL << 33); size *= 4) {
                    INFO(device << " " << ranks << " " << to_name(kind) << " " << size);
                    const Seconds time = time_of(model, kind, Bytes(size), shape);
                    CHECK(time_of(model, kind, Bytes(size), faster) <= time);
                    CHECK(time_of(model, kind, Bytes(size), slower) >= time);
                }
        }
    }
}

TEST_CASE("a sweep that ends early says nothing of sizes far beyond it but the level")
{
    Profile profile = bare_form(assembled("H100"));
    const GroupShape shape = whole_domains(profile, 8, 1, 8, 50_GBps);
    const CollectiveKind kind = CollectiveKind::all_reduce;
    const CostModel form(profile);
    KnotTable cut; // half as fast as the form, to 1 KiB
    cut.collective = kind;
    cut.ranks_per_domain = 8;
    const Seconds first = time_of(form, kind, 512_B, shape) * 2;
    const Seconds last = time_of(form, kind, 1_KiB, shape) * 2;
    const auto with = [&](Seconds end) {
        KnotTable table = cut;
        table.samples.knots = {{512_B, first, first, first}, {1_KiB, end, end, end}};
        Profile measured = profile;
        measured.hardware.knots = {table};
        return CostModel(measured);
    };
    // Noise of 10 % on the last size would make 1 GiB last a thousand times as long by its slope.
    const CostModel rising = with(last * 1.1);
    CHECK_THAT(time_of(rising, kind, 4_KiB, shape) / time_of(rising, kind, 1_KiB, shape),
               WithinRel(1 + 3 * (last * 1.1 - first).value() * 2 / (last * 1.1).value(), 1e-9));
    CHECK(time_of(rising, kind, 1_GiB, shape) < 5 * time_of(form, kind, 1_GiB, shape));
    CHECK(time_of(rising, kind, 1_GiB, shape) > 1.5 * time_of(form, kind, 1_GiB, shape));
    // Without a rise there is no slope to go on with.
    const CostModel flat = with(first);
    const Seconds beyond = time_of(flat, kind, 1_GiB, shape);
    CHECK_THAT(
        beyond / first,
        WithinRel(time_of(form, kind, 1_GiB, shape) / time_of(form, kind, 1_KiB, shape), 1e-9));
}

TEST_CASE("a faster link moves the same bytes, so it slows compute no more in all")
{
    const Profile profile = bare_form(assembled("H100"));
    const CostModel model(profile);
    const auto taken = [&](double factor) {
        GroupShape shape = whole_domains(profile, 4, 1, 4, 50_GBps);
        shape.nvlink *= factor;
        const TransferTime t =
            model.collective(CollectiveKind::all_gather, 256_MiB, shape, Backend::nccl);
        return (t.total - t.latency).value() * t.traffic_share;
    };
    CHECK(taken(1) > 0);
    CHECK_THAT(taken(2) * 2, WithinRel(taken(1), 1e-6));
}

TEST_CASE("across domains latencies add and the slower of the two levels sets the bandwidth")
{
    const Profile profile = bare_form(assembled("A100", "hdr200"));
    const CostModel model(profile);
    const auto kind = CollectiveKind::all_gather;
    const GroupShape inside = whole_domains(profile, 8, 1, 8, 25_GBps);
    const GroupShape narrow = whole_domains(profile, 8, 2, 8, 1_GBps);
    GroupShape wide = whole_domains(profile, 8, 2, 8, 25_GBps);
    wide.network.nic_rate = 1000_GBps;
    const auto slope = [&](const GroupShape& shape) {
        return (time_of(model, kind, 8_GiB, shape) - time_of(model, kind, 4_GiB, shape)).value();
    };
    // NICs of 1 GB/s: (n-1)/n S through 8 NICs at what the network makes of the line.
    const double bytes = 4.0 * (1ULL << 30);
    const double out = 8e9 * profile.hardware.network.efficiency;
    CHECK_THAT(slope(narrow), WithinRel(15.0 / 16 * bytes / out, 1e-9));
    // Endless NICs: what NVLink takes for 16 ranks, never less than for the 8 of one domain.
    const double nvlink = (15.0 / 16 + profile.hardware.fabric.local_copy / 16) * bytes /
                          (profile.hardware.fabric.efficiency.all_gather * 300e9);
    CHECK_THAT(slope(wide), WithinRel(nvlink, 1e-9));
    CHECK(slope(wide) > slope(inside));
    CHECK(time_of(model, kind, 1_B, narrow) >
          time_of(model, kind, 1_B, inside) + profile.hardware.network.latency);
}

TEST_CASE("each rank of a group drives its own NIC, so half a node reaches half the rate")
{
    const Profile profile = bare_form(assembled("H100"));
    const CostModel model(profile);
    const GroupShape whole = whole_domains(profile, 8, 16, 8, 50_GBps);
    GroupShape half = whole_domains(profile, 4, 16, 8, 50_GBps);
    half.gpus_per_node = 8;
    CHECK(network_rate(half, profile.hardware.network) ==
          network_rate(whole, profile.hardware.network) / 2);
}

TEST_CASE("a NIC faster than its PCIe slot carries what the slot does")
{
    const Profile profile = bare_form(assembled("A100"));
    const double efficiency = profile.hardware.network.efficiency;
    GroupShape shape = whole_domains(profile, 8, 4, 8, 50_GBps);
    CHECK_THAT(network_rate(shape, profile.hardware.network).value(),
               WithinRel(8 * 50e9 * efficiency, 1e-12));
    shape.pcie = 31_GBps;
    CHECK_THAT(network_rate(shape, profile.hardware.network).value(),
               WithinRel(8 * 31e9 * efficiency, 1e-12));
    // Two NICs for eight devices: two slots.
    shape.network.nics = 2;
    CHECK_THAT(network_rate(shape, profile.hardware.network).value(),
               WithinRel(2 * 31e9 * efficiency, 1e-12));
    // Four slow NICs for each device: its own slot.
    shape.network.nics = 32;
    shape.network.nic_rate = 12.5_GBps;
    CHECK_THAT(network_rate(shape, profile.hardware.network).value(),
               WithinRel(8 * 31e9 * efficiency, 1e-12));
}

TEST_CASE("a ring crosses as fast as the domain with the fewest members, and so the fewest NICs")
{
    // 73 ranks of two racks of 72: what one NIC carries, 1 GiB x 72/73 at 50 GB/s or less.
    const Profile profile = bare_form(assembled("GB200"));
    const CostModel model(profile);
    GroupShape even = whole_domains(profile, 72, 2, 72, 50_GBps);
    GroupShape ragged = even;
    ragged.ranks = 73;
    ragged.fewest_per_domain = 1;
    for (const CollectiveKind kind :
         {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce})
    {
        INFO(to_name(kind));
        CHECK(time_of(model, kind, 1024_MiB, ragged) > 1024_MiB / 50_GBps * 0.98);
        CHECK(time_of(model, kind, 1024_MiB, even) < 1024_MiB / 50_GBps * 0.6);
    }
}

TEST_CASE("a communicator's own limit binds only rings and trees of groups that fill their domains")
{
    Profile profile = bare_form(assembled("GB200"));
    const NetworkClass& network = profile.hardware.network;
    const GroupShape rack = whole_domains(profile, 72, 4, 72, 50_GBps);
    const GroupShape pair = whole_domains(profile, 2, 4, 2, 50_GBps);
    CHECK(channel_rate(rack, network) == network.max_per_communicator * network.efficiency);
    CHECK_THAT(channel_rate(pair, network).value(), WithinRel(100e9 * network.efficiency, 1e-12));
}

TEST_CASE("an all-to-all between racks leaves each rack through all of its NICs")
{
    // Two racks of 72 with a NIC of 50 GB/s per GPU. Each GPU keeps half of its GiB in the rack and
    // sends 1 GiB x 72/144 out of it: 2^29 / 50e9 = 10.7 ms, longer the less the NICs reach.
    const Profile profile = bare_form(assembled("GB200"));
    const CostModel model(profile);
    const double reached =
        profile.hardware.network.efficiency * profile.hardware.collectives.all_to_all_cross;
    const GroupShape racks = whole_domains(profile, 72, 2, 72, 50_GBps);
    const double time = time_of(model, CollectiveKind::all_to_all, 1_GiB, racks).value();
    CHECK_THAT(time, WithinRel((1 << 29) / 50e9 / reached, 0.05));
}

TEST_CASE("where each GPU has a NIC, larger NVLink domains never slow an all-to-all")
{
    // Of 576 GPUs, in nodes of 8 or racks of 72: with larger domains less leaves them.
    const Profile profile = bare_form(assembled("GB200"));
    const CostModel model(profile);
    Seconds before(1e9);
    for (const int per_domain : {4, 8, 24, 72, 144, 288}) {
        INFO(per_domain);
        const GroupShape shape =
            whole_domains(profile, per_domain, 576 / per_domain, per_domain, 50_GBps);
        const Seconds now = time_of(model, CollectiveKind::all_to_all, 1_GiB, shape);
        CHECK(now <= before);
        before = now;
    }
}

TEST_CASE("a further domain never makes a collective of the same size faster")
{
    for (const char* device : {"V100-SXM2-32GB", "A100", "H100", "B200", "GB200", "GB300"}) {
        const CostModel model(assembled(device));
        const int whole = std::string_view(device).starts_with("GB") ? 72 : 8;
        for (const int per_domain : {2, 4, 8, whole})
            for (const CollectiveKind kind :
                 {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                  CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                  CollectiveKind::reduce})
                for (std::uint64_t size = 1024; size <= (std::uint64_t{4} << 30); size *= 4) {
                    INFO(device << " " << to_name(kind) << " of " << size << " bytes, "
                                << per_domain << " ranks per domain");
                    const auto time_over = [&](int domains) {
                        return time_of(model, kind, Bytes(size),
                                       whole_domains(model.profile(), per_domain, domains,
                                                     per_domain, 50_GBps));
                    };
                    CHECK(time_over(2) >= time_over(1));
                }
    }
}

TEST_CASE("reduction in the switch needs the switch, an all-reduce and more than two ranks")
{
    const Profile profile = bare_form(assembled("H100"));
    const CostModel model(profile);
    GroupShape shape = whole_domains(profile, 8, 1, 8, 50_GBps);
    const auto with = model.collective(CollectiveKind::all_reduce, 1_GiB, shape, Backend::nccl);
    CHECK(with.algorithm == &algorithms::nvls);
    // S (1 + 1/n) leaves each GPU instead of 2 S (n-1)/n.
    CHECK_THAT(with.wire_bytes, WithinRel(1.125 * (1 << 30), 1e-12));
    shape.in_switch_reduction = false;
    const auto without = model.collective(CollectiveKind::all_reduce, 1_GiB, shape, Backend::nccl);
    CHECK(without.algorithm == &algorithms::ring);
    CHECK_THAT(without.wire_bytes, WithinRel(1.75 * (1 << 30), 1e-12));
    CHECK(with.total < without.total);
    CHECK(with.sm_share < without.sm_share);
}

TEST_CASE("reduction in the network sends the buffer once where a ring sends it nearly twice")
{
    const Profile profile = bare_form(assembled("H100"));
    const CostModel model(profile);
    GroupShape shape = whole_domains(profile, 8, 16, 8, 50_GBps);
    const Seconds ring = time_of(model, CollectiveKind::all_reduce, 1_GiB, shape);
    shape.network.in_network_reduction = true;
    const TransferTime sharp =
        model.collective(CollectiveKind::all_reduce, 1_GiB, shape, Backend::nccl);
    CHECK(sharp.algorithm == &algorithms::sharp);
    CHECK(sharp.total < ring);
}

TEST_CASE("without GPUDirect RDMA the network is slower, TCP excepted, which never had it")
{
    const Profile profile = assembled("H100");
    GroupShape shape = whole_domains(profile, 8, 4, 8, 50_GBps);
    const Bandwidth direct = network_rate(shape, profile.hardware.network);
    shape.network.gpu_direct = false;
    CHECK(network_rate(shape, profile.hardware.network) ==
          direct * profile.hardware.network.staged_efficiency);
    shape.network.transport = Transport::tcp;
    CHECK(network_rate(shape, profile.hardware.network) == direct);
}

TEST_CASE("an oversubscribed fabric slows all-to-all and messages but not rings")
{
    const Profile profile = bare_form(assembled("H100"));
    const CostModel model(profile);
    const GroupShape flat = whole_domains(profile, 8, 16, 8, 50_GBps);
    GroupShape thin = flat;
    thin.network.oversubscription = 4;
    const auto ratio = [&](CollectiveKind kind) {
        return time_of(model, kind, 4_GiB, thin) / time_of(model, kind, 4_GiB, flat);
    };
    CHECK_THAT(ratio(CollectiveKind::all_to_all), WithinRel(4.0, 0.02));
    CHECK_THAT(ratio(CollectiveKind::send_receive), WithinRel(4.0, 0.02));
    CHECK(ratio(CollectiveKind::all_reduce) == 1.0);
    CHECK(ratio(CollectiveKind::reduce_scatter) == 1.0);
}

TEST_CASE("a ring's share of a thin fabric is a floor under its time")
{
    const Profile profile = bare_form(assembled("H100"));
    const CostModel model(profile);
    const GroupShape flat = whole_domains(profile, 8, 16, 8, 50_GBps);
    GroupShape thin = flat;
    // 2 x 127/128 buffers of 4 GiB leave a domain, an eighth of it by each member's way.
    thin.fabric_share = 5_GBps;
    const double bytes = 2.0 * 127 / 128 / 8 * 4 * 1024 * 1024 * 1024;
    const auto all_reduce = [&](const GroupShape& shape) {
        return model.collective(CollectiveKind::all_reduce, 4_GiB, shape, Backend::nccl);
    };
    const TransferTime slow = all_reduce(thin);
    CHECK_THAT((slow.total - slow.latency).value(), WithinRel(bytes / 5e9, 1e-9));
    CHECK(slow.total > 5 * all_reduce(flat).total);
    CHECK(slow.latency == all_reduce(flat).latency);
    // More than the NICs carry changes nothing.
    thin.fabric_share = 60_GBps;
    CHECK(all_reduce(thin).total == all_reduce(flat).total);
    // Pairs meet the oversubscription of the whole fabric, not a ring's share.
    thin.fabric_share = 1_GBps;
    CHECK(time_of(model, CollectiveKind::all_to_all, 4_GiB, thin) ==
          time_of(model, CollectiveKind::all_to_all, 4_GiB, flat));
}

TEST_CASE("a message takes the same time alone and beside its siblings on other rails")
{
    const CostModel model(assembled("H100"));
    GroupShape pair = whole_domains(model.profile(), 1, 2, 8, 50_GBps);
    pair.gpus_per_node = 8;
    GroupShape eight = whole_domains(model.profile(), 8, 2, 8, 50_GBps);
    CHECK(model.send_receive(32_MiB, pair, Backend::nccl).total ==
          model.send_receive(32_MiB, eight, Backend::nccl).total);
}

TEST_CASE("overlapped communication slows compute by what it moves, and by the SMs it holds")
{
    const CostModel model(assembled("H100"));
    const double phi = model.profile().software.overlap_slowdown;
    const GroupShape inside = whole_domains(model.profile(), 8, 1, 8, 50_GBps);
    const TransferTime fast =
        model.collective(CollectiveKind::all_gather, 1_GiB, inside, Backend::nccl);
    const double rate = fast.wire_bytes / (fast.total - fast.latency).value();
    CHECK_THAT(fast.traffic_share, WithinRel(phi * rate / 450e9, 1e-9));
    // The same collective over a slow network moves its bytes slowly and costs little.
    const GroupShape slow_shape = whole_domains(model.profile(), 8, 2, 1, 1_GBps);
    const TransferTime slow =
        model.collective(CollectiveKind::all_gather, 1_GiB, slow_shape, Backend::nccl);
    CHECK(slow.traffic_share < fast.traffic_share / 20);
    CHECK(slow.sm_share == fast.sm_share);
}

#include "tests/unit/cost/support.h"

#include <array>

using namespace trainyard;
using namespace trainyard::literals;

TEST_CASE("published anchors of one node are met within a tenth")
{
    // Best all-reduce bus bandwidth of nccl-tests: A100 222-235, H100 480, H200 460, B200 685,
    // GB200 tray 628, NVL72 847 GB/s.
    struct Anchor {
        const char* device;
        int ranks;
        double GBps;
    };
    for (const Anchor& anchor :
         {Anchor{"A100", 8, 230}, Anchor{"H100", 8, 480}, Anchor{"H200", 8, 460},
          Anchor{"B200", 8, 685}, Anchor{"GB200", 4, 628}, Anchor{"GB200", 72, 847}})
    {
        INFO(anchor.device << " x " << anchor.ranks);
        const CostModel model(standing_alone(assembled(anchor.device)));
        const GroupShape shape = whole_domains(model.profile(), anchor.ranks, 1, 8, 50_GBps);
        CHECK_THAT(bus_bandwidth_GBps(model, CollectiveKind::all_reduce, 8_GiB, shape),
                   WithinRel(anchor.GBps, 0.1));
    }
}

TEST_CASE("published anchors of the network are met: bytes per NIC")
{
    // Traffic per NIC of a large all-gather over two nodes: HDR 23 of 25 GB/s, 100 Gb/s RoCE 11 of
    // 12.5, NDR 47 of 50, EFA v1 10 of 12.5.
    struct Anchor {
        const char* device;
        const char* network;
        int nics;
        Bandwidth rate;
        double GBps;
    };
    for (const Anchor& anchor :
         {Anchor{"A100", "hdr200", 8, 25_GBps, 23.0}, Anchor{"A100", "roce100", 8, 12.5_GBps, 11.3},
          Anchor{"H100", "ndr400", 8, 50_GBps, 46.0}, Anchor{"A100", "efa-v1", 4, 12.5_GBps, 10.2}})
    {
        INFO(anchor.device << " " << anchor.network);
        const CostModel model(standing_alone(assembled(anchor.device, anchor.network)));
        const GroupShape shape = whole_domains(model.profile(), 8, 2, anchor.nics, anchor.rate);
        const TransferTime time =
            model.collective(CollectiveKind::all_gather, 8_GiB, shape, Backend::nccl);
        const double per_nic = time.nic_bytes * 8 / anchor.nics / time.total.value() * 1e-9;
        CHECK_THAT(per_nic, WithinRel(anchor.GBps, 0.08));
    }
}

TEST_CASE("kernel sockets carry 1 to 3 GB/s between two nodes")
{
    const CostModel model(standing_alone(assembled("A100", "tcp")));
    GroupShape shape = whole_domains(model.profile(), 1, 2, 1, Bandwidth(25e9 / 8));
    shape.network.transport = Transport::tcp;
    const double busbw = bus_bandwidth_GBps(model, CollectiveKind::all_reduce, 1_GiB, shape);
    CHECK(busbw > 1.0);
    CHECK(busbw < 3.0);
}

TEST_CASE("Gloo is an order of magnitude slower than NCCL on the same node")
{
    const CostModel model(assembled("H100"));
    const GroupShape shape = whole_domains(model.profile(), 8, 1, 8, 50_GBps);
    const TransferTime gloo =
        model.collective(CollectiveKind::all_reduce, 64_MiB, shape, Backend::gloo);
    const TransferTime nccl =
        model.collective(CollectiveKind::all_reduce, 64_MiB, shape, Backend::nccl);
    CHECK(gloo.total > nccl.total * 10);
    CHECK(gloo.sm_share == 0); // it runs on the CPU
    CHECK(gloo.traffic_share == 0);
}

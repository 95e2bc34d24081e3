// UCX and symmetric memory: published anchors, limits, and who wins at which size.

#include "tests/unit/cost/support.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

using enum CollectiveKind;

const CostModel& h100()
{
    static const CostModel model(standing_alone(assembled("H100")));
    return model;
}

GroupShape node()
{
    return whole_domains(h100().profile(), 8, 1, 8, 50_GBps);
}
GroupShape nodes(int count)
{
    return whole_domains(h100().profile(), 8, count, 8, 50_GBps);
}

double microseconds(CollectiveKind kind, Bytes size, const GroupShape& shape, Backend backend)
{
    return 1e6 * h100().collective(kind, size, shape, backend).total.value();
}

} // namespace

TEST_CASE("all-reduces of symmetric memory meet MSCCL++'s on H100 nodes")
{
    CHECK_THAT(microseconds(all_reduce, 24_KiB, node(), Backend::nvshmem), WithinRel(6.18, 0.10));
    CHECK_THAT(microseconds(all_reduce, 72_KiB, node(), Backend::nvshmem), WithinRel(6.91, 0.10));
    CHECK_THAT(microseconds(all_reduce, 8_KiB, nodes(2), Backend::nvshmem), WithinRel(15.1, 0.10));
}

TEST_CASE("all-to-all of symmetric memory over 256 ranks takes what DeepEP's combine takes")
{
    // 128 tokens x 8 experts x 7168 x 2 bytes a rank, H800: 200 GB/s of NVLink, 400 Gb/s NICs.
    GroupShape shape = nodes(32);
    shape.nvlink = 200_GBps;
    const Bytes combine(std::uint64_t{128} * 8 * 7168 * 2);
    CHECK_THAT(microseconds(all_to_all, combine, shape, Backend::nvshmem), WithinRel(360.0, 0.10));
}

TEST_CASE("a message of UCX takes its latency and its share of the line rate")
{
    const GroupShape pair = whole_domains(h100().profile(), 1, 2, 1, 50_GBps);
    const double small = 1e6 * h100().send_receive(8_B, pair, Backend::ucx).total.value();
    CHECK_THAT(small, WithinRel(2.5, 0.01));
    const double large = h100().send_receive(1_GiB, pair, Backend::ucx).total.value();
    CHECK_THAT(1.073741824 / large, WithinRel(0.97 * 50, 0.01)); // GB/s
}

TEST_CASE("symmetric memory wins small all-reduces in a node, NCCL large ones")
{
    for (const Bytes size : {1_KiB, 16_KiB, 64_KiB})
        CHECK(microseconds(all_reduce, size, node(), Backend::nvshmem) <
              microseconds(all_reduce, size, node(), Backend::nccl));
    for (const Bytes size : {256_MiB, 1_GiB})
        CHECK(microseconds(all_reduce, size, node(), Backend::nvshmem) >
              microseconds(all_reduce, size, node(), Backend::nccl));
}

TEST_CASE("one-shot all-reduces are for small buffers, two-shot ones for large")
{
    const NvshmemClass& constants = h100().profile().hardware.nvshmem;
    const double rate = constants.efficiency_inside * 450e9;
    // (n - 1) S each; 2 (n - 1)/n S each and one barrier more.
    CHECK_THAT(microseconds(all_reduce, 16_KiB, node(), Backend::nvshmem),
               WithinRel(1e6 * (constants.collective.value() + 7 * 16384 / rate), 1e-9));
    CHECK_THAT(microseconds(all_reduce, 64_MiB, node(), Backend::nvshmem),
               WithinRel(1e6 * (constants.collective.value() + constants.barrier.value() +
                                1.75 * 64 * 1048576 / rate),
                         1e-9));
}

TEST_CASE("a larger buffer never takes less time with any library, and never less than its latency")
{
    for (const Backend backend : {Backend::gloo, Backend::ucx, Backend::nvshmem})
        for (const CollectiveKind kind :
             {all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter, all_to_all,
              CollectiveKind::broadcast, CollectiveKind::reduce, send_receive})
            for (const GroupShape& shape : {node(), nodes(2), nodes(16)}) {
                Seconds before(0);
                for (std::uint64_t size = 1; size < (std::uint64_t{1} << 34); size = size * 3 + 1) {
                    const TransferTime now = h100().collective(kind, Bytes(size), shape, backend);
                    INFO(to_name(backend) << " " << to_name(kind) << " " << size);
                    CHECK(now.total >= before);
                    CHECK(now.total >= now.latency);
                    before = now.total;
                }
            }
}

TEST_CASE("no library beats its links")
{
    for (const Backend backend : {Backend::ucx, Backend::nvshmem})
        for (const CollectiveKind kind : {all_reduce, CollectiveKind::all_gather, all_to_all}) {
            const double inside =
                static_cast<double>((1_GiB).value()) * bus_factor(kind, 8) / 450e9;
            CHECK(h100().collective(kind, 1_GiB, node(), backend).total.value() > inside);
        }
}

TEST_CASE("UCX moves data without holding SMs, symmetric memory holds some")
{
    CHECK(h100().collective(all_reduce, 64_MiB, node(), Backend::ucx).sm_share == 0);
    const double held = h100().collective(all_reduce, 64_MiB, node(), Backend::nvshmem).sm_share;
    const Device& device = h100().profile().hardware.device;
    CHECK_THAT(held, WithinRel(20.0 / device.sms * device.sm_loss, 1e-9));
}

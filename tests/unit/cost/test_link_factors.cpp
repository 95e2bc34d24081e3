#include "sim/base/random.h"
#include "tests/unit/cost/support.h"

#include <array>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

constexpr std::array factored_kinds{CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                    CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                    CollectiveKind::broadcast,      CollectiveKind::send_receive};

Seconds moving(const TransferTime& time)
{
    return time.total - time.latency;
}

} // namespace

TEST_CASE("twice the NVLinks halve what a large collective in a domain takes beyond its latency")
{
    const Profile profile = assembled("H100"); // with measured times of 8 ranks
    const CostModel usual(profile);
    const CostModel faster(profile, {}, {.nvlink = 2});
    const GroupShape node = whole_domains(profile, 8, 1, 8, 50_GBps);
    for (const CollectiveKind kind :
         {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
    {
        const TransferTime before = usual.collective(kind, 1_GiB, node, Backend::nccl);
        const TransferTime after = faster.collective(kind, 1_GiB, node, Backend::nccl);
        CHECK(after.latency == before.latency);
        CHECK_THAT(moving(after).value(), WithinRel(moving(before).value() / 2, 0.05));
    }
}

TEST_CASE("faster links of a class that a group does not use change nothing")
{
    const Profile profile = assembled("H100", "ndr400");
    const CostModel usual(profile);
    const GroupShape node = whole_domains(profile, 8, 1, 8, 50_GBps);
    const CostModel network(profile, {}, {.network = 2});
    const GroupShape pairs = whole_domains(profile, 1, 16, 8, 50_GBps);
    const CostModel nvlink(profile, {}, {.nvlink = 2});
    for (const CollectiveKind kind : factored_kinds) {
        CHECK(network.collective(kind, 64_MiB, node, Backend::nccl).total ==
              usual.collective(kind, 64_MiB, node, Backend::nccl).total);
        CHECK(nvlink.collective(kind, 64_MiB, pairs, Backend::nccl).total ==
              usual.collective(kind, 64_MiB, pairs, Backend::nccl).total);
    }
}

TEST_CASE("faster links never make a transfer slower, nor faster than they are")
{
    Random random(11);
    for (const char* device : {"A100", "H100", "GB200"}) {
        const Profile profile = assembled(device);
        const CostModel usual(profile);
        for (int trial = 0; trial < 40; ++trial) {
            const int per_domain = 1 << random.integer(0, 3);
            const int domains = 1 << random.integer(0, 5);
            const GroupShape shape =
                whole_domains(profile, per_domain, domains, per_domain, 50_GBps);
            const double factor = 1 + 3 * random.uniform();
            const CostModel faster(profile, {}, {factor, factor, factor, 1});
            for (const CollectiveKind kind : factored_kinds)
                for (const Bytes size : {1_KiB, 1_MiB, 1_GiB}) {
                    const TransferTime before = usual.collective(kind, size, shape, Backend::nccl);
                    const TransferTime after = faster.collective(kind, size, shape, Backend::nccl);
                    INFO(device << " " << to_name(kind) << " " << per_domain << " x " << domains
                                << " " << size.value());
                    CHECK(after.latency == before.latency);
                    CHECK(after.total <= before.total);
                    CHECK(moving(after).value() * factor * (1 + 1e-9) >= moving(before).value());
                }
        }
    }
}

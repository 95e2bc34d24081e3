#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

const CollectiveKind gather = CollectiveKind::all_gather;
const CollectiveKind scatter = CollectiveKind::reduce_scatter;
const CollectiveKind exchange = CollectiveKind::all_to_all;

} // namespace

TEST_CASE("each token is sent to and fetched from its experts, k h W bytes each way")
{
    Partition p = partition(4096);
    p.ep = 8;
    const LayerWork layer = work(mixtral(), moe_layer, p);
    const double once = 4096.0 * 2 * 4096 * 2; // tokens k h W
    CHECK(communication_bytes(layer.forward, GroupKind::ep, exchange) == 2 * once);
    CHECK(communication_bytes(layer.backward, GroupKind::ep, exchange) == 2 * once);
    CHECK(communications(layer.forward, GroupKind::ep).size() == 2);
}

TEST_CASE("expert work stays the same however many ranks share the experts")
{
    const LayerWork alone = work(mixtral(), moe_layer, partition(4096));
    Partition p = partition(4096);
    p.ep = 4;
    const LayerWork shared = work(mixtral(), moe_layer, p);
    CHECK(gemm_flops(shared.forward, KernelUse::expert) ==
          gemm_flops(alone.forward, KernelUse::expert));
    // 2 operations x 3 matrices x k = 2 experts per token.
    CHECK(gemm_flops(alone.forward, KernelUse::expert) == 4096.0 * 2 * 2 * 3 * 4096 * 14336);
    CHECK(shared.parameters.expert == alone.parameters.expert / 4);
    CHECK(shared.parameters.dense == alone.parameters.dense);
    for (const Kernel& kernel : kernels(shared.forward))
        if (kernel.name == "expert_up")
            CHECK(kernel.gemm == GemmShape{4096, 2 * 14336, 4096, 2}); // 2 local experts
}

TEST_CASE("experts cut by TP do their share of every token's work")
{
    const LayerWork alone = work(mixtral(), moe_layer, partition(4096));
    Partition p = partition(4096);
    p.tp = p.etp = 4;
    p.sequence_parallel = true;
    const LayerWork cut = work(mixtral(), moe_layer, p);
    CHECK(4 * gemm_flops(cut.forward, KernelUse::expert) ==
          gemm_flops(alone.forward, KernelUse::expert));
    CHECK(cut.parameters.expert == alone.parameters.expert / 4);
    // Attention over TP, experts over ETP: the gathers and scatters of a dense layer.
    const double sbhw = 4096.0 * 4096 * 2;
    CHECK(communication_bytes(cut.forward, GroupKind::tp, gather) == sbhw);
    CHECK(communication_bytes(cut.forward, GroupKind::etp, gather) == sbhw);
    CHECK(communication_bytes(cut.forward, GroupKind::etp, scatter) == sbhw);
    CHECK(communication_bytes(cut.backward, GroupKind::etp, gather) == sbhw);
    CHECK(communication_bytes(cut.backward, GroupKind::etp, scatter) == sbhw);
}

TEST_CASE("whole experts under TP work on the rank's own share of the tokens")
{
    Partition p = partition(4096);
    p.tp = 4;
    p.ep = 8;
    p.sequence_parallel = true;
    const LayerWork layer = work(mixtral(), moe_layer, p);
    const double once = 4096.0 / 4 * 2 * 4096 * 2;
    CHECK(communication_bytes(layer.forward, GroupKind::ep, exchange) == 2 * once);
    CHECK(communications(layer.forward, GroupKind::etp).empty());
    CHECK(communications(layer.forward, GroupKind::tp).size() == 2); // attention's only
}

TEST_CASE("the fullest expert rank works in proportion to its tokens")
{
    Partition p = partition(4096);
    p.ep = 8;
    const LayerWork even = work(mixtral(), moe_layer, p);
    p.expert_imbalance = 1.5;
    const LayerWork uneven = work(mixtral(), moe_layer, p);
    CHECK(gemm_flops(uneven.forward, KernelUse::expert) ==
          1.5 * gemm_flops(even.forward, KernelUse::expert));
    CHECK(gemm_flops(uneven.forward) == gemm_flops(even.forward));
}

TEST_CASE("one copy per node sends a token to each of n nodes with probability 1 - (1 - 1/n)^k")
{
    Transformer model = mixtral();
    model.moe->experts = 64;
    model.moe->experts_per_token = 8;
    Partition p = partition(4096);
    p.ep = 32;
    p.ep_nodes = 4;
    const double each =
        communication_bytes(work(model, moe_layer, p).forward, GroupKind::ep, exchange);
    p.kernels.one_copy_per_node = true;
    const double once =
        communication_bytes(work(model, moe_layer, p).forward, GroupKind::ep, exchange);
    // 4 (1 - 0.75^8) = 3.5995 nodes in place of 8 copies.
    CHECK_THAT(once / each, WithinRel(3.5995 / 8, 1e-4));
    p.ep_nodes = 1;
    CHECK(communication_bytes(work(model, moe_layer, p).forward, GroupKind::ep, exchange) == each);
}

TEST_CASE("a shared expert works on every token like a dense MLP of its size")
{
    Transformer model = mixtral();
    const LayerWork without = work(model, moe_layer, partition(4096));
    model.moe->shared_expert_ffn = 2048;
    const LayerWork with = work(model, moe_layer, partition(4096));
    CHECK(gemm_flops(with.forward) - gemm_flops(without.forward) == 2.0 * 4096 * 3 * 4096 * 2048);
    CHECK(with.parameters.dense - without.parameters.dense == 3.0 * 4096 * 2048);
}

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

TEST_CASE("an all-gather brings every rank's tokens to every rank and sums the results back")
{
    Partition p = partition(4096);
    p.ep = 8;
    p.experts.dispatcher = Dispatcher::all_gather;
    const LayerWork layer = work(mixtral(), moe_layer, p);
    const double all = 8 * 4096.0 * 4096 * 2; // tokens of 8 ranks, h W
    CHECK(communication_bytes(layer.forward, GroupKind::ep, gather) == all);
    CHECK(communication_bytes(layer.forward, GroupKind::ep, scatter) == all);
    CHECK(communication_bytes(layer.backward, GroupKind::ep, gather) == all);
    CHECK(communication_bytes(layer.backward, GroupKind::ep, scatter) == all);
    CHECK(communication_bytes(layer.forward, GroupKind::ep, exchange) == 0);
}

TEST_CASE("the dispatcher asked for goes before the framework's habit")
{
    Partition p = partition(4096);
    p.ep = 8;
    p.ep_nodes = 4;
    const double each =
        communication_bytes(work(mixtral(), moe_layer, p).forward, GroupKind::ep, exchange);
    p.kernels.one_copy_per_node = true;
    p.experts.dispatcher = Dispatcher::all_to_all;
    CHECK(communication_bytes(work(mixtral(), moe_layer, p).forward, GroupKind::ep, exchange) ==
          each);
}

TEST_CASE("with routing limited to M nodes a token goes to at most M of them")
{
    Transformer model = mixtral();
    model.moe->experts = 256;
    model.moe->experts_per_token = 8;
    Partition p = partition(4096);
    p.ep = 64;
    p.ep_nodes = 8;
    const auto bytes = [&] {
        return communication_bytes(work(model, moe_layer, p).forward, GroupKind::ep, exchange);
    };
    const double each = bytes();
    p.experts.dispatcher = Dispatcher::one_copy_per_node;
    // 8 (1 - (7/8)^8) = 5.251 nodes; DeepSeek-V3's limit of 4: 4 (1 - (3/4)^8) = 3.600.
    CHECK_THAT(bytes() / each, WithinRel(5.2512 / 8, 1e-4));
    p.experts.node_limit = 4;
    CHECK_THAT(bytes() / each, WithinRel(3.5995 / 8, 1e-4));
    p.experts.node_limit = 1;
    CHECK_THAT(bytes() / each, WithinRel(1.0 / 8, 1e-9));
}

TEST_CASE("an exchange carries what its fullest rank gets")
{
    Partition p = partition(4096);
    p.ep = 8;
    const LayerWork even = work(mixtral(), moe_layer, p);
    p.expert_imbalance = 1.5;
    const LayerWork uneven = work(mixtral(), moe_layer, p);
    for (const WorkList LayerWork::*way : {&LayerWork::forward, &LayerWork::backward})
        CHECK(communication_bytes(uneven.*way, GroupKind::ep, exchange) ==
              1.5 * communication_bytes(even.*way, GroupKind::ep, exchange));
}

TEST_CASE("loads have a mean of one, follow their law and end at the capacity")
{
    ExpertParallel experts;
    CHECK(expert_loads(experts, 4) == std::vector<double>{1, 1, 1, 1});
    experts.load = ExpertLoad::histogram;
    experts.shares = {30, 10, 10, 10};
    CHECK(expert_loads(experts, 4) == std::vector<double>{2, 10.0 / 15, 10.0 / 15, 10.0 / 15});
    experts.capacity_factor = 1.25; // 0.75 of 4 are dropped
    CHECK(expert_loads(experts, 4).front() == 1.25);
    experts = {};
    experts.load = ExpertLoad::power_law;
    experts.exponent = 1;
    // 1, 1/2, 1/3, 1/4: mean 25/48.
    CHECK_THAT(expert_loads(experts, 4)[0], WithinRel(48.0 / 25, 1e-12));
    CHECK_THAT(expert_loads(experts, 4)[3], WithinRel(12.0 / 25, 1e-12));
    experts.exponent = 0;
    CHECK(expert_loads(experts, 4) == std::vector<double>{1, 1, 1, 1});
}

TEST_CASE("shared experts beside the exchange do the same work in another order")
{
    Transformer model = mixtral();
    model.moe->shared_expert_ffn = 2048;
    Partition p = partition(4096);
    p.ep = 8;
    p.tp = 2;
    p.sequence_parallel = true;
    const LayerWork before = work(model, moe_layer, p);
    p.experts.overlap_shared = true;
    const LayerWork beside = work(model, moe_layer, p);
    for (const WorkList LayerWork::*way : {&LayerWork::forward, &LayerWork::backward}) {
        CHECK(hardware_flops(beside.*way).value() == hardware_flops(before.*way).value());
        CHECK(memory_bytes(beside.*way) == memory_bytes(before.*way));
        CHECK(launch_count(beside.*way) == launch_count(before.*way));
        for (const Communication& c : communications(beside.*way, GroupKind::ep))
            CHECK(c.needed_after > 0);
        for (const Communication& c : communications(before.*way, GroupKind::ep))
            CHECK(c.needed_after == 0);
    }
}

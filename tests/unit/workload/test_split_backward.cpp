// A layer's backward cut into gradients of its input and gradients of its weights.

#include "sim/workload/layer_work.h"
#include "sim/workload/split_backward.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

double products(const WorkList& items)
{
    return gemm_flops(items) + gemm_flops(items, KernelUse::expert);
}

const Communication* named(const WorkList& items, std::string_view name)
{
    for (const WorkItem& item : items)
        if (const auto* communication = std::get_if<Communication>(&item))
            if (communication->name == name)
                return communication;
    return nullptr;
}

} // namespace

TEST_CASE("the gradients of weights are half of a backward pass's products and nothing else")
{
    // dx = dy A^T and dA = x^T dy: 2 m n k each.
    for (const LayerKind& kind : {dense_layer, moe_layer}) {
        const Transformer model = kind.role == LayerKind::Role::moe ? mixtral() : llama_70b();
        const LayerWork layer = work(model, kind, partition(4096));
        const WorkList input = input_part(layer.backward);
        const WorkList weights = weight_part(layer.backward);
        CHECK(input.size() + weights.size() == layer.backward.size());
        CHECK(products(weights) == Approx(products(input)));
        CHECK(products(weights) == Approx(products(layer.forward)));
    }
}

TEST_CASE("what only a weight's gradient needs goes with it")
{
    // With sequence parallelism a column-cut product's input is gathered again for dA (Korthikanti
    // 2022, section 4.2.2), and its input's gradient is reduced beside dA: with dA put off nothing
    // is left to run beside.
    Partition cut = partition(4096);
    cut.tp = 2;
    cut.sequence_parallel = true;
    cut.kernels.tp_beside_weight_gradient = true;
    const LayerWork layer = work(llama_70b(), dense_layer, cut);
    REQUIRE(named(layer.backward, "mlp_up_input_gradient_reduce")->needed_after == 1);
    const WorkList input = input_part(layer.backward);
    const WorkList weights = weight_part(layer.backward);
    CHECK(named(input, "mlp_up_input_gather_again") == nullptr);
    CHECK(named(weights, "mlp_up_input_gather_again")->needed_after == 0);
    CHECK(named(input, "mlp_up_input_gradient_reduce")->needed_after == 0);
    CHECK(named(weights, "mlp_up_input_gradient_reduce") == nullptr);
}

TEST_CASE("a layer without weights has no weight part")
{
    const LayerWork layer = work(llama_70b(), embedding_layer, partition(4096));
    CHECK(weight_part(layer.backward).empty());
    CHECK(input_part(layer.backward) == layer.backward);
}

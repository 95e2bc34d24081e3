#include "sim/workload/parameters.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using enum AdapterTarget;

Transformer llama2_7b()
{
    Transformer t;
    t.hidden = 4096;
    t.layers = 32;
    t.heads = t.kv_heads = 32;
    t.head_dim = 128;
    t.ffn = 11008;
    t.vocabulary = 32000;
    return t;
}

double trained(const Transformer& model, const Lora& lora)
{
    Partition p = partition(4096);
    p.lora = lora;
    double sum = 0;
    for (const LayerKind& kind : layers_of(Model{"", model}))
        sum += work(model, kind, p).trained.total();
    return sum;
}

} // namespace

TEST_CASE("LoRA trains as many parameters as PEFT says")
{
    // 32 layers x 2 matrices x 8 (4096 + 4096): the figure of PEFT's guides for Llama 2 7B.
    CHECK(trained(llama2_7b(), {.rank = 8, .targets = {q_proj, v_proj}}) == 4'194'304);
    // All seven: 32 x 16 (4 x 8192 + 3 x 15104) = 39,976,960 at rank 16.
    CHECK(trained(llama2_7b(), {.rank = 16,
                                .targets = {q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj,
                                            down_proj}}) == 39'976'960);
    // Megatron's fused matrix has one adapter for the three: 32 x 8 (4096 + 3 x 4096).
    CHECK(trained(llama2_7b(), {.rank = 8, .targets = {linear_qkv}}) == 32 * 8 * 4 * 4096);
}

TEST_CASE("with LoRA backward makes input gradients of the base and all of the adapters'")
{
    Partition p = partition(4096);
    const LayerWork whole = work(llama2_7b(), dense_layer, p);
    p.lora = Lora{.rank = 8, .targets = {q_proj, v_proj}};
    const LayerWork adapted = work(llama2_7b(), dense_layer, p);
    const double adapters = 2 * 2.0 * 8 * (4096 + 4096) * 4096; // 2 r (in + out) per token, each
    CHECK(gemm_flops(adapted.forward) - gemm_flops(whole.forward) == adapters);
    CHECK(gemm_flops(adapted.backward) == gemm_flops(whole.forward) + 2 * adapters);
    CHECK(attention_flops(adapted.backward) == attention_flops(whole.backward));
    // The head's logits have no weight gradient either.
    const LayerWork head = work(llama2_7b(), head_layer, p);
    CHECK(gemm_flops(head.backward, KernelUse::head) == gemm_flops(head.forward, KernelUse::head));
}

TEST_CASE(
    "a token of LoRA takes 4 N operations of the base, 6 N of the adapters, attention in full")
{
    const Model model{"", llama2_7b()};
    const Lora lora{.rank = 8, .targets = {q_proj, v_proj}};
    const double s = 4096;
    const double matrices = 32 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008) + 4096.0 * 32000;
    const double attention = 32 * 4 * 4096 * s * s / 2; // L 4 a d s^2 / 2
    CHECK(adapter_flops_per_sequence(model, lora, 4096, {}).value() ==
          4 * matrices * s + 3 * attention + 6 * 4'194'304 * s);
}

TEST_CASE("each adapter adds four launches forward and six backward")
{
    Partition p = partition(4096);
    p.kernels.layer_launches_forward = 40;
    p.kernels.layer_launches_backward = 60;
    p.lora = Lora{.rank = 8, .targets = {q_proj, v_proj, down_proj}};
    const LayerWork layer = work(llama2_7b(), dense_layer, p);
    CHECK(launch_count(layer.forward) == 40 + 3 * 4);
    CHECK(launch_count(layer.backward) == 60 + 3 * 6);
}

TEST_CASE("a frozen base keeps no inputs of its products but those of adapters")
{
    Partition p = partition(4096);
    const double whole = static_cast<double>(work(llama2_7b(), dense_layer, p).saved.none.value());
    p.lora = Lora{.rank = 8, .targets = {q_proj, v_proj}};
    const double kept = static_cast<double>(work(llama2_7b(), dense_layer, p).saved.none.value());
    // Inputs of the MLP's matrices (h and f) are gone, two inner tensors of the rank come; the
    // attention's result stays for the attention's own backward.
    CHECK(whole - kept == 4096 * 2.0 * (4096 + 11008 - 2 * 8));
}

TEST_CASE("TP cuts the half of an adapter that lies with its matrix's cut")
{
    Partition p = partition(4096);
    p.tp = 4;
    p.sequence_parallel = true;
    p.lora = Lora{.rank = 8, .targets = {q_proj, down_proj}};
    const LayerWork layer = work(llama2_7b(), dense_layer, p);
    CHECK(layer.trained.dense == 8 * (4096 + 4096.0 / 4) + 8 * (11008.0 / 4 + 4096));
    CHECK(layer.summed_over_tp == 8 * (4096.0 + 4096));
    // No collective beyond the base's, but for what only weight gradients need: the MLP's input is
    // not gathered again.
    const Partition dense = [&] {
        Partition q = p;
        q.lora.reset();
        return q;
    }();
    const LayerWork whole = work(llama2_7b(), dense_layer, dense);
    CHECK(communications(layer.forward, GroupKind::tp).size() ==
          communications(whole.forward, GroupKind::tp).size());
    CHECK(communications(layer.backward, GroupKind::tp).size() + 1 ==
          communications(whole.backward, GroupKind::tp).size());
}

#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("forward matrix products of a layer take two operations per parameter and token")
{
    const Transformer llama = llama_70b();
    const LayerWork layer = work(llama, dense_layer, partition(8192));
    const double matrices = 8192.0 * 128 * (2 * 64 + 2 * 8) + 3.0 * 8192 * 28672;
    CHECK(gemm_flops(layer.forward) == 2 * matrices * 8192);
    // Norms are the rest of the parameters: two of h.
    CHECK(layer.parameters.dense == matrices + 2 * 8192);
    CHECK(layer.parameters.expert == 0);
}

TEST_CASE("backward matrix products take twice the forward's operations")
{
    for (const int tp : {1, 4}) {
        Partition p = partition(4096, 2);
        p.tp = tp;
        p.sequence_parallel = true;
        for (const auto& [model, kind] :
             {std::pair{llama_70b(), dense_layer}, std::pair{mixtral(), moe_layer}})
        {
            const LayerWork layer = work(model, kind, p);
            CHECK(gemm_flops(layer.backward) == 2 * gemm_flops(layer.forward));
            CHECK(gemm_flops(layer.backward, KernelUse::expert) ==
                  2 * gemm_flops(layer.forward, KernelUse::expert));
        }
    }
}

TEST_CASE("causal flash attention does half the square forward and 2.5 times that backward")
{
    const Transformer llama = llama_70b();
    const LayerWork layer = work(llama, dense_layer, partition(4096, 2));
    const double full = 4.0 * 2 * 4096 * 4096 * 64 * 128; // 4 b s^2 a d
    CHECK(attention_flops(layer.forward) == full / 2);
    CHECK(attention_flops(layer.backward) == 2.5 * full / 2);
}

TEST_CASE("unfused attention multiplies the full square, twice as much backward")
{
    const Transformer model = gpt(6144, 48, 64);
    Partition p = partition(2048, 4);
    p.kernels.attention = AttentionKernel::unfused;
    const LayerWork layer = work(model, dense_layer, p);
    const double full = 4.0 * 4 * 2048 * 2048 * 6144;
    CHECK(gemm_flops(layer.forward, KernelUse::attention_square) == full);
    CHECK(gemm_flops(layer.backward, KernelUse::attention_square) == 2 * full);
    CHECK(hardware_flops(layer.selective_recompute).value() == full);
    CHECK(launch_count(layer.selective_recompute) == 7);
}

TEST_CASE("modules that are recomputed drop what they make, and run again no more than that")
{
    Partition p = partition(4096);
    const LayerWork plain = work(mixtral(), moe_layer, p);
    CHECK(plain.selective_recompute.empty());
    CHECK(plain.saved.selective == plain.saved.none);
    const auto with = [&](RecomputeModule module) {
        p.recompute_modules = {module};
        return work(mixtral(), moe_layer, p);
    };
    const LayerWork activation = with(RecomputeModule::moe_act);
    REQUIRE(activation.selective_recompute.size() == 1);
    CHECK(name_of(activation.selective_recompute[0]) == "expert_activation");
    CHECK(activation.saved.none == plain.saved.none);
    const LayerWork whole = with(RecomputeModule::moe);
    CHECK(whole.saved.selective < activation.saved.selective);
    CHECK(name_of(whole.selective_recompute.front()) == "router");
    CHECK(name_of(whole.selective_recompute.back()) == "unpermute");
    CHECK(with(RecomputeModule::mlp).selective_recompute.empty()); // no dense MLP here
    CHECK(with(RecomputeModule::mla_up_proj).selective_recompute.empty());
    CHECK(with(RecomputeModule::layernorm).selective_recompute.size() == 2);
}

// The case of torchtitan: of query, key, value, output, gate, up and down the second, fourth and
// sixth are made again (4096 x 1024, 4096 x 4096, 4096 x 14336).
TEST_CASE("recompute by op makes every other product again, and keeps the rest and the attention")
{
    Partition p = partition(8192);
    p.recompute_modules = {RecomputeModule::per_op};
    Transformer model = mixtral();
    model.moe.reset();
    const LayerWork layer = work(model, dense_layer, p);
    const double again = 2.0 * 8192 * 4096 * (1024 + 4096 + 14336);
    CHECK(hardware_flops(layer.selective_recompute).value() == again);
    // Input, query, value, result, logarithm of the sum, gate: 27680 numbers of a token.
    CHECK(value(layer.saved.selective) ==
          8192.0 * (2 * (4096 + 4096 + 1024 + 4096 + 14336) + 4 * 32));
    // Without a compiler the last product's result stays too.
    p.kernels.fused_elementwise = false;
    CHECK(value(work(model, dense_layer, p).saved.selective) - value(layer.saved.selective) ==
          8192.0 * 2 * 4096);
    const LayerWork experts = work(mixtral(), moe_layer, p);
    CHECK(value(experts.saved.selective) == 8192.0 * (2 * (4096 + 4096 + 1024 + 4096) + 4 * 32));
}

TEST_CASE("recompute by op keeps what sequence parallelism scatters in place of a product")
{
    Partition p = partition(8192);
    p.tp = 8;
    p.sequence_parallel = true;
    p.recompute_modules = {RecomputeModule::per_op};
    Transformer model = mixtral();
    model.moe.reset();
    const LayerWork layer = work(model, dense_layer, p);
    CHECK(hardware_flops(layer.selective_recompute).value() ==
          2.0 * 8192 * 4096 * (1024 + 14336) / 8);
    CHECK(value(layer.saved.selective) ==
          8192.0 / 8 * (2 * (2 * 4096 + 4096 + 1024 + 4096 + 14336) + 4 * 32));
}

TEST_CASE("a window of keys bounds the work of attention")
{
    // Each query past the first w sees w keys: w s - w^2/2 pairs of the causal s^2/2.
    CHECK(visible_pairs(8192, 8192, {true, 128}) == 128.0 * 8192 - 128.0 * 128 / 2);
    CHECK(visible_pairs(8192, 8192, {true, 8192}) == 8192.0 * 8192 / 2);
    CHECK(visible_pairs(512, 512, {false, 0}) == 512.0 * 512);
}

TEST_CASE("the ranks of a TP group together do the work of the whole layer")
{
    const Transformer llama = llama_70b();
    const LayerWork whole = work(llama, dense_layer, partition(8192));
    for (const int tp : {2, 4, 8}) {
        Partition p = partition(8192);
        p.tp = tp;
        p.sequence_parallel = true;
        const LayerWork part = work(llama, dense_layer, p);
        CHECK(tp * gemm_flops(part.forward) == gemm_flops(whole.forward));
        CHECK(tp * attention_flops(part.forward) == attention_flops(whole.forward));
        CHECK(tp * memory_bytes(part.forward) == memory_bytes(whole.forward));
        CHECK(tp * memory_bytes(part.backward) == memory_bytes(whole.backward));
        // All parameters but the norms are cut.
        CHECK(tp * (part.parameters.dense - 2 * 8192) == whole.parameters.dense - 2 * 8192);
    }
}

TEST_CASE("the ranks of a CP group together do the work of the whole sequence")
{
    const Transformer llama = llama_70b();
    const LayerWork whole = work(llama, dense_layer, partition(32768));
    Partition p = partition(32768);
    p.cp = 4;
    const LayerWork part = work(llama, dense_layer, p);
    CHECK(4 * gemm_flops(part.forward) == gemm_flops(whole.forward));
    CHECK(4 * attention_flops(part.forward) == attention_flops(whole.forward));
    CHECK(4 * attention_flops(part.backward) == attention_flops(whole.backward));
    CHECK(part.parameters.dense == whole.parameters.dense);
}

TEST_CASE("with more TP ranks than key heads every rank keeps one key head")
{
    const Transformer llama = llama_70b(); // 8 key heads
    Partition p = partition(4096);
    p.tp = 16;
    const LayerWork layer = work(llama, dense_layer, p);
    const Kernel qkv = kernels(layer.forward)[1];
    CHECK(qkv.gemm.n == (64 / 16 + 2) * 128);
    for (const Kernel& kernel : kernels(layer.forward))
        if (kernel.kind == KernelKind::attention)
            CHECK(kernel.attention.kv_heads == 1);
}

TEST_CASE("Megatron TP all-reduces s b h W twice forward and twice backward per layer")
{
    const Transformer llama = llama_70b();
    Partition p = partition(4096, 2);
    p.tp = 8;
    const LayerWork layer = work(llama, dense_layer, p);
    const double sbhw = 4096.0 * 2 * 8192 * 2;
    for (const WorkList* items : {&layer.forward, &layer.backward}) {
        CHECK(communications(*items, GroupKind::tp).size() == 2);
        CHECK(communication_bytes(*items, GroupKind::tp, CollectiveKind::all_reduce) == 2 * sbhw);
    }
}

TEST_CASE("with sequence parallelism every all-reduce becomes a gather and a scatter, and backward "
          "gathers each input once more")
{
    const Transformer llama = llama_70b();
    Partition p = partition(4096, 2);
    p.tp = 8;
    p.sequence_parallel = true;
    const LayerWork layer = work(llama, dense_layer, p);
    const double sbhw = 4096.0 * 2 * 8192 * 2;
    using enum CollectiveKind;
    CHECK(communication_bytes(layer.forward, GroupKind::tp, all_gather) == 2 * sbhw);
    CHECK(communication_bytes(layer.forward, GroupKind::tp, reduce_scatter) == 2 * sbhw);
    CHECK(communication_bytes(layer.backward, GroupKind::tp, all_gather) == 4 * sbhw);
    CHECK(communication_bytes(layer.backward, GroupKind::tp, reduce_scatter) == 2 * sbhw);
    int hidden = 0;
    for (const Communication& c : communications(layer.backward, GroupKind::tp))
        hidden += c.needed_after;
    CHECK(hidden == 2);
}

TEST_CASE("attention and MLP side by side share one TP reduction each way")
{
    Transformer model = llama_70b();
    model.parallel_blocks = true;
    model.norms_per_layer = 1;
    Partition p = partition(4096);
    p.tp = 8;
    const LayerWork layer = work(model, dense_layer, p);
    CHECK(communications(layer.forward, GroupKind::tp).size() == 1);
    CHECK(communications(layer.backward, GroupKind::tp).size() == 1);
}

TEST_CASE("context parallelism gathers the keys and values of the whole sequence, and scatters "
          "their gradients")
{
    const Transformer llama = llama_70b();
    Partition p = partition(32768);
    p.tp = 4;
    p.cp = 4;
    const LayerWork layer = work(llama, dense_layer, p);
    const double kv = 2.0 * 32768 * (8 / 4) * 128 * 2;
    using enum CollectiveKind;
    CHECK(communication_bytes(layer.forward, GroupKind::cp, all_gather) == kv);
    CHECK(communication_bytes(layer.backward, GroupKind::cp, all_gather) == kv);
    CHECK(communication_bytes(layer.backward, GroupKind::cp, reduce_scatter) == kv);
}

TEST_CASE("one rank communicates nothing")
{
    for (const auto& [model, kind] :
         {std::pair{llama_70b(), dense_layer}, std::pair{mixtral(), moe_layer},
          std::pair{llama_70b(), embedding_layer}, std::pair{llama_70b(), head_layer}})
    {
        const LayerWork layer = work(model, kind, partition(4096));
        for (const WorkList* items : {&layer.forward, &layer.backward})
            CHECK(kernels(*items).size() == items->size());
    }
}

TEST_CASE("the launches of a layer add up to what the framework issues")
{
    Partition p = partition(4096);
    p.kernels.layer_launches_forward = 24;
    p.kernels.layer_launches_backward = 44;
    p.kernels.moe_launches_forward = 40;
    p.kernels.moe_launches_backward = 60;
    p.kernels.fp8_launches = 10;
    for (const Precision precision : {Precision::bf16, Precision::fp8}) {
        p.precision = precision;
        const int fp8 = precision == Precision::fp8 ? 10 : 0;
        const LayerWork dense = work(llama_70b(), dense_layer, p);
        CHECK(launch_count(dense.forward) == 24 + fp8);
        CHECK(launch_count(dense.backward) == 44 + fp8);
        const LayerWork moe = work(mixtral(), moe_layer, p);
        CHECK(launch_count(moe.forward) == 24 + 40 + fp8);
        CHECK(launch_count(moe.backward) == 44 + 60 + fp8);
    }
    p.precision = Precision::bf16;
    p.kernels.layer_launches_forward = 7; // fewer than listed: some are fused
    CHECK(launch_count(work(llama_70b(), dense_layer, p).forward) == 7);
    const LayerWork embedding = work(llama_70b(), embedding_layer, p);
    const LayerWork head = work(llama_70b(), head_layer, p);
    CHECK(launch_count(embedding.forward) + launch_count(head.forward) == 12);
    CHECK(launch_count(embedding.backward) + launch_count(head.backward) == 12);
}

TEST_CASE("memory traffic of a Llama layer is that of its elementwise kernels")
{
    const Transformer llama = llama_70b();
    const LayerWork layer = work(llama, dense_layer, partition(4096));
    const double T = 4096, W = 2, h = 8192, f = 28672, q = 64 * 128, k = 8 * 128;
    // Two norms (2), two residuals (3), rotary on Q and K (2), SwiGLU (3).
    CHECK(memory_bytes(layer.forward) == W * T * (2 * 2 * h + 2 * 3 * h + 2 * (q + k) + 3 * f));
    // Norms and residuals (3 each), rotary (2), SwiGLU (5), attention's delta (2).
    CHECK(memory_bytes(layer.backward) == W * T * (4 * 3 * h + 2 * (q + k) + 5 * f + 2 * q));
}

TEST_CASE("dropout moves a mask of one byte per element, and its own gradient backward")
{
    Transformer model = gpt(4096, 24, 32);
    Partition p = partition(2048);
    const LayerWork with = work(model, dense_layer, p);
    model.dropout = false;
    const LayerWork without = work(model, dense_layer, p);
    const double elements = 2048.0 * 4096;
    CHECK(memory_bytes(with.forward) - memory_bytes(without.forward) == 2 * elements);
    CHECK(memory_bytes(with.backward) - memory_bytes(without.backward) == (2 + 2 * 2) * elements);
}

TEST_CASE("fp8 casts and transposes the input of every product of a layer but not of the logits")
{
    const Transformer llama = llama_70b();
    Partition p = partition(4096);
    const LayerWork wide = work(llama, dense_layer, p);
    p.precision = Precision::fp8;
    const LayerWork narrow = work(llama, dense_layer, p);
    const double T = 4096, h = 8192, f = 28672, q = 64 * 128, n = q + 2 * 8 * 128;
    CHECK(memory_bytes(narrow.forward) - memory_bytes(wide.forward) ==
          2 * T * (h + q + h + f) + 2 * T * q); // the attention's result is read again
    CHECK(memory_bytes(narrow.backward) - memory_bytes(wide.backward) ==
          (2 + 2) * T * (n + h + 2 * f + h));
    for (const Kernel& kernel : kernels(work(llama, head_layer, p).forward))
        CHECK(kernel.precision == Precision::bf16);
}

TEST_CASE("a frozen base has no weight gradients")
{
    Partition p = partition(4096);
    const LayerWork trained = work(llama_70b(), dense_layer, p);
    p.lora = Lora{.rank = 8, .targets = {}};
    const LayerWork frozen = work(llama_70b(), dense_layer, p);
    CHECK(gemm_flops(frozen.backward) == gemm_flops(trained.forward));
    CHECK(frozen.forward == trained.forward);
}

TEST_CASE("the layers of a model are its embedding, its layers and its head")
{
    Transformer model = mixtral();
    model.moe->leading_dense_layers = 3;
    model.moe->every = 2;
    const std::vector<LayerKind> layers = layers_of(Model{"test", model});
    REQUIRE(layers.size() == 34);
    CHECK(layers.front() == embedding_layer);
    CHECK(layers.back() == head_layer);
    CHECK(layers[3] == dense_layer);
    CHECK(layers[4] == dense_layer);
    CHECK(layers[5] == moe_layer); // the second after the leading three
    CHECK(std::count(layers.begin(), layers.end(), moe_layer) == moe_layer_count(model));
}

TEST_CASE("layers alternate between a window and all keys")
{
    Transformer model = llama_70b();
    model.sliding_window = 128;
    model.full_attention_every = 2;
    const std::vector<LayerKind> layers = layers_of(Model{"test", model});
    CHECK(layers[1].windowed);
    CHECK_FALSE(layers[2].windowed);
    const LayerWork narrow = work(model, layers[1], partition(8192));
    CHECK(attention_flops(narrow.forward) ==
          4.0 * 64 * 128 * visible_pairs(8192, 8192, {true, 128}));
}

// The layers around the transformer layers, and native layers.

#include "sim/base/fields.h"
#include "sim/base/json.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("logits are a product over the padded vocabulary, cut by TP")
{
    Partition p = partition(4096);
    p.tp = 8;
    p.padded_vocabulary = 129024; // 126 x 128 x 8
    const LayerWork head = work(llama_70b(), head_layer, p);
    CHECK(gemm_flops(head.forward, KernelUse::head) == 2.0 * 4096 * (129024 / 8) * 8192);
    CHECK(gemm_flops(head.backward, KernelUse::head) ==
          2 * gemm_flops(head.forward, KernelUse::head));
    CHECK(head.parameters.dense == 129024.0 / 8 * 8192 + 8192);
    // The loss keeps the softmax in fp32; its gradient is a second tensor of 16 bit.
    CHECK(tensor_bytes(head, "softmax") == 4 * 4096 * (129024 / 8));
    CHECK(tensor_bytes(head, "logits_gradient") == 2 * 4096 * (129024 / 8));
}

TEST_CASE("vocabulary-parallel loss combines three numbers per token")
{
    Partition p = partition(4096);
    p.tp = 8;
    const LayerWork head = work(llama_70b(), head_layer, p);
    double small = 0;
    for (const Communication& c : communications(head.forward, GroupKind::tp))
        small += static_cast<double>(c.bytes.value());
    CHECK(small == 3 * 4.0 * 4096);
    // Backward: the gradient of the states that every rank's part of the vocabulary contributes to.
    CHECK(communication_bytes(head.backward, GroupKind::tp, CollectiveKind::all_reduce) ==
          4096.0 * 8192 * 2);
}

TEST_CASE("sequence parallelism scatters the embedding and gathers the states before the logits")
{
    Partition p = partition(4096);
    p.tp = 8;
    p.sequence_parallel = true;
    const double sbhw = 4096.0 * 8192 * 2;
    using enum CollectiveKind;
    const LayerWork embedding = work(llama_70b(), embedding_layer, p);
    CHECK(communication_bytes(embedding.forward, GroupKind::tp, reduce_scatter) == sbhw);
    CHECK(communication_bytes(embedding.backward, GroupKind::tp, all_gather) == sbhw);
    CHECK(embedding.output.value() == 4096 / 8 * 8192 * 2);
    const LayerWork head = work(llama_70b(), head_layer, p);
    CHECK(communication_bytes(head.forward, GroupKind::tp, all_gather) == sbhw);
    CHECK(communication_bytes(head.backward, GroupKind::tp, reduce_scatter) == sbhw);
}

TEST_CASE("only the masked tokens of BERT reach the vocabulary, none when fine-tuning")
{
    Transformer bert = gpt(1024, 24, 16);
    bert.causal = false;
    bert.bert_heads = true;
    bert.head_fraction = 0.15;
    const Partition p = partition(512, 8);
    const double masked = 8 * 77;                        // 76.8 of 512 tokens
    const double heads = 8.0 * (1024 * 1024 + 2 * 1024); // pooler and next sentence
    CHECK(gemm_flops(work(bert, head_layer, p).forward, KernelUse::head) ==
          2 * (masked * (1024.0 * 51200 + 1024 * 1024) + heads));
    bert.head_fraction = 0;
    CHECK(gemm_flops(work(bert, head_layer, p).forward, KernelUse::head) == 2 * heads);
}

TEST_CASE("a tied embedding is held once, by the embedding")
{
    Transformer model = llama_70b();
    const Partition p = partition(4096);
    const double matrix = 128256.0 * 8192;
    CHECK(work(model, head_layer, p).parameters.dense == matrix + 8192);
    model.tied_embeddings = true;
    CHECK(work(model, head_layer, p).parameters.dense == 8192);
    CHECK(work(model, embedding_layer, p).parameters.dense == matrix);
    CHECK(gemm_flops(work(model, head_layer, p).forward, KernelUse::head) == 2.0 * 4096 * matrix);
}

TEST_CASE("a convolution is a product whose rows grow with the batch")
{
    NativeLayer conv;
    conv.name = "conv";
    conv.repeat = 2;
    conv.parameters = 64 * 64 * 9 + 128;
    conv.rows = 56 * 56;
    conv.columns = 64;
    conv.inner = 64 * 9;
    conv.output_elements = 56 * 56 * 64;
    conv.activation_elements = 2 * conv.output_elements;
    conv.memory_passes = 6;
    conv.memory_passes_backward = 8;
    conv.kernels = 3;
    conv.kernels_backward = 4;
    const Model model{"test", LayerList{{conv}, 3 * 224 * 224}};
    const std::vector<LayerKind> layers = layers_of(model);
    REQUIRE(layers.size() == 2);

    Partition p = partition(0, 32);
    p.precision = Precision::fp16;
    const LayerWork layer = layer_work(model, layers[0], p);
    const double product = 2.0 * 32 * 56 * 56 * 64 * 64 * 9;
    const double output = 32.0 * 56 * 56 * 64 * 2;
    CHECK(gemm_flops(layer.forward, KernelUse::convolution) == product);
    CHECK(gemm_flops(layer.backward, KernelUse::convolution) == 2 * product);
    CHECK(memory_bytes(layer.forward) == 6 * output);
    CHECK(memory_bytes(layer.backward) == 8 * output);
    CHECK(launch_count(layer.forward) == 3);
    CHECK(launch_count(layer.backward) == 4);
    CHECK(static_cast<double>(layer.saved.none.value()) == 2 * output);
    p.precision = Precision::fp32; // stored in four bytes
    CHECK(memory_bytes(layer_work(model, layers[0], p).forward) == 12 * output);
    p.precision = Precision::tf32; // and transposed for the tensor cores
    CHECK(memory_bytes(layer_work(model, layers[0], p).forward) == (12 + 2 * 4) * output);
    CHECK(memory_bytes(layer_work(model, layers[0], p).backward) == (16 + 2 * 8) * output);
}

TEST_CASE("a loss needs 2, 4, 6 or 12 bytes per logit at its peak, 16 where it is cut by hand")
{
    const auto peak = [](LossKernel loss, int tp) {
        Partition p = partition(4096);
        p.tp = tp;
        p.kernels.loss = loss;
        const LayerWork head = work(llama_70b(), head_layer, p);
        std::int64_t logits = 0; // alive while the loss's backward runs
        for (const LayerTensor& tensor : head.tensors)
            if (tensor.use == TensorUse::input ? tensor.bytes > 4096 * 8192 * 4
                                               : tensor.made_by == "loss_backward")
                logits += tensor.bytes;
        return logits * tp / (4096LL * 128256);
    };
    CHECK(peak(LossKernel::in_place, 1) == 2);
    CHECK(peak(LossKernel::fused, 1) == 4);
    CHECK(peak(LossKernel::softmax, 1) == 6);
    CHECK(peak(LossKernel::softmax, 8) == 6);
    CHECK(peak(LossKernel::log_softmax, 1) == 12);
    CHECK(peak(LossKernel::log_softmax, 8) == 16);
}

TEST_CASE("files that know no loss kernel say whether the loss is in place")
{
    const auto kernel_of = [](const char* text) {
        const Checked<Json> json = parse_json(text, "style.json");
        REQUIRE(json);
        Problems problems;
        KernelStyle style;
        fields_of<KernelStyle>().read(Reader(*json, "style.json", problems), style);
        CHECK(problems.empty());
        return style.loss_kernel();
    };
    CHECK(kernel_of(R"({"loss_in_place": true})") == LossKernel::in_place);
    CHECK(kernel_of(R"({"loss_in_place": false, "loss": "fused"})") == LossKernel::fused);
    CHECK(kernel_of("{}") == LossKernel::softmax);
}

TEST_CASE("the loss of fp32 logits makes no copy of them")
{
    Partition p = partition(4096);
    p.precision = Precision::fp32;
    p.kernels.loss = LossKernel::log_softmax;
    const LayerWork head = work(llama_70b(), head_layer, p);
    CHECK(std::ranges::none_of(
        head.tensors, [](const LayerTensor& tensor) { return tensor.name == "fp32_logits"; }));
}

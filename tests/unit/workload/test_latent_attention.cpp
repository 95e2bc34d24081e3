#include "sim/workload/layer_shape.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr double h = 7168;
constexpr double a = 128;
constexpr double query_latent = 1536;
constexpr double kv_latent = 512;
constexpr double d = 192; // 128 without position, 64 with
constexpr double dv = 128;

// A query and a key-value latent, each reached by a down and left by an up projection.
constexpr double down = h * query_latent + h * (kv_latent + 64);
constexpr double up = query_latent * a * d + kv_latent * a * (128 + dv);
constexpr double output = a * dv * h;
constexpr double mlp = 3 * h * 18432;

} // namespace

TEST_CASE("latent attention takes two operations per parameter and token forward")
{
    const LayerWork layer = work(deepseek_v3(), dense_layer, partition(4096));
    CHECK(gemm_flops(layer.forward) == 2 * (down + up + output + mlp) * 4096);
    CHECK(gemm_flops(layer.backward) == 2 * gemm_flops(layer.forward));
    // Norms are the rest: two of h and one of each latent.
    CHECK(layer.parameters.dense == down + up + output + mlp + 2 * h + query_latent + kv_latent);
}

TEST_CASE("scores take heads of 192, results heads of 128, and backward scores three products")
{
    const LayerWork layer = work(deepseek_v3(), dense_layer, partition(4096));
    const double pairs = 4096.0 * 4096 / 2;
    CHECK(attention_flops(layer.forward) == 2 * a * pairs * (d + dv));
    CHECK(attention_flops(layer.backward) == 2 * a * pairs * (3 * d + 2 * dv));

    Partition unfused = partition(4096);
    unfused.kernels.attention = AttentionKernel::unfused;
    const LayerWork square = work(deepseek_v3(), dense_layer, unfused);
    const auto use = KernelUse::attention_square;
    CHECK(gemm_flops(square.forward, use) == 2 * a * 2 * pairs * (d + dv));
    CHECK(gemm_flops(square.backward, use) == 2 * gemm_flops(square.forward, use));
}

TEST_CASE("model FLOPs count both head sizes")
{
    Transformer model = deepseek_v3();
    model.moe.reset();
    model.layers = 1;
    model.prediction_layers = 0;
    const double matrices = down + up + output + mlp + h * 129280;
    const double attention = 2 * a * (d + dv) * 4096 * 4096 / 2;
    CHECK(model_flops_per_sequence(Model{"", model}, 4096).value() ==
          3 * (2 * matrices * 4096 + attention));
}

TEST_CASE("tensor parallelism cuts the heads, not the latents")
{
    const Transformer model = deepseek_v3();
    const LayerWork whole = work(model, dense_layer, partition(4096));
    Partition p = partition(4096);
    p.tp = 8;
    const LayerWork copied = work(model, dense_layer, p);
    // Each rank makes the latents of all tokens.
    CHECK(gemm_flops(copied.forward) == 2 * (down + (up + output + mlp) / 8) * 4096);
    p.sequence_parallel = true;
    const LayerWork cut = work(model, dense_layer, p);
    CHECK(8 * gemm_flops(cut.forward) == gemm_flops(whole.forward));
    CHECK(8 * attention_flops(cut.backward) == attention_flops(whole.backward));
    CHECK(cut.parameters.dense ==
          down + (up + output + mlp) / 8 + 2 * h + query_latent + kv_latent);
    // Whole matrices see a part of the sequence each: their gradients are added up.
    CHECK(cut.summed_over_tp == down);
    CHECK(copied.summed_over_tp == 0);
}

TEST_CASE("sequence parallelism gathers the latents and the shared key in place of the input")
{
    Partition p = partition(4096, 2);
    p.tp = 4;
    p.sequence_parallel = true;
    const LayerWork layer = work(deepseek_v3(), dense_layer, p);
    const double token = 2.0 * 4096 * 2;
    const double latents = token * (query_latent + kv_latent + 64);
    const auto gathered = CollectiveKind::all_gather;
    const auto scattered = CollectiveKind::reduce_scatter;
    CHECK(communication_bytes(layer.forward, GroupKind::tp, gathered) == latents + token * h);
    CHECK(communication_bytes(layer.forward, GroupKind::tp, scattered) == 2 * token * h);
    // Backward gathers again what weight gradients need; the shared key is none of it.
    CHECK(communication_bytes(layer.backward, GroupKind::tp, gathered) ==
          latents - token * 64 + 3 * token * h);
    CHECK(communication_bytes(layer.backward, GroupKind::tp, scattered) == latents + token * h);
}

TEST_CASE("a latent layer keeps its latents twice and whole queries, keys and values")
{
    const Partition p = partition(4096);
    const double latents = 2 * (query_latent + kv_latent);
    const double heads = a * (2 * d + 2 * dv); // q, k, v and the result
    const double per_token = 2 * (4 * h + latents + heads + 3 * 18432) + 4 * a;
    CHECK(value(work(deepseek_v3(), dense_layer, p).saved.none) == 4096 * per_token);
}

TEST_CASE("context parallelism exchanges keys and values of all heads")
{
    Partition p = partition(8192);
    p.cp = 4;
    const LayerWork layer = work(deepseek_v3(), dense_layer, p);
    const double keys_and_values = 2.0 * 8192 * a * (d + dv);
    CHECK(communication_bytes(layer.forward, GroupKind::cp, CollectiveKind::all_gather) ==
          keys_and_values);
    const LayerWork whole = work(deepseek_v3(), dense_layer, partition(8192));
    CHECK(4 * gemm_flops(layer.forward) == gemm_flops(whole.forward));
    CHECK(4 * attention_flops(layer.forward) == attention_flops(whole.forward));
}

TEST_CASE("without a query latent, queries come from the input")
{
    Transformer model = deepseek_v3();
    model.latent->q_lora_rank = 0;
    const LayerWork layer = work(model, dense_layer, partition(4096));
    const double matrices =
        h * a * d + h * (kv_latent + 64) + kv_latent * a * (128 + dv) + output + mlp;
    CHECK(layer.parameters.dense == matrices + 2 * h + kv_latent);
    CHECK(gemm_flops(layer.forward) == 2 * matrices * 4096);
}

TEST_CASE("groups of experts bound the nodes that a token is copied to")
{
    Partition p = partition(4096);
    p.ep = 64;
    p.ep_nodes = 8;
    p.experts.dispatcher = Dispatcher::one_copy_per_node;
    Transformer model = deepseek_v3();
    const auto share = [&] { return ExpertShape(LayerShape(model, moe_layer, p)).network_share; };
    // 8 choices fall on 4 (1 - (3/4)^8) = 3.6 of 4 nodes, on 5.25 of 8.
    CHECK(share() == Approx(4 * (1 - std::pow(0.75, 8)) / 8));
    model.moe->groups = model.moe->groups_per_token = 1;
    CHECK(share() == Approx(8 * (1 - std::pow(0.875, 8)) / 8));
    model.moe->groups = 4; // of two nodes each
    CHECK(share() == Approx(2 * (1 - std::pow(0.5, 8)) / 8));
}

TEST_CASE("a prediction layer adds a projection of two inputs and logits of its own")
{
    const Transformer model = deepseek_v3();
    const Partition p = partition(4096);
    const std::vector<LayerKind> layers = layers_of(Model{"", model});
    REQUIRE(layers.size() == 61 + 3);
    const LayerKind further = layers[62];
    REQUIRE(further.predicts_further);
    const LayerWork plain = work(model, moe_layer, p);
    const LayerWork layer = work(model, further, p);
    CHECK(gemm_flops(layer.forward) - gemm_flops(plain.forward) == 2 * 2 * h * h * 4096);
    CHECK(gemm_flops(layer.forward, KernelUse::head) == 2.0 * h * 129280 * 4096);
    // Its logits' matrix is the head's.
    CHECK(layer.parameters.dense - plain.parameters.dense == 2 * h * h + 3 * h);
    // Inputs of two norms and of the projection, twice the state around the logits, fp32 logits.
    CHECK(value(layer.saved.none) - value(plain.saved.none) ==
          4096 * (2 * 2 * 2 * h + 2 * 2 * h + 4.0 * 129280));
}

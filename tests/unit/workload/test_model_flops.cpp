#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("model FLOPs are 6 N per token plus 6 L H Q T per token of causal attention")
{
    // PaLM 2022, appendix B: 6 N + 12 L H Q T per token, its last term halved for the visible half.
    // N leaves the embedding's look-up out.
    const Transformer t = llama_70b();
    const double T = 8192;
    const double layer = 8192.0 * 128 * (2 * 64 + 2 * 8) + 3.0 * 8192 * 28672;
    const double N = 80 * layer + 128256.0 * 8192;
    CHECK(model_flops_per_sequence(Model{"test", t}, 8192).value() ==
          T * (6 * N + 6.0 * 80 * 64 * 128 * T));
}

TEST_CASE("an encoder sees the full square, and only its masked tokens meet the vocabulary")
{
    Transformer t = gpt(1024, 24, 16);
    t.causal = false;
    t.head_fraction = 0.25;
    const double T = 512;
    const double N = 24 * 12.0 * 1024 * 1024 + 0.25 * 51200 * 1024;
    CHECK(model_flops_per_sequence(Model{"test", t}, 512).value() ==
          T * (6 * N + 12.0 * 24 * 1024 * T));
}

TEST_CASE("a token of an MoE model meets its router and the experts it is sent to")
{
    const double T = 4096;
    const double layer = 4096.0 * 128 * (2 * 32 + 2 * 8) + 4096.0 * 8 + 2 * 3.0 * 4096 * 14336;
    const double N = 32 * layer + 32000.0 * 4096;
    CHECK(model_flops_per_sequence(Model{"test", mixtral()}, 4096).value() ==
          T * (6 * N + 6.0 * 32 * 32 * 128 * T));
}

TEST_CASE("the work of all layers together is the model's")
{
    // Hardware FLOPs of one device without recompute are the model FLOPs, but that a causal
    // kernel's backward computes the scores anew: 2.5 instead of 2 forwards.
    for (const Transformer& t : {llama_70b(), mixtral()}) {
        const Model model{"test", t};
        double products = 0;
        double attention = 0;
        for (const LayerKind& kind : layers_of(model)) {
            const LayerWork layer = layer_work(model, kind, partition(4096));
            for (const WorkList* items : {&layer.forward, &layer.backward}) {
                attention += attention_flops(*items);
                products += hardware_flops(*items).value() - attention_flops(*items);
            }
        }
        CHECK_THAT(products + attention * 3 / 3.5,
                   WithinRel(model_flops_per_sequence(model, 4096).value(), 1e-12));
    }
}

TEST_CASE("whatever two choices a model makes, the work of its layers is the model's")
{
    // Without a mask and unfused nothing is computed twice in one go, so that both counts are
    // equal.
    Transformer plain = mixtral();
    plain.moe.reset();
    plain.layers = 2;
    plain.causal = false;
    using Choice = void (*)(Transformer&);
    const std::vector<Choice> choices = {
        [](Transformer& t) { t.value_head_dim = 64; },
        [](Transformer& t) { t.head_dim = 192; },
        [](Transformer& t) { t.embedding_width = 512; },
        [](Transformer& t) { t.gated_mlp = false; },
        [](Transformer& t) { t.parallel_blocks = true; },
        [](Transformer& t) { t.attention_gate = true; },
        [](Transformer& t) { t.shared_key_value = true; },
        [](Transformer& t) { t.query_rank = 512; },
        [](Transformer& t) {
            t.output_rank = 256;
            t.output_groups = 4;
        },
        [](Transformer& t) { t.tied_embeddings = true; },
        [](Transformer& t) { t.layer_embedding_width = 128; },
        [](Transformer& t) { t.head_fraction = 0.25; },
        [](Transformer& t) { t.prediction_layers = 1; },
        [](Transformer& t) { t.moe = mixtral().moe; },
        [](Transformer& t) {
            t.latent = deepseek_v3().latent;
            t.kv_heads = t.heads;
            t.head_dim = t.latent->head_dim();
        },
        [](Transformer& t) {
            t.moe = deepseek_v3().moe;
            t.moe->leading_dense_layers = 0;
        },
    };
    Partition whole = partition(4096);
    whole.kernels.attention = AttentionKernel::unfused;
    for (std::size_t a = 0; a < choices.size(); ++a)
        for (std::size_t b = a; b < choices.size(); ++b) {
            Transformer t = plain;
            choices[a](t);
            choices[b](t);
            const Model model{"test", t};
            double work = 0;
            for (const LayerKind& kind : layers_of(model)) {
                const LayerWork layer = layer_work(model, kind, whole);
                work += (hardware_flops(layer.forward) + hardware_flops(layer.backward)).value();
            }
            CAPTURE(a, b);
            CHECK_THAT(work, WithinRel(model_flops_per_sequence(model, 4096).value(), 1e-9));
        }
}

TEST_CASE("a window and leading dense layers change the layers they are in")
{
    Transformer t = llama_70b();
    const double all = model_flops_per_sequence(Model{"test", t}, 8192).value();
    t.sliding_window = 1024;
    t.full_attention_every = 2;
    const double half = model_flops_per_sequence(Model{"test", t}, 8192).value();
    const double pairs = 8192.0 * 8192 / 2 - visible_pairs(8192, 8192, {true, 1024});
    CHECK_THAT(all - half, WithinRel(3 * 40 * 4.0 * 64 * 128 * pairs, 1e-9));

    Transformer moe = mixtral();
    moe.moe->leading_dense_layers = 1;
    CHECK(count_parameters(Model{"test", moe}).total ==
          count_parameters(Model{"test", mixtral()}).total - 7 * 3.0 * 4096 * 14336 - 8 * 4096);
}

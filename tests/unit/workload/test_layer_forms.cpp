#include "sim/base/json.h"
#include "sim/workload/model_reader.h"
#include "sim/workload/model_summary.h"
#include "sim/workload/parameters.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;

namespace {

LayerForm form_named(const char* name)
{
    LayerForm form;
    form.name = name;
    return form;
}

// Every fourth layer is attention, the others a gated delta net (as Qwen3-Next).
Transformer delta_hybrid(MixerKind mixer = MixerKind::gated_delta_net)
{
    Transformer t = test::llama_70b();
    t.layers = 8;
    LayerForm linear = form_named("linear");
    linear.mixer = mixer;
    linear.recurrence = Recurrence{.key_heads = 16,
                                   .heads = 32,
                                   .key_dim = 128,
                                   .value_dim = 128,
                                   .convolution = 4,
                                   .chunk = 64};
    t.layer_forms = {linear, form_named("full")};
    t.pattern = {"linear", "linear", "linear", "full"};
    return t;
}

Partition cut(int tp, int cp, bool sequence_parallel = false)
{
    Partition p;
    p.sequence_length = 8192;
    p.tp = tp;
    p.cp = cp;
    p.sequence_parallel = sequence_parallel;
    return p;
}

LayerKind kind_of(const Transformer& model, int layer)
{
    return layers_of(Model{"m", model})[static_cast<std::size_t>(layer + 1)];
}

double flops_of(const WorkList& items)
{
    return hardware_flops(items).value();
}

Problems problems_of(const std::string& transformer)
{
    const Checked<Json> json = parse_json(
        R"({"format": "trainyard.model/1", "transformer": {"hidden": 1024, "layers": 4,
            "heads": 16, "vocabulary": 1000, )" +
            transformer + "}}",
        "m.json");
    REQUIRE(json);
    const Checked<Model> read = read_model(*json, "m.json");
    REQUIRE_FALSE(read);
    return read.error();
}

} // namespace

TEST_CASE("a pattern of one form that changes nothing is the model without it, bit for bit")
{
    const Transformer plain = test::mixtral();
    Transformer patterned = plain;
    patterned.layer_forms = {form_named("same")};
    patterned.pattern = {"same"};
    CHECK(count_parameters(Model{"a", plain}).total ==
          count_parameters(Model{"b", patterned}).total);
    CHECK(model_flops_per_sequence(Model{"a", plain}, 4096).value() ==
          model_flops_per_sequence(Model{"b", patterned}, 4096).value());
    for (const Partition& p : {cut(1, 1), cut(4, 1, true), cut(2, 2)}) {
        const LayerWork one = layer_work(Model{"a", plain}, kind_of(plain, 3), p);
        const LayerWork other = layer_work(Model{"b", patterned}, kind_of(patterned, 3), p);
        CHECK(one.forward == other.forward);
        CHECK(one.backward == other.backward);
        CHECK(one.parameters.total() == other.parameters.total());
        CHECK(one.saved.none == other.saved.none);
    }
}

TEST_CASE("a window or a chunk as long as the sequence sees what full attention sees")
{
    const Transformer full = test::llama_70b();
    Transformer windowed = full;
    windowed.sliding_window = 8192;
    Transformer chunked = full;
    chunked.attention_chunk = 8192;
    const double flops = model_flops_per_sequence(Model{"m", full}, 8192).value();
    CHECK(model_flops_per_sequence(Model{"m", windowed}, 8192).value() == flops);
    CHECK(model_flops_per_sequence(Model{"m", chunked}, 8192).value() == flops);
    const double work = flops_of(layer_work(Model{"m", full}, kind_of(full, 0), cut(1, 1)).forward);
    CHECK(flops_of(layer_work(Model{"m", chunked}, kind_of(chunked, 0), cut(1, 1)).forward) ==
          work);

    // Chunks of an eighth see an eighth of the pairs.
    chunked.attention_chunk = 1024;
    const double pairs = 8192.0 * 8192 / 2;
    const double core = 2 * 2 * 128 * 64 * 80 * pairs;
    CHECK_THAT(flops - model_flops_per_sequence(Model{"m", chunked}, 8192).value(),
               WithinRel(3 * core * 7 / 8, 1e-12));
}

TEST_CASE("a gated delta net has the parameters and operations of its published form")
{
    const Transformer model = delta_hybrid();
    const double h = 8192, k = 16 * 128, v = 32 * 128;
    double total = 0;
    double matrices = 0;
    for (const ParameterTensor& tensor : parameter_tensors(model, kind_of(model, 0))) {
        total += tensor.elements;
        matrices += tensor.matrix ? tensor.elements : 0;
    }
    const double mlp = 3 * h * 28672;
    // Projections to queries, keys, values and gate, two numbers per head, and back.
    CHECK(matrices == h * (2 * k + 2 * v + 2 * 32) + v * h + mlp);
    // Convolution of four taps, decay and its bias per head, the result's norm, the layer's two.
    CHECK(total - matrices == 4 * (2 * k + v) + 2 * 32 + 128 + 2 * h);
}

TEST_CASE("Mamba-2's layer has the parameters of the published 2.7B model")
{
    Transformer t = test::llama_70b();
    t.hidden = 2560;
    t.layers = 64;
    t.vocabulary = 50288;
    t.tied_embeddings = true;
    LayerForm mamba = form_named("mamba");
    mamba.mixer = MixerKind::mamba2;
    mamba.channel = ChannelKind::none;
    mamba.recurrence = Recurrence{.key_heads = 1,
                                  .heads = 80,
                                  .key_dim = 128,
                                  .value_dim = 64,
                                  .convolution = 4,
                                  .chunk = 256};
    t.layer_forms = {mamba};
    t.pattern = {"mamba"};
    // 64 layers of in_proj 2560 x 10576, conv 5 x 5376, 3 x 80, norm 5120, out_proj, norm 2560.
    const double layer = 2560.0 * 10576 + 5 * 5376 + 240 + 5120 + 5120 * 2560.0 + 2560;
    CHECK(count_parameters(Model{"mamba2", t}).total == 64 * layer + 50288.0 * 2560 + 2560);
    CHECK_THAT(count_parameters(Model{"mamba2", t}).total, WithinRel(2.7e9, 0.01));
    CHECK(summarize(Model{"mamba2", t}, 4096).groups[1].name == "mamba2");
}

TEST_CASE("ranks that share a recurrent layer do the work of the whole together")
{
    for (const MixerKind mixer : {MixerKind::gated_delta_net, MixerKind::kimi_delta_attention,
                                  MixerKind::mamba2, MixerKind::lightning_attention})
    {
        CAPTURE(to_name(mixer));
        const Model model{"m", delta_hybrid(mixer)};
        const LayerKind linear = kind_of(std::get<Transformer>(model.architecture), 0);
        const LayerWork whole = layer_work(model, linear, cut(1, 1));
        for (const auto& [tp, cp] : {std::pair{2, 1}, {1, 2}, {4, 2}}) {
            const LayerWork part = layer_work(model, linear, cut(tp, cp));
            // Narrow gates' first matrix is whole on every TP rank.
            const double tolerance = mixer == MixerKind::kimi_delta_attention ? 0.02 : 1e-9;
            CHECK_THAT(tp * cp * flops_of(part.forward),
                       WithinRel(flops_of(whole.forward), tolerance));
            CHECK_THAT(tp * cp * flops_of(part.backward),
                       WithinRel(flops_of(whole.backward), tolerance));
        }
        const LayerWork split = layer_work(model, linear, cut(2, 1, true));
        CHECK(split.parameters.total() < whole.parameters.total());
        CHECK(split.saved.none < whole.saved.none);
        CHECK(split.saved.full.value() * 2 == whole.saved.full.value());
    }
}

TEST_CASE("experts in a latent are narrower, identity experts compute nothing")
{
    Transformer wide = test::mixtral();
    Transformer latent = wide;
    latent.moe->latent_width = 1024;
    double projections = 0;
    double experts = 0;
    for (const ParameterTensor& tensor : parameter_tensors(latent, kind_of(latent, 0))) {
        projections +=
            tensor.name == "expert_input" || tensor.name == "expert_result" ? tensor.elements : 0;
        experts += tensor.cut == Cut::experts ? tensor.elements : 0;
    }
    CHECK(projections == 2.0 * 4096 * 1024);
    CHECK(experts == 8.0 * 3 * 1024 * 14336);

    Transformer identity = wide;
    identity.moe->identity_experts = 8;
    CHECK(identity.moe->computed_per_token() == 1.0);
    const ParameterCount all = count_parameters(Model{"m", wide});
    const ParameterCount some = count_parameters(Model{"m", identity});
    const double experts_of_token = 32.0 * 3 * 4096 * 14336;
    CHECK_THAT(all.active - some.active, WithinRel(experts_of_token, 1e-3));
}

TEST_CASE("an encoder's layers come first, and cross attention sees its tokens")
{
    Transformer t = test::gpt(512, 6, 8);
    t.position = PositionKind::none;
    t.linear_bias = false;
    t.norm = NormKind::rms_norm;
    t.vocabulary = 32128;
    t.cross_attention = true;
    Encoder encoder;
    encoder.name = "source";
    encoder.tokens = 512;
    encoder.hidden = 512;
    encoder.layers = 6;
    encoder.heads = 8;
    encoder.ffn = 2048;
    encoder.linear_bias = false;
    encoder.norm = NormKind::rms_norm;
    t.encoders = {encoder};
    // T5-small has 60,506,624, two biases of the scores with 32 x 8 numbers each among them.
    CHECK(count_parameters(Model{"t5-small", t}).total == 60'506'624 - 2 * 32 * 8);
    const std::vector<LayerKind> layers = layers_of(Model{"t5-small", t});
    CHECK(layers.size() == 1 + 6 + 1 + 6 + 1);
    CHECK(layers[0].encoder == 0);
    CHECK(layers[7].role == LayerKind::Role::embedding);

    const LayerWork decoder = layer_work(Model{"m", t}, layers[8], cut(1, 1));
    const auto cross = std::ranges::find_if(decoder.forward, [](const WorkItem& item) {
        const auto* kernel = std::get_if<Kernel>(&item);
        return kernel != nullptr && kernel->name == "cross_attention";
    });
    REQUIRE(cross != decoder.forward.end());
    CHECK(std::get<Kernel>(*cross).attention.key_length == 512);
    const LayerWork source = layer_work(Model{"m", t}, layers[1], cut(1, 1));
    CHECK(flops_of(source.forward) < flops_of(decoder.forward) / 8);
}

TEST_CASE("layers that share their parameters count them once and compute each")
{
    Transformer own = test::gpt(768, 12, 12);
    Transformer shared = own;
    shared.shared_layers = true;
    const double layers =
        count_parameters(Model{"m", own}).total - count_parameters(Model{"m", shared}).total;
    CHECK(layers == 11.0 * (12 * 768 * 768 + 13 * 768));
    CHECK(model_flops_per_sequence(Model{"m", own}, 512).value() ==
          model_flops_per_sequence(Model{"m", shared}, 512).value());
}

TEST_CASE("layers of one name and different sizes are rows of their own")
{
    Transformer t = test::llama_70b();
    LayerForm grouped = form_named("grouped");
    LayerForm single = form_named("single");
    single.kv_heads = 1;
    t.layer_forms = {grouped, single};
    t.pattern = {"grouped", "single", "single", "single"};
    const ModelSummary summary = summarize(Model{"m", t}, 4096);
    REQUIRE(summary.groups.size() == 4);
    CHECK(summary.groups[1].layers == 20);
    CHECK(summary.groups[2].layers == 60);
    CHECK(summary.groups[1].parameters > summary.groups[2].parameters);
}

TEST_CASE("forms are written and read back")
{
    Transformer t = delta_hybrid();
    t.encoders = {{.name = "v",
                   .tokens = 9,
                   .hidden = 64,
                   .layers = 1,
                   .heads = 2,
                   .ffn = 64,
                   .projects = true}};
    t.layer_forms[1].sliding_window = 0;
    t.layer_forms[0].channel = ChannelKind::none;
    const Model model{"hybrid", t};
    const Checked<Model> again = read_model(write_model(model), "m.json");
    REQUIRE(again);
    CHECK(*again == model);
}

TEST_CASE("a pattern that cannot be is refused at its place, with a way out")
{
    const std::string forms = R"("layer_forms": [{"name": "a"}, {"name": "b"}])";
    struct Fault {
        std::string text;
        std::string pointer;
    };
    for (const auto& [text, pointer] :
         {Fault{forms + R"(, "pattern": ["a", "b", "a"])", "/transformer/pattern"},
          Fault{forms, "/transformer/layer_forms"},
          Fault{R"("pattern": ["a"])", "/transformer/pattern"},
          Fault{forms + R"(, "pattern": ["a", "c"])", "/transformer/pattern/1"},
          Fault{R"("layer_forms": [{"name": "a", "mixer": "mamba2"}], "pattern": ["a"])",
                "/transformer/layer_forms/0/mixer"},
          Fault{R"("layer_forms": [{"name": "a", "channel": "experts"}], "pattern": ["a"])",
                "/transformer/layer_forms/0/channel"},
          Fault{R"("layer_forms": [{"name": "a", "kv_heads": 3}], "pattern": ["a"])",
                "/transformer/layer_forms/0/kv_heads"},
          Fault{R"("layer_forms": [{"name": "a", "mixer": "none", "channel": "none"}],
                   "pattern": ["a"])",
                "/transformer/layer_forms/0"},
          Fault{R"("cross_attention": true)", "/transformer/cross_attention"},
          Fault{R"("mixer": "kimi_delta_attention")", "/transformer/mixer"}})
    {
        CAPTURE(text);
        const Problems found = problems_of(text);
        REQUIRE_FALSE(found.empty());
        CHECK(found[0].pointer == pointer);
        CHECK_FALSE(found[0].hint.empty());
    }
}

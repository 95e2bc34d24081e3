// Laws that hold for layers of every kind of mixer.

#include "sim/base/build_info.h"
#include "sim/base/json.h"
#include "sim/workload/model_reader.h"
#include "sim/workload/parameters.h"
#include "tests/catch.h"
#include "tests/unit/workload/models.h"

using namespace trainyard;

namespace {

LayerForm mixer_form(MixerKind mixer, const Recurrence& sizes)
{
    LayerForm form;
    form.name = std::string(to_name(mixer));
    form.mixer = mixer;
    form.recurrence = sizes;
    return form;
}

// A layer of every kind of mixer, in one model.
Transformer every_mixer()
{
    Transformer t = test::llama_70b();
    t.hidden = 1024;
    t.heads = 16;
    t.kv_heads = 8;
    t.head_dim = 64;
    t.ffn = 4096;
    const Recurrence mamba{.key_heads = 1,
                           .heads = 2048,
                           .key_dim = 16,
                           .value_dim = 1,
                           .convolution = 4,
                           .step_rank = 64};
    const Recurrence unit{
        .key_heads = 1, .heads = 16, .key_dim = 1, .value_dim = 64, .convolution = 4};
    const Recurrence convolution{
        .key_heads = 1, .heads = 1024, .key_dim = 1, .value_dim = 1, .convolution = 3};
    const Recurrence heads{.key_heads = 8, .heads = 16, .key_dim = 64, .value_dim = 64};
    t.layer_forms = {mixer_form(MixerKind::mamba, mamba),
                     mixer_form(MixerKind::rg_lru, unit),
                     mixer_form(MixerKind::short_convolution, convolution),
                     mixer_form(MixerKind::mamba2, heads),
                     mixer_form(MixerKind::gated_delta_net, heads),
                     mixer_form(MixerKind::lightning_attention, heads)};
    LayerForm window;
    window.name = "window";
    window.sliding_window = 256;
    LayerForm wide;
    wide.name = "wide";
    wide.heads = 32;
    LayerForm earlier;
    earlier.name = "earlier";
    earlier.earlier_keys = true;
    t.layer_forms.insert(t.layer_forms.end(), {window, wide, earlier});
    for (const LayerForm& form : t.layer_forms)
        t.pattern.push_back(form.name);
    t.layers = static_cast<int>(t.pattern.size());
    return t;
}

Partition parted(int tp, int cp)
{
    Partition p;
    p.sequence_length = 2048;
    p.tp = tp;
    p.cp = cp;
    p.etp = tp;
    return p;
}

double work_flops(const WorkList& items)
{
    return hardware_flops(items).value();
}

// Forward operations of matrices that every TP rank has whole, for the tokens of a sequence.
double whole_matrices(const Transformer& model, const LayerKind& kind, double tokens)
{
    double elements = 0;
    for (const ParameterTensor& tensor : parameter_tensors(model, kind))
        elements += tensor.matrix && tensor.cut == Cut::whole ? tensor.elements : 0;
    return 2 * elements * tokens;
}

std::vector<LayerKind> inner_layers(const Transformer& model)
{
    std::vector<LayerKind> kinds;
    for (const LayerKind& kind : layers_of(Model{"m", model}))
        if (kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe)
            kinds.push_back(kind);
    return kinds;
}

Problems native_problems(const std::string& transformer)
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

TEST_CASE("layers without attention recompute no attention")
{
    const Model model{"m", every_mixer()};
    Partition unfused = parted(1, 1);
    unfused.kernels.attention = AttentionKernel::unfused;
    unfused.recompute_modules = {RecomputeModule::core_attn};
    int with_scores = 0;
    for (const LayerKind& kind : inner_layers(every_mixer())) {
        const LayerWork work = layer_work(model, kind, unfused);
        CAPTURE(kind.form);
        CHECK(work.selective_recompute.empty() == (work.saved.selective == work.saved.none));
        with_scores += work.selective_recompute.empty() ? 0 : 1;
    }
    CHECK(with_scores == 3); // window, wide, earlier
}

TEST_CASE("tensor and context parallelism conserve the operations of a layer of any kind")
{
    Transformer mixture = test::mixtral();
    mixture.moe->shared_expert_ffn = 2048;
    Transformer values = test::llama_70b();
    values.value_head_dim = 64;
    values.attention_gate = true;
    Transformer embedded = test::llama_70b();
    embedded.layer_embedding_width = 256;
    for (const Transformer& t : {every_mixer(), mixture, values, embedded}) {
        const Model model{"m", t};
        for (const LayerKind& kind : inner_layers(t)) {
            CAPTURE(kind.form);
            const LayerWork whole = layer_work(model, kind, parted(1, 1));
            const double copied = whole_matrices(t, kind, 2048);
            for (const int tp : {2, 4, 8}) {
                const LayerWork part = layer_work(model, kind, parted(tp, 1));
                CHECK_THAT(tp * work_flops(part.forward),
                           WithinRel(work_flops(whole.forward) + (tp - 1) * copied, 1e-9));
                CHECK_THAT(tp * work_flops(part.backward),
                           WithinRel(work_flops(whole.backward) + (tp - 1) * 2 * copied, 1e-9));
            }
            for (const int cp : {2, 4}) {
                const LayerWork part = layer_work(model, kind, parted(1, cp));
                CHECK_THAT(cp * work_flops(part.forward),
                           WithinRel(work_flops(whole.forward), 1e-9));
                CHECK_THAT(cp * work_flops(part.backward),
                           WithinRel(work_flops(whole.backward), 1e-9));
            }
        }
    }
}

TEST_CASE("the parameters that TP ranks hold together are the layer's, those whole on each aside")
{
    const Transformer t = every_mixer();
    for (const LayerKind& kind : inner_layers(t)) {
        CAPTURE(kind.form);
        double all = 0;
        double held = 0;
        double copied = 0;
        for (const ParameterTensor& tensor : parameter_tensors(t, kind)) {
            // One group of keys is on every rank.
            const bool copy =
                tensor.cut == Cut::whole || (tensor.cut == Cut::kv_heads && tensor.most_parts == 1);
            all += tensor.elements;
            held += held_elements(tensor, t, parted(4, 1));
            copied += copy ? tensor.elements : 0;
        }
        CHECK_THAT(4 * held, WithinRel(all + 3 * copied, 1e-12));
    }
}

TEST_CASE("Mamba's layer has the parameters of its published form")
{
    const Transformer t = every_mixer();
    double total = 0;
    for (const ParameterTensor& tensor : parameter_tensors(t, inner_layers(t)[0]))
        total += tensor.elements;
    const double h = 1024, d = 2048, n = 16, r = 64;
    // in_proj, conv1d and its bias, x_proj, dt_proj and its bias, A_log, D, out_proj; an MLP and
    // the two norms of this layer.
    const double mixer = 2 * h * d + 5 * d + d * (r + 2 * n) + r * d + d + d * n + d + d * h;
    CHECK(total == mixer + 3 * h * 4096 + 2 * h);
}

TEST_CASE("a real-gated unit has the parameters of its published form")
{
    const Transformer t = every_mixer();
    double total = 0;
    for (const ParameterTensor& tensor : parameter_tensors(t, inner_layers(t)[1]))
        total += tensor.elements;
    const double h = 1024, w = 1024, block = 64, heads = 16;
    // linear_x and linear_y, conv1d, two gates of a block per head, the decay, linear_out; biases.
    const double mixer = 2 * (h * w + w) + 5 * w + 2 * (heads * block * block + w) + w + w * h + h;
    CHECK(total == mixer + 3 * h * 4096 + 2 * h);
}

TEST_CASE("layers of a shared form have one set of parameters and work each")
{
    const Transformer plain = test::llama_70b();
    Transformer t = plain;
    LayerForm own;
    own.name = "own";
    LayerForm shared = own;
    shared.name = "shared";
    t.layer_forms = {own, shared};
    t.pattern = {"own", "shared"};
    const Model apart{"m", t};
    t.layer_forms[1].shared = true;
    const Model together{"m", t};
    double layer = 0;
    for (const ParameterTensor& tensor : parameter_tensors(plain, inner_layers(plain)[0]))
        layer += tensor.elements;
    CHECK(count_parameters(apart).total - count_parameters(together).total == 39 * layer);
    CHECK(model_flops_per_sequence(apart, 4096).value() ==
          model_flops_per_sequence(together, 4096).value());
}

TEST_CASE("a form that changes nothing is the model, bit for bit, for every shipped model")
{
    for (const char* name : {"llama-3.1-8b", "mixtral-8x7b", "deepseek-v3", "gpt2-xl", "phi-2",
                             "olmoe-1b-7b", "bert-large"})
    {
        CAPTURE(name);
        const std::string path = (data_dir() / "scenarios/models" / name / "config.json").string();
        const Model plain = read_model(read_json_file(path).value(), path).value();
        Model patterned = plain;
        Transformer& t = std::get<Transformer>(patterned.architecture);
        REQUIRE(t.pattern.empty());
        LayerForm same;
        same.name = "same";
        t.layer_forms = {same};
        t.pattern = {"same"};
        CHECK(count_parameters(plain).total == count_parameters(patterned).total);
        CHECK(count_parameters(plain).active == count_parameters(patterned).active);
        CHECK(model_flops_per_sequence(plain, 512).value() ==
              model_flops_per_sequence(patterned, 512).value());
        const std::vector<LayerKind> before = layers_of(plain);
        const std::vector<LayerKind> after = layers_of(patterned);
        REQUIRE(before.size() == after.size());
        Partition p = parted(2, 1);
        p.sequence_length = 512;
        for (const std::size_t i : {std::size_t{1}, before.size() - 2}) {
            const LayerWork one = layer_work(plain, before[i], p);
            const LayerWork other = layer_work(patterned, after[i], p);
            CHECK(one.forward == other.forward);
            CHECK(one.backward == other.backward);
            CHECK(one.parameters.total() == other.parameters.total());
            CHECK(one.saved.none == other.saved.none);
        }
    }
}

TEST_CASE("sizes of every mixer are written and read back")
{
    const Model model{"all", every_mixer()};
    const Checked<Model> again = read_model(write_model(model), "m.json");
    REQUIRE(again);
    CHECK(*again == model);
}

TEST_CASE("native models whose parts do not fit are refused at their place, with a way out")
{
    const std::string encoder = R"("tokens": 9, "layers": 1, "heads": 2, "ffn": 64)";
    struct Fault {
        std::string text;
        const char* pointer;
    };
    for (const Fault& fault :
         {Fault{R"("layer_forms": [{"name": ""}], "pattern": [""])",
                "/transformer/layer_forms/0/name"},
          Fault{R"("layer_forms": [{"name": "a"}, {"name": "b"}], "pattern": ["a"])",
                "/transformer/layer_forms/1"},
          Fault{R"("layer_forms": [{"name": "a", "sliding_window": 64, "attention_chunk": 64}],
                   "pattern": ["a"])",
                "/transformer/layer_forms/0/attention_chunk"},
          Fault{R"("sliding_window": 64, "attention_chunk": 64)", "/transformer/attention_chunk"},
          Fault{R"("output_rank": 64, "output_groups": 3)", "/transformer/output_groups"},
          Fault{R"("shared_layers": true, "layer_forms": [{"name": "a"}], "pattern": ["a"])",
                "/transformer/shared_layers"},
          Fault{R"("layer_forms": [{"name": "a", "earlier_keys": true}], "pattern": ["a"])",
                "/transformer/layer_forms/0/earlier_keys"},
          Fault{R"("mixer": "mamba", "recurrence": {"key_heads": 1, "heads": 2048, "key_dim": 16,
                   "value_dim": 1})",
                "/transformer/recurrence"},
          Fault{R"("encoders": [{"name": "v", "hidden": 1024, )" + encoder +
                    R"(}, {"name": "v", "hidden": 1024, )" + encoder + "}]",
                "/transformer/encoders/1/name"},
          Fault{R"("encoders": [{"name": "v", "hidden": 64, )" + encoder + "}]",
                "/transformer/encoders/0/hidden"},
          Fault{R"("cross_attention": true, "encoders": [{"name": "v", "hidden": 64, )" + encoder +
                    R"(}, {"name": "w", "hidden": 128, )" + encoder + "}]",
                "/transformer/encoders/1/hidden"}})
    {
        CAPTURE(fault.text);
        const Problems found = native_problems(fault.text);
        REQUIRE_FALSE(found.empty());
        CHECK(found[0].pointer == fault.pointer);
        CHECK_FALSE(found[0].hint.empty());
    }
}

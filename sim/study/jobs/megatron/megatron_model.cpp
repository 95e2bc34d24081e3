// The architecture that Megatron-LM's arguments describe.

#include "sim/base/spelling.h"
#include "sim/base/words.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/megatron/megatron_forms.h"
#include "sim/study/jobs/megatron/megatron_layout.h"
#include "sim/study/jobs/training_purpose.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

// What the MLP does between its matrices, by the argument that says so.
struct MlpForm {
    std::string_view argument;
    std::string_view value; // empty: it is a switch
    Activation activation;
    bool gated;
    bool two_thirds = false; // without a size of its own it has 8/3 h, down to a multiple of 64
};
constexpr std::array mlp_forms{
    MlpForm{"--swiglu", "", Activation::silu, true, true},
    MlpForm{"--quick-geglu", "", Activation::gelu, true, true},
    MlpForm{"--squared-relu", "", Activation::relu, false},
    MlpForm{"--glu-activation", "swiglu", Activation::silu, true},
    MlpForm{"--glu-activation", "geglu", Activation::gelu, true},
    MlpForm{"--glu-activation", "reglu", Activation::relu, true},
    MlpForm{"--glu-activation", "liglu", Activation::relu, true},
    MlpForm{"--activation-func-type", "swiglu", Activation::silu, true},
    MlpForm{"--activation-func-type", "geglu", Activation::gelu, true},
    MlpForm{"--activation-func-type", "gelu", Activation::gelu, false},
    MlpForm{"--activation-func-type", "relu", Activation::relu, false},
};

// How positions come into the model, by what Megatron-LM and its forks call it. A bias on the
// scores (ALiBi) has no matrix of its own.
struct PositionWord {
    std::string_view value;
    PositionKind position;
};
constexpr std::array position_words{
    PositionWord{"learned", PositionKind::learned},
    PositionWord{"learned_absolute", PositionKind::learned},
    PositionWord{"absolute", PositionKind::learned},
    PositionWord{"relative", PositionKind::learned},
    PositionWord{"rope", PositionKind::rotary},
    PositionWord{"rotary", PositionKind::rotary},
    PositionWord{"mrope", PositionKind::rotary},
    PositionWord{"yarn", PositionKind::rotary},
    PositionWord{"alibi", PositionKind::none},
    PositionWord{"none", PositionKind::none},
};

class ModelReader {
public:
    explicit ModelReader(MegatronReader& reader)
        : reader_(reader), values_(reader.values), draft_(reader.draft)
    {}

    void read()
    {
        hybrid_ = hybrid_pattern(reader_);
        if (!sizes())
            return;
        mlp();
        attention();
        ends();
        read_megatron_vocabulary(reader_, model_);
        if (const auto count = values_.whole("--num-experts"); count && *count == 1)
            draft_.understand(values_.origin("--num-experts"), "dense layers");
        else if (count)
            experts(*count);
        predictions();
        latent_attention();
        take_linear_attention(reader_, model_);
        encoder();
        if (is_t5(reader_))
            take_text_encoder(reader_, model_);
        if (hybrid_)
            take_hybrid_layers(reader_, *hybrid_, model_);
        Model model;
        model.name = name();
        model.architecture = model_;
        draft_.model = std::move(model);
    }

private:
    template <class T, class V>
    void take(std::string_view name, T& field, V value, std::string_view place)
    {
        draft_.take(field, std::move(value), "model." + std::string(place), values_.origin(name));
    }

    bool sizes()
    {
        const std::size_t before = draft_.problems.size();
        if (hybrid_ && !reader_.arguments.contains("--num-layers"))
            model_.layers = 1; // the pattern says
        else
            need(values_.either("--num-layers", "--encoder-num-layers"), model_.layers, "layers");
        need("--hidden-size", model_.hidden, "hidden");
        need("--num-attention-heads", model_.heads, "heads");
        if (draft_.problems.size() != before)
            return false;
        model_.head_dim = model_.hidden / model_.heads;
        if (const auto size = values_.whole("--kv-channels"))
            take("--kv-channels", model_.head_dim, *size, "head_dim");
        model_.kv_heads = model_.heads;
        if (values_.on("--group-query-attention"))
            take("--group-query-attention", model_.kv_heads,
                 values_.whole("--num-query-groups").value_or(1), "kv_heads");
        else if (const auto heads = values_.whole("--num-key-value-heads")) // Megatron-DeepSpeed
            take("--num-key-value-heads", model_.kv_heads, *heads, "kv_heads");
        else if (values_.whole("--num-query-groups"))
            draft_.ignore(values_.origin("--num-query-groups"),
                          "of no effect without --group-query-attention");
        return true;
    }

    template <class T>
    void need(std::string_view name, T& field, std::string_view place)
    {
        const std::size_t before = draft_.problems.size();
        const auto value = values_.whole(name);
        if (value && *value >= 1)
            take(name, field, *value, place);
        else if (value)
            draft_.refuse(values_.origin(name), fmt::format("{} is too small", *value),
                          "at least 1");
        else if (draft_.problems.size() == before)
            values_.refuse_missing(name, "a launch of Megatron-LM has it; --model FILE names a "
                                         "model that stands elsewhere");
    }

    void mlp()
    {
        const std::int64_t four = 4 * model_.hidden;
        model_.gated_mlp = false;
        model_.activation = Activation::gelu;
        model_.ffn = four;
        if (const MlpForm* const form = mlp_form()) {
            model_.gated_mlp = form->gated;
            take(form->argument, model_.activation, form->activation, "activation");
            if (form->two_thirds)
                model_.ffn = four * 2 / 3 / 64 * 64;
        }
        if (const auto size = values_.whole("--ffn-hidden-size"))
            take("--ffn-hidden-size", model_.ffn, *size, "ffn");
        else
            draft_.assume(fmt::format("feed-forward size {}: Megatron-LM's default", model_.ffn));
        model_.linear_bias = !values_.on("--disable-bias-linear");
        if (!model_.linear_bias)
            take("--disable-bias-linear", model_.linear_bias, false, "linear_bias");
        if (values_.on("--attention-output-gate"))
            take("--attention-output-gate", model_.attention_gate, true, "attention_gate");
        if (values_.on("--add-qkv-bias"))
            take("--add-qkv-bias", model_.attention_bias, true, "attention_bias");
    }

    const MlpForm* mlp_form()
    {
        const MlpForm* found = nullptr;
        for (const MlpForm& form : mlp_forms) {
            const bool said = form.value.empty() ? values_.on(form.argument)
                                                 : values_.text(form.argument) == form.value;
            if (said && found == nullptr)
                found = &form;
        }
        for (const std::string_view name : {"--glu-activation", "--activation-func-type"})
            if (found == nullptr && !values_.text(name).empty())
                draft_.flag(values_.origin(name), "not known here: GELU in its place");
        return found;
    }

    // A value that is not known here is not taken for Megatron-LM's default without a word.
    void position()
    {
        constexpr std::string_view name = "--position-embedding-type";
        constexpr std::string_view rotary = "--use-rotary-position-embeddings";
        constexpr std::string_view none = "--no-position-embedding";
        const std::string type = values_.text(name);
        const auto* const word =
            std::find_if(position_words.begin(), position_words.end(),
                         [&](const PositionWord& one) { return one.value == lower_case(type); });
        const bool known = word != position_words.end();
        const bool turned = values_.on(rotary);
        model_.position = PositionKind::learned;
        if (known)
            take(name, model_.position, word->position, "position");
        else if (!type.empty())
            draft_.flag(values_.origin(name), "not known here: learned positions in its place");
        if (turned)
            take(rotary, model_.position, PositionKind::rotary, "position");
        // Where others say how positions come in, that there are no learned ones goes without
        // saying.
        if (values_.on(none) && !turned && !known)
            take(none, model_.position, PositionKind::none, "position");
        if (type == "relative")
            draft_.assume(values_.origin(name), "relative positions are taken as learned ones");
    }

    void attention()
    {
        position();
        const auto rows = values_.whole("--max-position-embeddings");
        if (model_.position == PositionKind::learned && rows)
            take("--max-position-embeddings", model_.max_positions, *rows, "max_positions");
        const auto length = values_.whole("--seq-length");
        if (model_.position == PositionKind::learned && !rows && length &&
            !reader_.arguments.contains("--max-position-embeddings"))
        {
            model_.max_positions = *length;
            draft_.assume("as many learned positions as a sequence has tokens: no "
                          "--max-position-embeddings");
        }
        if (model_.position == PositionKind::learned && model_.max_positions < 1)
            values_.refuse_missing("--max-position-embeddings",
                                   "it says how many positions are learned, at least the "
                                   "--seq-length; or --position-embedding-type rope");
        if (values_.on("--qk-layernorm") && values_.on("--multi-latent-attention"))
            draft_.understand(values_.origin("--qk-layernorm"),
                              "norms on the latents, as latent attention has them");
        else if (values_.on("--qk-layernorm"))
            take("--qk-layernorm", model_.qk_norm, true, "qk_norm");
        window();
        const double dropout = std::max(values_.number("--attention-dropout").value_or(0.1),
                                        values_.number("--hidden-dropout").value_or(0.1));
        model_.dropout = dropout > 0;
        if (model_.dropout && !reader_.arguments.contains("--hidden-dropout"))
            draft_.assume("dropout of 0.1, Megatron-LM's default");
    }

    // "--window-size 128,0": keys before and after a query.
    void window()
    {
        const std::string size = values_.text("--window-size");
        std::size_t at = size.starts_with('(') ? 1 : 0;
        std::int64_t keys = 0;
        for (; at < size.size() && size[at] >= '0' && size[at] <= '9' && keys < 1'000'000'000; ++at)
            keys = keys * 10 + (size[at] - '0');
        if (keys > 0)
            take("--window-size", model_.sliding_window, keys + 1, "sliding_window");
        if (keys > 0)
            take_windowless_layers(reader_, model_);
    }

    void ends()
    {
        const std::string norm = values_.text("--normalization");
        model_.norm = plain_name(norm) == "rmsnorm" ? NormKind::rms_norm : NormKind::layer_norm;
        if (!norm.empty())
            take("--normalization", model_.norm, model_.norm, "norm");
        if (values_.on("--embed-layernorm"))
            take("--embed-layernorm", model_.embedding_norm, true, "embedding_norm");
        model_.tied_embeddings = !values_.on("--untie-embeddings-and-output-weights");
        if (!model_.tied_embeddings)
            take("--untie-embeddings-and-output-weights", model_.tied_embeddings, false,
                 "tied_embeddings");
    }

    void predictions()
    {
        if (const auto layers = values_.whole("--mtp-num-layers"))
            take("--mtp-num-layers", model_.prediction_layers, *layers, "prediction_layers");
    }

    // Defaults of MLATransformerConfig.
    void latent_attention()
    {
        if (!values_.on("--multi-latent-attention"))
            return;
        LatentAttention latent{0, 32, 128, 64, 128};
        const auto size = [&](std::string_view name, std::int64_t& field, std::string_view place) {
            if (const auto value = values_.whole(name))
                take(name, field, *value, "latent." + std::string(place));
            else
                draft_.assume(fmt::format("{} {}, Megatron-LM's default", name, field));
        };
        size("--q-lora-rank", latent.q_lora_rank, "q_lora_rank");
        size("--kv-lora-rank", latent.kv_lora_rank, "kv_lora_rank");
        size("--qk-head-dim", latent.qk_nope_head_dim, "qk_nope_head_dim");
        size("--qk-pos-emb-head-dim", latent.qk_rope_head_dim, "qk_rope_head_dim");
        size("--v-head-dim", latent.v_head_dim, "v_head_dim");
        model_.latent = latent;
        model_.kv_heads = model_.heads;
        model_.head_dim = latent.head_dim();
    }

    void experts(std::int64_t count)
    {
        MixtureOfExperts moe;
        take("--num-experts", moe.experts, count, "moe.experts");
        if (const auto size = values_.whole("--moe-router-topk"))
            take("--moe-router-topk", moe.experts_per_token, *size, "moe.experts_per_token");
        else {
            moe.experts_per_token = values_.on("--deepspeed") ? 1 : 2;
            draft_.assume(moe.experts_per_token == 1
                              ? "one expert per token, Megatron-DeepSpeed's default"
                              : "2 experts per token, Megatron-LM's default");
        }
        moe.expert_ffn = model_.ffn;
        if (const auto size = values_.whole("--moe-ffn-hidden-size"))
            take("--moe-ffn-hidden-size", moe.expert_ffn, *size, "moe.expert_ffn");
        if (const auto size = values_.whole("--moe-shared-expert-intermediate-size"))
            take("--moe-shared-expert-intermediate-size", moe.shared_expert_ffn, *size,
                 "moe.shared_expert_ffn");
        if (const auto shared = values_.whole("--n-shared-experts")) // MindSpeed's
            take("--n-shared-experts", moe.shared_expert_ffn,
                 std::clamp<std::int64_t>(*shared, 0, 1'000'000) * moe.expert_ffn,
                 "moe.shared_expert_ffn");
        if (const auto width = values_.whole("--moe-latent-size"))
            take("--moe-latent-size", moe.latent_width, *width, "moe.latent_width");
        if (values_.on("--moe-shared-expert-gate"))
            take("--moe-shared-expert-gate", moe.shared_expert_gate, true,
                 "moe.shared_expert_gate");
        if (const auto groups = values_.whole("--moe-router-num-groups"))
            take("--moe-router-num-groups", moe.groups, *groups, "moe.groups");
        if (const auto groups = values_.whole("--moe-router-group-topk"))
            take("--moe-router-group-topk", moe.groups_per_token, *groups, "moe.groups_per_token");
        which_layers(moe);
        model_.moe = moe;
    }

    void which_layers(MixtureOfExperts& moe)
    {
        values_.take("--first-k-dense-replace", moe.leading_dense_layers,
                     "model.moe.leading_dense_layers");
        const std::string text = values_.text("--moe-layer-freq");
        if (text.empty())
            return;
        const Origin origin = values_.origin("--moe-layer-freq");
        if (text.find('[') == std::string::npos) {
            const auto every = values_.whole("--moe-layer-freq");
            if (every && *every >= 1) {
                take("--moe-layer-freq", moe.every, *every, "moe.every");
                if (*every > 1)
                    draft_.assume(origin, "the last of them has experts, not the first");
            }
            return;
        }
        const auto pattern = number_pattern(text);
        if (!pattern || static_cast<int>(pattern->size()) != model_.layers) {
            draft_.refuse(origin, "is no list with a number for each layer",
                          fmt::format("e.g. ([0]*1+[1]*{}), {} numbers in all", model_.layers - 1,
                                      model_.layers));
            return;
        }
        const auto first = std::find(pattern->begin(), pattern->end(), 1);
        const auto dense = static_cast<int>(first - pattern->begin());
        for (int every = 1; every <= model_.layers - dense; ++every) {
            moe.every = every;
            moe.leading_dense_layers = std::max(0, dense - every + 1);
            if (matches(moe, *pattern)) {
                draft_.understand(origin, fmt::format("model.moe: {} dense layers first, then "
                                                      "experts in every {} layers",
                                                      moe.leading_dense_layers, every));
                return;
            }
        }
        draft_.refuse(origin, "experts at irregular layers are not modelled",
                      "dense layers first, then experts in every n-th layer");
    }

    bool matches(const MixtureOfExperts& moe, const std::vector<int>& pattern) const
    {
        Transformer model = model_;
        model.moe = moe;
        for (int layer = 0; layer < model.layers; ++layer)
            if (is_moe_layer(model, layer) != (pattern[static_cast<std::size_t>(layer)] != 0))
                return false;
        return true;
    }

    void encoder()
    {
        if (!is_bert(reader_))
            return;
        const std::string program = reader_.program.empty() ? "its data" : reader_.program;
        model_.causal = false;
        model_.bert_heads = true;
        model_.token_types = 2;
        model_.head_fraction = 0.15;
        draft_.assume(fmt::format("{}: an encoder, 15 % of the tokens are masked", program));
    }

    // "llama2-7b" would be nicer, but no argument says so.
    std::string name() const { return fmt::format("megatron-{}x{}", model_.layers, model_.hidden); }

    static constexpr std::int64_t usual_multiple = 128;
    MegatronReader& reader_;
    ArgumentValues& values_;
    JobDraft& draft_;
    Transformer model_;
    std::optional<std::string> hybrid_; // letters of its layers
};

} // namespace

void read_megatron_model(MegatronReader& reader)
{
    ModelReader(reader).read();
}

} // namespace trainyard

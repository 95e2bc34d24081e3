// The architecture that Megatron-LM's arguments describe.

#include "sim/base/spelling.h"
#include "sim/study/jobs/megatron/megatron.h"
#include "sim/study/jobs/megatron/megatron_forms.h"
#include "sim/study/jobs/megatron/megatron_layout.h"
#include "sim/study/jobs/megatron/vocabulary_name.h"
#include "sim/study/jobs/named_model.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

struct Tokenizer {
    std::string_view type;
    std::int64_t vocabulary;
};
// Vocabularies that the type alone fixes.
constexpr std::array tokenizers{
    Tokenizer{"GPT2BPETokenizer", 50257}, Tokenizer{"BertWordPieceLowerCase", 30522},
    Tokenizer{"BertWordPieceCase", 28996}, Tokenizer{"Llama2Tokenizer", 32000}};

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
        vocabulary();
        if (const auto count = values_.whole("--num-experts"))
            experts(*count);
        predictions();
        latent_attention();
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
        model_.gated_mlp = values_.on("--swiglu");
        model_.activation = Activation::gelu;
        model_.ffn = four;
        if (model_.gated_mlp) {
            take("--swiglu", model_.activation, Activation::silu, "activation");
            model_.ffn = four * 2 / 3 / 64 * 64;
        } else if (values_.on("--squared-relu"))
            take("--squared-relu", model_.activation, Activation::relu, "activation");
        if (const auto size = values_.whole("--ffn-hidden-size"))
            take("--ffn-hidden-size", model_.ffn, *size, "ffn");
        else
            draft_.assume(fmt::format("feed-forward size {}: Megatron-LM's default", model_.ffn));
        model_.linear_bias = !values_.on("--disable-bias-linear");
        if (values_.on("--add-qkv-bias"))
            take("--add-qkv-bias", model_.attention_bias, true, "attention_bias");
    }

    void attention()
    {
        const std::string type = values_.text("--position-embedding-type");
        const bool rotary = values_.on("--use-rotary-position-embeddings");
        if (type == "none")
            model_.position = PositionKind::none;
        else if (rotary || type == "rope" || type == "mrope" || type == "yarn")
            model_.position = PositionKind::rotary;
        else
            model_.position = PositionKind::learned;
        if (!type.empty() || rotary)
            take(values_.either("--position-embedding-type", "--use-rotary-position-embeddings"),
                 model_.position, model_.position, "position");
        if (type == "relative")
            draft_.assume(values_.origin("--position-embedding-type"),
                          "relative positions are taken as learned ones");
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
        model_.tied_embeddings = !values_.on("--untie-embeddings-and-output-weights");
        if (!model_.tied_embeddings)
            take("--untie-embeddings-and-output-weights", model_.tied_embeddings, false,
                 "tied_embeddings");
    }

    void vocabulary()
    {
        std::string type = values_.text("--tokenizer-type");
        if (type.empty() && (is_bert(reader_) || is_t5(reader_)))
            type = "BertWordPieceLowerCase"; // the default of those programs
        if (const auto size = values_.whole("--vocab-size"))
            take("--vocab-size", model_.vocabulary, *size, "vocabulary");
        else if (const auto padded = values_.whole("--padded-vocab-size"))
            take("--padded-vocab-size", model_.vocabulary, *padded, "vocabulary");
        else if (const auto words = published_vocabulary())
            take("--tokenizer-model", model_.vocabulary, *words, "vocabulary");
        else if (const auto named = vocabulary_in_name(); named > 0) {
            model_.vocabulary = named;
            draft_.assume(fmt::format("vocabulary {}, as the tokenizer's file is called (--set "
                                      "model.vocabulary=128256 says another)",
                                      model_.vocabulary));
        } else {
            const auto* const known =
                std::find_if(tokenizers.begin(), tokenizers.end(),
                             [&](const Tokenizer& tokenizer) { return tokenizer.type == type; });
            const bool found = known != tokenizers.end();
            model_.vocabulary = found ? known->vocabulary : tokenizers.front().vocabulary;
            draft_.assume(found ? fmt::format("vocabulary {}, of {}", model_.vocabulary, type)
                                : fmt::format("vocabulary {}, GPT-2's: no argument states it "
                                              "(--set model.vocabulary=128256 does)",
                                              model_.vocabulary));
        }
        const std::int64_t multiple =
            values_.whole("--make-vocab-size-divisible-by").value_or(usual_multiple);
        // The layers of Megatron-Core are padded so by themselves.
        const bool padded_later = multiple == usual_multiple && !values_.on("--deepspeed");
        if (padded_later || multiple < 1 || multiple > 1'000'000)
            return;
        const std::int64_t unit =
            multiple * std::clamp<std::int64_t>(
                           values_.whole("--tensor-model-parallel-size").value_or(1), 1, 100'000);
        const std::int64_t padded = (model_.vocabulary + unit - 1) / unit * unit;
        if (reader_.arguments.contains("--make-vocab-size-divisible-by"))
            take("--make-vocab-size-divisible-by", model_.vocabulary, padded, "vocabulary");
        else if (padded != model_.vocabulary) {
            model_.vocabulary = padded;
            draft_.assume(fmt::format("vocabulary padded to {}: a multiple of {}, Megatron-LM's "
                                      "default for each tensor-parallel rank",
                                      padded, usual_multiple));
        }
    }

    // Of the shipped model whose tokenizer is named.
    std::optional<std::int64_t> published_vocabulary()
    {
        std::string named;
        for (const Argument& one : reader_.arguments.unseen()) // else it stays one of the data
            if (one.name == "--tokenizer-model" && one.values.size() == 1)
                named = shipped_model_named(one.values.front());
        const std::optional<Model> model = named.empty() ? std::nullopt : shipped_model(named);
        const auto* const layers = model ? std::get_if<Transformer>(&model->architecture) : nullptr;
        return layers == nullptr ? std::nullopt : std::optional(layers->vocabulary);
    }

    // Of what the tokenizer's file is called; 0 where that says nothing.
    std::int64_t vocabulary_in_name() const
    {
        for (const Argument& one : reader_.arguments.unseen()) // else it stays one of the data
            if (one.name == "--tokenizer-model" || one.name == "--tokenizer-name-or-path")
                return vocabulary_named(one.text());
        return 0;
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
        else
            draft_.assume("2 experts per token, Megatron-LM's default");
        moe.expert_ffn = model_.ffn;
        if (const auto size = values_.whole("--moe-ffn-hidden-size"))
            take("--moe-ffn-hidden-size", moe.expert_ffn, *size, "moe.expert_ffn");
        if (const auto size = values_.whole("--moe-shared-expert-intermediate-size"))
            take("--moe-shared-expert-intermediate-size", moe.shared_expert_ffn, *size,
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

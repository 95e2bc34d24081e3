#include "sim/study/record_model.h"

#include "sim/study/inputs.h"
#include "sim/study/record_words.h"
#include "sim/workload/model_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

using Result = tl::expected<RecordModelChoice, std::string>;

// Vocabularies of this size came with the plain-MLP models of 2024 (Nemotron-4), which have rotary
// positions, no biases and untied embeddings; older plain-MLP models are of GPT's kind.
constexpr std::int64_t modern_vocabulary = 200'000;
constexpr std::int64_t gpt2_vocabulary = 50'304; // 50,257 padded

bool of_gpt_kind(const Transformer& model)
{
    return !model.gated_mlp && model.vocabulary < modern_vocabulary;
}

std::string missing_sizes(const MeasuredRecord& record)
{
    std::vector<std::string_view> missing;
    const auto need = [&](bool there, std::string_view name) {
        if (!there)
            missing.push_back(name);
    };
    need(record.model.hidden.value_or(0) > 0, "hidden size");
    need(record.model.layers.value_or(0) > 0, "layers");
    need(record.model.heads.value_or(0) > 0, "heads");
    need(record.sequence_length.value_or(0) > 0, "sequence length");
    return missing.empty() ? std::string() : fmt::format("{} not stated", fmt::join(missing, ", "));
}

// Solves the parameter count for the feed-forward size of a layer; 0 when that makes no sense.
std::int64_t ffn_from_parameters(double parameters, const Transformer& model)
{
    const double h = static_cast<double>(model.hidden);
    const double heads = 2.0 * model.heads + 2.0 * model.kv_heads;
    const double attention = h * static_cast<double>(model.head_dim) * heads;
    const double embeddings =
        (model.tied_embeddings ? 1.0 : 2.0) * static_cast<double>(model.vocabulary) * h;
    const double layer = (parameters - embeddings) / model.layers;
    const double ffn = (layer - attention) / ((model.gated_mlp ? 3.0 : 2.0) * h);
    return ffn >= 1 && ffn < 1e7 ? std::llround(ffn) : 0;
}

void set_sizes(Transformer& model, const MeasuredRecord& record,
               std::vector<std::string>& assumptions)
{
    const RecordModel& said = record.model;
    model.hidden = *said.hidden;
    model.layers = *said.layers;
    model.heads = *said.heads;
    model.kv_heads = said.kv_heads.value_or(model.heads);
    model.head_dim = said.head_dim.value_or(model.hidden / model.heads);
    model.causal = said.architecture != "encoder";
    model.gated_mlp = said.gated_mlp.value_or(false);
    model.vocabulary = said.vocabulary.value_or(gpt2_vocabulary);
    if (!said.gated_mlp)
        assumptions.push_back("MLP not stated: two matrices");
    if (!said.vocabulary)
        assumptions.push_back(fmt::format("vocabulary not stated: {}", model.vocabulary));
}

void set_style(Transformer& model, const MeasuredRecord& record, FrameworkFamily family)
{
    const bool gpt = of_gpt_kind(model);
    const bool alibi = mentions(record.notes, {"alibi"});
    model.norm = model.gated_mlp ? NormKind::rms_norm : NormKind::layer_norm;
    model.activation = model.gated_mlp ? Activation::silu : Activation::gelu;
    model.position = alibi ? PositionKind::none
                     : gpt ? PositionKind::learned
                           : PositionKind::rotary;
    if (model.position == PositionKind::learned)
        model.max_positions = *record.sequence_length;
    model.linear_bias = gpt && !alibi;
    model.tied_embeddings = gpt;
    // Dropout went out of use with the models of 2022.
    model.dropout = family == FrameworkFamily::megatron_2021 || !model.causal;
}

// The published model of that name, where its width and heads are the record's too.
std::optional<Transformer> published(const RecordModel& said)
{
    std::string name = lower_case(said.name);
    std::ranges::replace(name, ' ', '-');
    const std::vector<std::string> shipped = shipped_inputs(InputKind::model);
    if (std::ranges::find(shipped, name) == shipped.end())
        return std::nullopt;
    const Checked<Input> input = find_input({name, {}}, InputKind::model, {});
    const Checked<Model> model = input ? read_model(input->json, input->file)
                                       : Checked<Model>(tl::unexpected(input.error()));
    const auto* found = model ? std::get_if<Transformer>(&model->architecture) : nullptr;
    const bool same = found != nullptr && found->hidden == said.hidden &&
                      found->heads == said.heads &&
                      found->kv_heads == said.kv_heads.value_or(*said.heads);
    return same ? std::optional(*found) : std::nullopt;
}

// What no record says of a layer, from the published model.
void set_details(Transformer& model, const RecordModel& said, std::vector<std::string>& assumptions)
{
    const std::optional<Transformer> known = published(said);
    if (!known)
        return;
    model.attention_bias = known->attention_bias;
    model.attention_output_bias = known->attention_output_bias;
    model.mlp_bias = known->mlp_bias;
    model.qk_norm = known->qk_norm;
    model.attention_sinks = known->attention_sinks;
    model.clamped_activation = known->clamped_activation;
    assumptions.push_back("biases, norms of queries and keys, clamps: as the published model");
}

// BERT: post-norm, token types, 15 % of the tokens masked in pre-training, no logits in
// fine-tuning (Devlin 2019).
void set_encoder(Transformer& model, const MeasuredRecord& record,
                 std::vector<std::string>& assumptions)
{
    constexpr double masked = 0.15;
    const bool finetune = record.task == "finetune";
    model.token_types = 2;
    model.embedding_norm = true;
    model.final_norm = false;
    model.bert_heads = !finetune;
    model.head_fraction = finetune ? 0.0 : masked;
    if (!finetune)
        assumptions.push_back("logits for the 15 % of the tokens that are masked");
}

void set_window(Transformer& model, const RecordModel& said, std::vector<std::string>& assumptions)
{
    if (said.sliding_window.value_or(0) == 0)
        return;
    model.sliding_window = *said.sliding_window;
    if (mentions(said.attention, {"alternat"}))
        model.full_attention_every = 2;
    else
        assumptions.push_back("sliding window in every layer");
}

std::string set_experts(Transformer& model, const RecordModel& said,
                        std::vector<std::string>& assumptions)
{
    if (said.experts.value_or(0) < 2 || said.experts_per_token.value_or(0) < 1)
        return "number of experts, or of experts per token, not stated";
    if (said.expert_ffn.value_or(0) < 1)
        return "feed-forward size of an expert not stated";
    MixtureOfExperts moe;
    moe.experts = *said.experts;
    moe.experts_per_token = *said.experts_per_token;
    moe.expert_ffn = *said.expert_ffn;
    moe.shared_expert_ffn = said.shared_expert_ffn.value_or(0);
    moe.leading_dense_layers =
        model.layers - std::min(model.layers, said.moe_layers.value_or(model.layers));
    if (moe.leading_dense_layers > 0)
        assumptions.push_back(
            fmt::format("the {} dense layers come first", moe.leading_dense_layers));
    // DeepSeek-V3 routes a token to 4 of 8 groups of experts (DeepSeek-AI 2024, section 2.1.2).
    if (model.latent && moe.experts == 256 && moe.experts_per_token == 8) {
        moe.groups = 8;
        moe.groups_per_token = 4;
        assumptions.push_back("routing not stated: to 4 of 8 groups of experts");
    }
    model.moe = moe;
    return {};
}

// The number after `word` in the text; 0: none.
std::int64_t number_after(const std::string& text, std::string_view word)
{
    const std::size_t at = text.find(word);
    return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + word.size());
}

// "MLA (q_lora 1536, kv_lora 512, qk 128+64, v 128)".
std::string set_latent_attention(Transformer& model, const RecordModel& said)
{
    if (!mentions(said.attention, {"mla", "latent"}))
        return {};
    const std::string text = lower_case(said.attention);
    LatentAttention latent;
    latent.q_lora_rank = number_after(text, "q_lora ");
    latent.kv_lora_rank = number_after(text, "kv_lora ");
    latent.qk_nope_head_dim = number_after(text, "qk ");
    latent.qk_rope_head_dim = number_after(text, "+");
    latent.v_head_dim = number_after(text, " v ");
    if (latent.kv_lora_rank < 1 || latent.qk_nope_head_dim < 1 || latent.qk_rope_head_dim < 1 ||
        latent.v_head_dim < 1)
        return "ranks and head sizes of latent attention not stated";
    model.latent = latent;
    model.kv_heads = model.heads;
    model.head_dim = latent.head_dim();
    return {};
}

Result transformer_of(const MeasuredRecord& record, FrameworkFamily family)
{
    const RecordModel& said = record.model;
    if (std::string missing = missing_sizes(record); !missing.empty())
        return tl::unexpected(missing);
    RecordModelChoice out;
    Transformer model;
    set_sizes(model, record, out.assumptions);
    set_style(model, record, family);
    set_details(model, said, out.assumptions);
    set_window(model, said, out.assumptions);
    if (std::string why = set_latent_attention(model, said); !why.empty())
        return tl::unexpected(why);
    if (!model.causal)
        set_encoder(model, record, out.assumptions);
    if (said.architecture == "moe-decoder")
        if (std::string why = set_experts(model, said, out.assumptions); !why.empty())
            return tl::unexpected(why);
    model.ffn = said.ffn.value_or(model.moe ? model.moe->expert_ffn : 0);
    if (model.ffn == 0 && said.parameters) {
        model.ffn = ffn_from_parameters(*said.parameters, model);
        out.assumptions.push_back(
            fmt::format("feed-forward size {} from the parameter count", model.ffn));
    }
    if (model.ffn == 0)
        return tl::unexpected(std::string("neither feed-forward size nor parameter count stated"));
    if (said.multi_token_prediction.value_or(false)) {
        model.prediction_layers = 1;
        out.assumptions.push_back("multi-token prediction: one layer");
    }
    out.model = Model{said.name, model};
    return out;
}

} // namespace

Result model_of(const MeasuredRecord& record, FrameworkFamily family)
{
    const std::string& kind = record.model.architecture;
    if (kind == "dense-decoder" || kind == "moe-decoder" || kind == "encoder")
        return transformer_of(record, family);
    if (kind == "cnn") {
        if (!mentions(record.model.name, {"resnet-50", "resnet50"}))
            return tl::unexpected(
                fmt::format("no layers are known of CNN \"{}\"", record.model.name));
        return RecordModelChoice{std::string("resnet-50/model.json"), {}};
    }
    if (!record.model.config.is_null()) {
        Checked<ImportedModel> read = import_model(record.model.config, "hf_config");
        if (!read)
            return tl::unexpected(fmt::format("its hf_config: {}", read.error().front().message));
        read->model.name = record.model.name;
        return RecordModelChoice{read->model, read->assumed};
    }
    return tl::unexpected(kind.empty() ? "architecture not stated"
                                       : fmt::format("architecture \"{}\" is not modelled", kind));
}

} // namespace trainyard

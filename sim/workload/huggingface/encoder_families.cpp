// BERT's kin, which see a whole text at once, and ViT's, whose tokens are patches of an image.

#include "sim/base/json.h"
#include "sim/workload/huggingface/family.h"

#include <fmt/core.h>

namespace trainyard {
namespace {

// Whether the config's classes, where it names them, are made for pre-training.
bool is_pretrained(HfConfig& config)
{
    bool pretraining = true;
    if (const Json* names = config.reader().node().find("architectures");
        names != nullptr && names->is_array())
        for (const Json& name : names->items())
            if (name.is_string() && name.as_string().find("For") != std::string::npos)
                pretraining = name.as_string().ends_with("ForPreTraining") ||
                              name.as_string().ends_with("ForMaskedLM");
    return pretraining;
}

void refine_bert(HfConfig& config, Transformer& t)
{
    refine_dropout(config, t, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, 0.1);
    t.token_types = static_cast<int>(config.count({"type_vocab_size"}, 2));
    const bool pretraining = is_pretrained(config);
    t.head_fraction = pretraining ? 0.15 : 0;
    config.assume(pretraining ? "pre-training: 15 % of the tokens are masked and reach the logits"
                              : "fine-tuning: no token reaches the vocabulary");
}

// One layer's parameters for all, a narrow table of the vocabulary.
void refine_albert(HfConfig& config, Transformer& t)
{
    refine_bert(config, t);
    t.shared_layers = true;
    if (const auto width = config.number({"embedding_size"}); width && *width != t.hidden)
        t.embedding_width = *width;
    if (config.count({"num_hidden_groups"}, 1) > 1)
        config.assume("\"num_hidden_groups\": all layers have the parameters of one group");
}

// Tells replaced tokens: no logits over the vocabulary.
void refine_electra(HfConfig& config, Transformer& t)
{
    refine_bert(config, t);
    t.head_fraction = 0;
    if (const auto width = config.number({"embedding_size"}); width && *width != t.hidden)
        t.embedding_width = *width;
}

void refine_distilbert(HfConfig& config, Transformer& t)
{
    refine_bert(config, t);
    t.token_types = 0;
}

// Distances of tokens have an embedding of their own, which the query and key matrices meet too.
void refine_deberta(HfConfig& config, Transformer& t)
{
    refine_bert(config, t);
    t.token_types = static_cast<int>(config.count({"type_vocab_size"}, 0));
    if (!config.flag("position_biased_input", true))
        t.position = PositionKind::none;
    config.assume("relative positions' scores are not modelled");
}

// Every n-th layer sees all tokens, the others a window.
void refine_modernbert(HfConfig& config, Transformer& t)
{
    refine_bert(config, t);
    t.token_types = 0;
    refine_biases(config, t);
    t.final_norm = true;
}

void refine_modern_decoder(HfConfig& config, Transformer& t)
{
    refine_modernbert(config, t);
    t.head_fraction = 1;
}

// Global tokens have queries, keys and values of their own.
void refine_longformer(HfConfig& config, Transformer& t)
{
    refine_bert(config, t);
    t.global_projections = true;
    config.assume("the work of global tokens is not modelled");
}

// Tokens are patches of an image and those that stand for all of it, whose state is classified.
void read_patches(HfConfig& config, Transformer& t)
{
    const std::int64_t image = config.number({"image_size"}).value_or(224);
    const std::int64_t patch = config.number({"patch_size"}).value_or(16);
    const std::int64_t channels = config.number({"num_channels"}).value_or(3);
    if (patch > image)
        return config.error_at("patch_size",
                               fmt::format("patches of {} in images of {}", patch, image),
                               fmt::format("at most {}", image));
    const std::int64_t patches = (image / patch) * (image / patch);
    t.input_elements = channels * patch * patch;
    t.max_positions = patches + t.token_types;
    t.head_fraction = 1.0 / static_cast<double>(t.max_positions);
    refine_dropout(config, t, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, 0);
    for (const char* key : {"qkv_bias", "image_size", "patch_size", "num_channels"})
        config.has(key);
}

void refine_vit(HfConfig& config, Transformer& t)
{
    t.token_types = 1;
    read_patches(config, t);
    config.assume(fmt::format("images are sequences of {} tokens, classified into {} classes",
                              t.max_positions, t.vocabulary));
}

void refine_deit(HfConfig& config, Transformer& t)
{
    t.token_types = 2; // one of them learns from a teacher
    read_patches(config, t);
    config.assume(fmt::format("images are sequences of {} tokens, classified into {} classes",
                              t.max_positions, t.vocabulary));
}

// What comes out are the tokens' states: nothing is classified.
void refine_tower(HfConfig& config, Transformer& t)
{
    read_patches(config, t);
    t.vocabulary = 1;
    t.head_fraction = 0;
    config.assume(fmt::format("images are sequences of {} tokens, whose states are the result",
                              t.max_positions));
}

void refine_clip_vision(HfConfig& config, Transformer& t)
{
    t.token_types = 1;
    t.embedding_norm = true;
    refine_tower(config, t);
}

void refine_dino(HfConfig& config, Transformer& t)
{
    t.token_types = 1;
    refine_tower(config, t);
}

} // namespace

std::vector<HfFamily> hf_encoder_families()
{
    const Transformer gpt = gpt_like();
    const Transformer bert = changed(gpt, [](Transformer& t) {
        t.causal = false;
        t.bert_heads = true;
        t.embedding_norm = true;
        t.final_norm = false;
    });
    const Transformer modern = changed(bert, [](Transformer& t) {
        t.gated_mlp = true;
        t.linear_bias = false;
        t.position = PositionKind::rotary;
    });
    const Transformer vit = changed(gpt, [](Transformer& t) {
        t.causal = false;
        t.tied_embeddings = false;
        t.vocabulary = 1000;
        t.head_bias = true;
    });
    const Transformer tower = changed(vit, [](Transformer& t) {
        t.vocabulary = 1;
        t.tied_embeddings = true;
        t.head_bias = false;
    });
    return {{"bert roberta xlm-roberta camembert", bert, refine_bert},
            {"albert", bert, refine_albert},
            {"electra", bert, refine_electra},
            {"distilbert", bert, refine_distilbert},
            {"deberta deberta-v2", bert, refine_deberta},
            {"longformer", bert, refine_longformer},
            {"modernbert", modern, refine_modernbert},
            {"modernbert-decoder", changed(modern, [](Transformer& t) { t.causal = true; }),
             refine_modern_decoder},
            {"nomic_bert", modern, refine_bert},
            {"beit vit", vit, refine_vit},
            {"deit", vit, refine_deit},
            {"dinov2", tower, refine_dino},
            {"clip_vision_model", tower, refine_clip_vision},
            {"siglip_vision_model", tower, refine_tower}};
}

} // namespace trainyard

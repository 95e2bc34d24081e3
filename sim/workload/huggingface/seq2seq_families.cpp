// Models with an encoder in front: of a source text, of sound, of images.

#include "sim/base/json.h"
#include "sim/workload/huggingface/family.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

// The source text's encoder is as the decoder, which attends to what it made.
void refine_t5(HfConfig& config, Transformer& t)
{
    const std::string mlp = config.text("feed_forward_proj");
    t.gated_mlp = mlp.starts_with("gated") || config.flag("is_gated_act", false);
    refine_dropout(config, t, {"dropout_rate"}, 0.1);
    for (const char* key : {"relative_attention_num_buckets", "relative_attention_max_distance"})
        config.has(key);
    Encoder encoder;
    encoder.name = "encoder";
    encoder.tokens = config.number({"n_positions"}).value_or(512);
    encoder.hidden = t.hidden;
    encoder.layers = t.layers;
    encoder.heads = t.heads;
    encoder.head_dim = t.head_dim;
    encoder.ffn = t.ffn;
    encoder.gated_mlp = t.gated_mlp;
    encoder.linear_bias = false;
    encoder.norm = t.norm;
    encoder.activation = t.activation;
    t.layers = static_cast<int>(config.number({"num_decoder_layers"}, 10000).value_or(t.layers));
    t.cross_attention = true;
    config.assume(fmt::format("the encoder reads {} tokens beside each sequence of the decoder",
                              encoder.tokens));
    t.encoders.push_back(std::move(encoder));
}

void refine_t5_decoder(HfConfig& config, Transformer& t)
{
    refine_dropout(config, t, {"dropout_rate"}, 0.1);
}

// Encoder and decoder of equal width with positions of their own, learned or computed (Marian).
void refine_bart(HfConfig& config, Transformer& t)
{
    constexpr std::int64_t first_position = 2; // its position tables start at 2
    Encoder encoder;
    encoder.name = "encoder";
    encoder.tokens = config.required({"max_position_embeddings"});
    encoder.hidden = t.hidden;
    encoder.layers = static_cast<int>(config.required({"encoder_layers"}, 10000));
    encoder.heads = static_cast<int>(config.required({"encoder_attention_heads"}));
    encoder.ffn = config.required({"encoder_ffn_dim"});
    encoder.activation = t.activation;
    t.layers = static_cast<int>(config.required({"decoder_layers", "num_hidden_layers"}, 10000));
    t.cross_attention = true;
    if (config.flag("static_position_embeddings", t.position == PositionKind::none)) {
        t.position = PositionKind::none;
    } else {
        t.max_positions = encoder.tokens + first_position;
        encoder.positions = t.max_positions;
    }
    refine_dropout(config, t, {"dropout", "attention_dropout"}, 0);
    config.assume(fmt::format("the encoder reads {} tokens beside each sequence of the decoder",
                              encoder.tokens));
    t.encoders.push_back(std::move(encoder));
}

// Two convolutions make frames of 80 or 128 mel bands tokens, the second of every two; as one
// matrix they have the parameters of both.
void refine_whisper(HfConfig& config, Transformer& t)
{
    Encoder encoder;
    encoder.name = "audio";
    encoder.tokens = config.number({"max_source_positions"}).value_or(1500);
    encoder.hidden = t.hidden;
    encoder.layers = static_cast<int>(config.required({"encoder_layers"}, 10000));
    encoder.heads = static_cast<int>(config.required({"encoder_attention_heads"}));
    encoder.ffn = config.required({"encoder_ffn_dim"});
    encoder.input_elements = 3 * (config.number({"num_mel_bins"}).value_or(80) + t.hidden);
    encoder.positions = encoder.tokens;
    t.layers = static_cast<int>(config.required({"decoder_layers", "num_hidden_layers"}, 10000));
    t.max_positions = config.number({"max_target_positions"}).value_or(448);
    t.cross_attention = true;
    refine_dropout(config, t, {"dropout", "attention_dropout"}, 0);
    t.encoders.push_back(std::move(encoder));
}

// Layers of a list attend to the image alone.
void refine_mllama(HfConfig& config, Transformer& t)
{
    const Json* whole = config.outer().node().find("vision_config");
    if (whole == nullptr || !whole->is_object())
        return;
    HfConfig vision(config.outer().member("vision_config"));
    Encoder encoder;
    encoder.name = "vision";
    encoder.hidden = vision.required({"hidden_size"});
    encoder.heads = static_cast<int>(vision.required({"attention_heads", "num_attention_heads"}));
    encoder.layers = static_cast<int>(vision.required({"num_hidden_layers"}, 10000) +
                                      vision.count({"num_global_layers"}, 0));
    encoder.ffn = vision.required({"intermediate_size"});
    const std::int64_t patch = vision.number({"patch_size"}).value_or(14);
    const std::int64_t side = vision.number({"image_size"}).value_or(560) / patch;
    const std::int64_t tiles = vision.number({"max_num_tiles"}).value_or(4);
    encoder.tokens = tiles * (side * side + 1);
    encoder.input_elements = 3 * patch * patch;
    encoder.positions = side * side + 1;
    encoder.projects = true;
    const std::vector<std::int64_t> across = config.numbers("cross_attention_layers");
    LayerForm itself;
    itself.name = "attention";
    LayerForm cross;
    cross.name = "cross";
    cross.mixer = MixerKind::none;
    cross.cross_attention = true;
    t.layer_forms = {itself, cross};
    for (int layer = 0; layer < t.layers; ++layer)
        t.pattern.push_back(std::ranges::find(across, layer) != across.end() ? "cross"
                                                                             : "attention");
    config.assume(fmt::format("one image of {} tiles, {} tokens, beside each sequence", tiles,
                              encoder.tokens));
    t.encoders.push_back(std::move(encoder));
}

} // namespace

std::vector<HfFamily> hf_seq2seq_families()
{
    const Transformer gpt = gpt_like();
    // Positions are a bias of the scores; RMSNorm, no biases.
    const Transformer t5 = changed(gpt, [](Transformer& t) {
        t.linear_bias = false;
        t.norm = NormKind::rms_norm;
        t.position = PositionKind::none;
        t.activation = Activation::relu;
    });
    const Transformer computed =
        changed(gpt, [](Transformer& t) { t.position = PositionKind::none; });
    const Transformer bart = changed(gpt, [](Transformer& t) { t.embedding_norm = true; });
    return {{"whisper", gpt, refine_whisper},
            {"bart mbart", bart, refine_bart},
            {"pegasus marian m2m_100", computed, refine_bart},
            {"t5 mt5 umt5", t5, refine_t5},
            {"decoder_only_t5", t5, refine_t5_decoder},
            {"mllama", llama_like(), refine_mllama}};
}

} // namespace trainyard

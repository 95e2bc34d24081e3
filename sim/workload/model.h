#pragma once

// Model architectures: the numbers that fix every layer's shape.

#include "sim/base/field_names.h"
#include "sim/base/quantity.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace trainyard {

enum class NormKind : std::uint8_t { layer_norm, rms_norm };
enum class PositionKind : std::uint8_t { learned, rotary, none };
enum class Activation : std::uint8_t { gelu, relu, silu };

// What lets the tokens of a sequence see each other in a layer.
enum class MixerKind : std::uint8_t {
    attention,
    mamba,
    mamba2,
    gated_delta_net,
    kimi_delta_attention,
    lightning_attention,
    rg_lru,
    short_convolution,
    none
};
// What a layer does to each token by itself.
enum class ChannelKind : std::uint8_t { mlp, experts, none };

struct MixtureOfExperts {
    int experts = 8;
    int experts_per_token = 2;
    std::int64_t expert_ffn = 0;        // feed-forward size of one expert
    std::int64_t shared_expert_ffn = 0; // all shared experts together; 0: none
    bool shared_expert_gate = false;    // a learned gate on the shared experts' output
    // Experts that pass a token on as it is: the router chooses among them too, so that of the
    // experts per token only a share is computed.
    int identity_experts = 0;
    // Width of what experts read and write, between two projections of every token; 0: the hidden
    // size.
    std::int64_t latent_width = 0;
    int leading_dense_layers = 0; // layers before the first that may be MoE
    int every = 1;                // every n-th layer after those is MoE
    // Experts of a layer form this many groups; a token goes to experts of at most
    // `groups_per_token` of them (DeepSeek-V3's node-limited routing). 1: no groups.
    int groups = 1;
    int groups_per_token = 1;

    // Of a token's choices those that are computed, on average.
    double computed_per_token() const
    {
        return static_cast<double>(experts_per_token) * experts / (experts + identity_experts);
    }

    bool operator==(const MixtureOfExperts&) const = default;
};

// Multi-head latent attention (DeepSeek-V2, section 2.1): queries, and keys with values, come from
// narrow latents with norms of their own; positions turn a part of each query and one key part that
// all heads share.
struct LatentAttention {
    std::int64_t q_lora_rank = 0; // width of the queries' latent; 0: queries come from the input
    std::int64_t kv_lora_rank = 0;
    std::int64_t qk_nope_head_dim = 0; // of a query or key, without position
    std::int64_t qk_rope_head_dim = 0; // turned by the position
    std::int64_t v_head_dim = 0;

    std::int64_t head_dim() const { return qk_nope_head_dim + qk_rope_head_dim; }
    bool operator==(const LatentAttention&) const = default;
};

// A mixer that reads a sequence as a recurrence: each head of values carries a state of `key_dim` x
// `value_dim` from token to token, which training computes in chunks (Dao & Gu 2024, section 6;
// Yang 2024, section 3).
struct Recurrence {
    int key_heads = 0;          // heads of keys and queries; Mamba: groups of B and C
    int heads = 0;              // heads of values; Mamba-1: as many as there are values
    std::int64_t key_dim = 0;   // Mamba: the state's size
    std::int64_t value_dim = 0; // Mamba-2: the head's size
    int convolution = 4;        // taps of the short convolution before it; 0: none
    int chunk = 64;             // tokens
    std::int64_t step_rank = 0; // Mamba-1: width of the latent that step sizes come from
    bool whole_gate = false;    // Kimi delta attention: one matrix makes the gate, no narrow pair

    bool operator==(const Recurrence&) const = default;
};

// Picks the keys that a query attends to (DeepSeek-V3.2, section 2.1): scores of few narrow heads
// over all keys, the largest of which count.
struct SparseIndexer {
    int heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t keys_per_query = 0;

    bool operator==(const SparseIndexer&) const = default;
};

// A stack of layers in front of the model with a sequence of its own: patches of images, frames of
// sound, a source text. What it makes joins the model's sequence, or layers attend to it
// (`cross_attention`).
struct Encoder {
    std::string name;
    std::int64_t tokens = 0; // beside each sequence of the model
    std::int64_t hidden = 0;
    int layers = 0;
    int heads = 0;
    std::int64_t head_dim = 0; // 0: hidden / heads
    std::int64_t ffn = 0;
    // Numbers of one token's input, which a matrix embeds; 0: looked up in the model's vocabulary.
    std::int64_t input_elements = 0;
    std::int64_t positions = 0; // learned; 0: none
    bool gated_mlp = false;
    bool linear_bias = true;
    NormKind norm = NormKind::layer_norm;
    Activation activation = Activation::gelu;
    bool projects = false; // a matrix takes the result to the model's width

    bool operator==(const Encoder&) const = default;
};

// One kind of layer of a model that has several: what it states stands in place of the model's own.
struct LayerForm {
    std::string name;
    std::optional<MixerKind> mixer;
    std::optional<ChannelKind> channel; // absent: as the model's experts say for that layer
    std::optional<Recurrence> recurrence;
    std::optional<LatentAttention> latent;
    std::optional<SparseIndexer> indexer;
    std::optional<int> heads;
    std::optional<int> kv_heads;
    std::optional<std::int64_t> head_dim;
    std::optional<std::int64_t> sliding_window; // 0: none
    std::optional<std::int64_t> attention_chunk;
    std::optional<std::int64_t> ffn;
    std::optional<PositionKind> position;
    std::optional<bool> shared_key_value;
    std::optional<bool> cross_attention;
    std::optional<int> key_compression;
    bool earlier_keys = false; // attends to keys and values that an earlier layer made
    bool shared = false;       // all layers of this form have the parameters of its first

    bool operator==(const LayerForm&) const = default;
};

// Decoder (causal) or encoder (BERT) stack.
struct Transformer {
    std::int64_t hidden = 0;
    int layers = 0;
    int heads = 0;
    int kv_heads = 0; // = heads: MHA; 1: MQA; else GQA
    std::int64_t head_dim = 0;
    std::int64_t value_head_dim = 0; // of values where it is not `head_dim`; 0: it is
    std::int64_t ffn = 0;            // feed-forward size of a dense layer
    std::int64_t vocabulary = 0;
    std::int64_t embedding_width = 0; // of the vocabulary's table where narrower than the model
    // Numbers of one token's input, which a matrix embeds: a vocabulary has logits only; 0: tokens.
    std::int64_t input_elements = 0;
    std::int64_t max_positions = 0; // of learned positions
    MixerKind mixer = MixerKind::attention;
    std::int64_t sliding_window = 0;  // keys a query sees at most, in layers with a window; 0: none
    int full_attention_every = 0;     // with a window: every n-th layer sees all keys; 0: no layer
    std::int64_t attention_chunk = 0; // tokens of a sequence's pieces that see themselves only
    bool causal = true;
    bool gated_mlp = true;              // SwiGLU, GeGLU: three matrices
    bool parallel_blocks = false;       // attention and MLP read one input, their sum is added once
    bool attention_bias = false;        // on Q, K, V
    bool attention_output_bias = false; // on the projection after attention
    bool mlp_bias = false;
    bool linear_bias = false; // on all of these (GPT-2, BERT)
    bool head_bias = false;   // on the logits
    bool qk_norm = false;
    bool clamped_activation = false; // what goes into a gated MLP's activation is clamped
    bool attention_sinks = false;    // a learned logit per head that takes part in the softmax
    bool attention_gate = false;     // a gate on the result, as wide, from the layer's input
    bool shared_key_value = false;   // one projection makes keys and values
    bool cross_attention = false;    // layers attend to what the encoders made, after their mixer
    // Queries come from a narrow latent, results go back through one, in groups of heads; 0: none
    // (DeepSeek-V4).
    std::int64_t query_rank = 0;
    std::int64_t output_rank = 0;
    int output_groups = 1;
    // Keys of so many tokens are made one by a learned sum; a query sees these, or those of them
    // that an indexer picks, and its window's own; 1: each token has a key.
    int key_compression = 1;
    // A few tokens have queries, keys and values of their own matrices and see all others
    // (Longformer): parameters, and next to no work.
    bool global_projections = false;
    bool shared_layers = false; // all layers have the parameters of the first (ALBERT)
    bool earlier_keys = false;  // keys and values are an earlier layer's
    // Each layer looks its tokens up in a table of its own, so wide, and adds what a gate lets
    // through of it (Gemma 3n); 0: none.
    std::int64_t layer_embedding_width = 0;
    bool tied_embeddings = false;
    bool dropout = false;
    bool bert_heads = false;    // pooler, MLM transform, NSP (BERT pre-training)
    double head_fraction = 1.0; // of the tokens that reach the logits: 0.15 in BERT pre-training
    int token_types = 0;
    int norms_per_layer = 2;
    bool embedding_norm = false; // after the embeddings (BERT, BLOOM)
    bool final_norm = true;
    NormKind norm = NormKind::rms_norm;
    PositionKind position = PositionKind::rotary;
    Activation activation = Activation::silu;
    std::optional<MixtureOfExperts> moe;
    std::optional<LatentAttention> latent; // kv_heads and head_dim follow from it
    std::optional<SparseIndexer> indexer;
    std::optional<Recurrence> recurrence; // of mixers that are one
    // Kinds of layer, and which layers are of which, by name, from the first on, repeated until
    // all layers have one. Empty: all are as the fields above say.
    std::vector<Encoder> encoders;
    std::vector<LayerForm> layer_forms;
    std::vector<std::string> pattern;
    // Layers after the last that predict one token further each and share embedding and logits
    // (DeepSeek-V3, section 2.2).
    int prediction_layers = 0;

    std::int64_t value_dim() const
    {
        if (latent)
            return latent->v_head_dim;
        return value_head_dim > 0 ? value_head_dim : head_dim;
    }
    // The window over which as many pairs are visible as a query's own and compressed keys are; 0:
    // all.
    std::int64_t keys_per_query(std::int64_t sequence_length) const;
    // Mean keys that an indexer picks for a query, of those that came before it. Requires indexer.
    double picked_keys(double sequence_length) const;
    bool is_recurrent() const { return mixer != MixerKind::attention && mixer != MixerKind::none; }
    // The last pipeline stage uses the embedding's matrix too: as logits, or to predict further.
    bool embeds_at_both_ends() const { return tied_embeddings || prediction_layers > 0; }

    bool operator==(const Transformer&) const = default;
};

// One layer of a native list, per sample: ResNet-50 and whatever else is not a transformer.
struct NativeLayer {
    std::string name;
    int repeat = 1;
    std::int64_t parameters = 0;
    // Convolution or matrix product per sample: rows x columns x inner (rows scale with the batch).
    // 0: memory-bound only.
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t inner = 0;
    std::int64_t output_elements = 0;     // per sample
    std::int64_t activation_elements = 0; // kept per sample for backward
    // Times the output crosses device memory, norms and activation functions included.
    double memory_passes = 4.0;
    double memory_passes_backward = 6.0;
    int kernels = 3;          // launched forward
    int kernels_backward = 5; // launched backward

    bool operator==(const NativeLayer&) const = default;
};

struct LayerList {
    std::vector<NativeLayer> layers;
    std::int64_t sample_elements = 0; // of one input sample

    bool operator==(const LayerList&) const = default;
};

inline constexpr std::string_view model_format = "trainyard.model/1";

struct Model {
    std::string name;
    std::variant<Transformer, LayerList> architecture;
    bool family_known = true; // else a config's keys were read as what their names say

    bool operator==(const Model&) const = default;

    bool is_transformer() const { return std::holds_alternative<Transformer>(architecture); }
    bool is_moe() const;
};

// Layers with experts.
int moe_layer_count(const Transformer& model);
bool is_moe_layer(const Transformer& model, int layer);
bool has_window(const Transformer& model, int layer);
bool has_channel(const Transformer& model, int layer);

// An encoder as the stack it is, with the vocabulary of the model behind it.
Transformer encoder_stack(const Transformer& model, const Encoder& encoder);

// Index into `layer_forms` of that layer, whose name the pattern says; -1: there is no pattern.
int form_number(const Transformer& model, int layer);

template <>
std::vector<EnumName<MixerKind>> enum_names<MixerKind>();
template <>
std::vector<EnumName<ChannelKind>> enum_names<ChannelKind>();
template <>
std::vector<EnumName<NormKind>> enum_names<NormKind>();
template <>
std::vector<EnumName<PositionKind>> enum_names<PositionKind>();
template <>
std::vector<EnumName<Activation>> enum_names<Activation>();
template <>
const FieldTable<MixtureOfExperts>& fields_of<MixtureOfExperts>();
template <>
const FieldTable<LatentAttention>& fields_of<LatentAttention>();
template <>
const FieldTable<Recurrence>& fields_of<Recurrence>();
template <>
const FieldTable<SparseIndexer>& fields_of<SparseIndexer>();
template <>
const FieldTable<Encoder>& fields_of<Encoder>();
template <>
const FieldTable<LayerForm>& fields_of<LayerForm>();
template <>
const FieldTable<Transformer>& fields_of<Transformer>();
template <>
const FieldTable<NativeLayer>& fields_of<NativeLayer>();
template <>
const FieldTable<LayerList>& fields_of<LayerList>();

// Parameters of the whole model, and those one token uses (MoE: only the experts chosen).
struct ParameterCount {
    double total = 0;
    double active = 0;
    double embedding = 0; // input embedding, learned positions, token types
};
ParameterCount count_parameters(const Model& model);

// Forward + backward operations of one sequence (sample) without recompute, causal half of
// attention (the MFU convention); PaLM 2022 appendix B with exact matrix sizes: three times the
// forward's
//
//     2 N s + 4 L a d p,   p the pairs of query and key that see each other: s^2/2 if causal, else
//     s^2
//
// N the matrix elements a token meets, logits included and the embedding's look-up not.
//
// `documents`: lengths of those packed into the sequence, which see themselves only; empty: one.
// `kept`: share of the copies of tokens that experts work on; the rest is dropped.
Flops model_flops_per_sequence(const Model& model, std::int64_t sequence_length,
                               const std::vector<std::int64_t>& documents = {}, double kept = 1);

} // namespace trainyard

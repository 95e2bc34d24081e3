#pragma once

// Model architectures: the numbers that fix every layer's shape.

#include "sim/base/fields.h"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace trainyard {

enum class NormKind : std::uint8_t { layer_norm, rms_norm };
enum class PositionKind : std::uint8_t { learned, rotary, none };
enum class Activation : std::uint8_t { gelu, relu, silu };

struct MixtureOfExperts {
    int experts = 8;
    int experts_per_token = 2;
    std::int64_t expert_ffn = 0;        // feed-forward size of one expert
    std::int64_t shared_expert_ffn = 0; // all shared experts together; 0: none
    int leading_dense_layers = 0;       // layers before the first MoE layer
    int every = 1;                      // every n-th layer after those is MoE

    bool operator==(const MixtureOfExperts&) const = default;
};

// Decoder (causal) or encoder (BERT) stack.
struct Transformer {
    std::int64_t hidden = 0;
    int layers = 0;
    int heads = 0;
    int kv_heads = 0; // = heads: MHA; 1: MQA; else GQA
    std::int64_t head_dim = 0;
    std::int64_t ffn = 0; // feed-forward size of a dense layer
    std::int64_t vocabulary = 0;
    std::int64_t max_positions = 0; // of learned positions
    bool causal = true;
    bool gated_mlp = true;       // SwiGLU, GeGLU: three matrices
    bool attention_bias = false; // on Q, K, V
    bool linear_bias = false;    // on every matrix (GPT-2, BERT)
    bool qk_norm = false;
    bool tied_embeddings = false;
    bool dropout = false;
    bool bert_heads = false; // pooler, MLM transform, NSP (BERT pre-training)
    int token_types = 0;
    NormKind norm = NormKind::rms_norm;
    PositionKind position = PositionKind::rotary;
    Activation activation = Activation::silu;
    std::optional<MixtureOfExperts> moe;

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
    std::int64_t activation_elements = 0; // kept per sample for backward
    double memory_passes = 4.0; // times the activation crosses device memory in forward, norms and
                                // activations included
    int kernels = 3;            // launched forward

    bool operator==(const NativeLayer&) const = default;
};

struct LayerList {
    std::vector<NativeLayer> layers;
    std::int64_t sample_elements = 0; // of one input sample

    bool operator==(const LayerList&) const = default;
};

struct Model {
    std::string name;
    std::variant<Transformer, LayerList> architecture;

    bool operator==(const Model&) const = default;

    bool is_transformer() const { return std::holds_alternative<Transformer>(architecture); }
    bool is_moe() const;
};

template <>
std::vector<EnumName<NormKind>> enum_names<NormKind>();
template <>
std::vector<EnumName<PositionKind>> enum_names<PositionKind>();
template <>
std::vector<EnumName<Activation>> enum_names<Activation>();
template <>
const FieldTable<MixtureOfExperts>& fields_of<MixtureOfExperts>();
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
    double embedding = 0; // input embedding and learned positions
};
ParameterCount count_parameters(const Model& model);

// Forward + backward operations of one sequence without recompute, causal half of attention (the
// MFU convention); PaLM 2022 appendix B with exact matrix sizes.
Flops model_flops_per_sequence(const Model& model, std::int64_t sequence_length);

// Megatron's count (Narayanan 2021, section 3): 72 (96 with full recompute) B s l h^2 (1 + s/6h +
// V/16lh), full attention square.
Flops megatron_flops_per_sequence(const Transformer& model, std::int64_t sequence_length,
                                  bool full_recompute);

} // namespace trainyard

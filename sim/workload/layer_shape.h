#pragma once

// Sizes of a transformer layer on one device: what remains of the model's after TP, CP, SP, EP.

#include "sim/workload/layer_work.h"
#include "sim/workload/number_format.h"

namespace trainyard {

struct LayerShape {
    LayerShape(const Transformer& all, const LayerKind& layer, const Partition& cut);

    const Transformer& whole; // the model
    LayerModel of_kind;
    const Transformer& model; // as layers of this kind see it
    const LayerKind& kind;
    std::optional<Partition> of_encoder; // its sequence, without documents
    const Partition& partition;

    std::int64_t tokens = 0;       // b s / c: met by the matrices
    std::int64_t split_tokens = 0; // of them with sequence parallelism between the matrices: / t
    std::int64_t kept_tokens = 0;  // of them in a kept input of a product cut by columns
    std::int64_t hidden = 0;
    std::int64_t heads = 0;             // a / t
    std::int64_t kv_heads = 0;          // g / t, at least one: every rank keeps one
    std::int64_t head_dim = 0;          // of queries and keys
    std::int64_t value_dim = 0;         // of values
    std::int64_t width = 2;             // bytes of a stored activation
    Precision format = Precision::bf16; // of the layer's products
    bool tensor_parallel = false;
    bool sequence_parallel = false;

    // Columns of a feed-forward size per TP rank.
    std::int64_t columns(std::int64_t ffn) const;
    // Matrices stacked before the activation function: gate and up, or one.
    std::int64_t up() const { return model.gated_mlp ? 2 : 1; }

    bool narrow() const { return is_narrow(format); }
    // Of what does not run in a narrow format: router, logits, attention.
    Precision plain_precision() const { return narrow() ? Precision::bf16 : format; }
    // Bytes of a product's input of so many elements, cast.
    std::int64_t cast_bytes(std::int64_t elements) const;

    Bytes token_bytes() const; // width x tokens x hidden

    bool has_mixer() const { return model.mixer != MixerKind::none; }
    bool has_channel() const { return kind.channel; }

    // Columns of keys and values together.
    std::int64_t key_value_columns() const { return kv_heads * (head_dim + value_dim); }
};

// Has every rank of an expert tensor-parallel (ETP) group tokens of its own? Else, where TP cuts
// hidden sizes but not the sequence, all have the same: the group is then part of the TP group.
bool ranks_have_own_tokens(const LayerShape& s);
// Tokens that the ranks of an ETP group have together: each of its cut experts works on all.
std::int64_t tokens_of_expert_group(const LayerShape& s);

// MoE: what an expert rank handles. Requires model.moe.
struct ExpertShape {
    explicit ExpertShape(const LayerShape& shape);

    std::int64_t routed = 0;        // (token, expert) pairs a rank sends, its share of ETP
    std::int64_t handled = 0;       // pairs its experts work on, of the fullest rank
    std::int64_t even = 0;          // the same if all ranks had equally many
    std::int64_t local_experts = 0; // E / e
    std::int64_t per_expert = 0;    // pairs per local expert
    std::int64_t columns = 0;       // of an expert: f / etp
    std::int64_t width = 0;         // numbers of a token that an expert reads and writes
    Dispatcher dispatcher = Dispatcher::all_to_all;
    // Of the bytes of all pairs, those that are sent. Where nodes get one copy for all of a token's
    // experts on them: n (1 - (1 - 1/n)^k) of k on n nodes; with node-limited routing n is the
    // limit. Where ranks do, inside one node: as many as the places of k experts, no two the same.
    double network_share = 1;
    // Of the pairs that a rank gets, rows that reach it: one for each token, where the dispatcher
    // copies it for the rank's experts only there.
    double arriving_share = 1;
};

// The adapters beside a layer's matrices (LoRA): the columns that each one's result has on this
// rank. Without LoRA there are none.
struct AdaptedColumns {
    explicit AdaptedColumns(const LayerShape& shape);

    std::vector<std::int64_t> qkv;
    std::vector<std::int64_t> output;
    std::vector<std::int64_t> up;
    std::vector<std::int64_t> down;
};

std::int64_t divided_up(std::int64_t amount, std::int64_t parts);

} // namespace trainyard

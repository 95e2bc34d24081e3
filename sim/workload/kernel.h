#pragma once

// What a device executes, without times: shapes, operations, bytes.

#include "sim/base/field_names.h"
#include "sim/base/quantity.h"
#include "sim/base/vocabulary.h"
#include "sim/workload/kernel_style.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace trainyard {

// batch x [m x k] [k x n]. Operations: 2 m n k batch.
struct GemmShape {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::int64_t batch = 1;

    bool operator==(const GemmShape&) const = default;
};

// One device's share of an attention: queries of `query_length`, keys of `key_length`, `heads`
// query heads and `kv_heads` key/value heads of `head_dim` (`value_dim` for values).
struct AttentionShape {
    std::int64_t batch = 0;
    std::int64_t query_length = 0;
    std::int64_t key_length = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t value_dim = 0;
    std::int64_t window = 0; // keys a query sees at most (sliding window); 0: all
    double seen_share = 1;   // of those pairs, the ones inside a document (packed sequences)
    bool causal = true;
    bool skips_masked = true; // the kernel leaves the masked part out
    bool dropout = false;     // on the probabilities
    bool backward = false;
    AttentionKernel kernel = AttentionKernel::flash2; // never unfused: that is GEMMs and passes

    bool operator==(const AttentionShape&) const = default;
};

// Kernels that pass over a sequence: what a mixer that reads it as a recurrence runs.
enum class SequenceKernel : std::uint8_t {
    none,
    gated_delta_rule,   // chunked scan of flash-linear-attention, all its kernels together
    kimi_delta_rule,    // ... with a decay per element of a key
    fused_convolution,  // short convolution of queries, keys and values in one, in Triton
    split_convolutions, // ... in three calls
    cuda_convolution    // ... of values and what Mamba shares by group, of causal-conv1d
};

// One device's share of such a kernel. Scans have heads of values, convolutions channels.
struct SequenceShape {
    SequenceKernel kernel = SequenceKernel::none;
    std::int64_t batch = 1;
    std::int64_t length = 0;
    std::int64_t heads = 0;
    std::int64_t key_dim = 0;
    std::int64_t value_dim = 0;
    std::int64_t channels = 0;
    double traffic = 1; // bytes / those of a forward pass
    double chains = 1;  // passes from chunk to chunk; forward makes one

    bool operator==(const SequenceShape&) const = default;
};

enum class KernelKind : std::uint8_t { gemm, attention, memory_bound };

// What a kernel works for: which bar of a timeline it is in, which row of a roofline, and how well
// it runs.
enum class KernelUse : std::uint8_t {
    attention,        // projections, rotary embedding, fused cores
    attention_square, // unfused attention: batched GEMMs, passes over the scores
    recurrence,       // projections, convolution and norm of a recurrent mixer
    recurrence_core,  // its chunks: batched products, states
    mlp,              // of shared experts too
    router,           // MoE: the product that scores the experts
    expert,           // MoE: choice, permutation, grouped GEMMs (batch: local experts)
    embedding,
    head,            // logits and loss
    residual_stream, // between the parts: norms that belong to none, a prediction layer's input
    convolution,     // with its normalisation and activation
    states           // parameters, gradients, optimizer: updates and copies
};

// One kernel, or a few launched together.
struct Kernel {
    KernelKind kind = KernelKind::memory_bound;
    KernelUse use = KernelUse::residual_stream;
    std::string name;                      // "qkv", "attention", "rms_norm", ...
    Precision precision = Precision::bf16; // of the arithmetic
    GemmShape gemm;                        // kind gemm
    AttentionShape attention;              // kind attention
    SequenceShape sequence;                // what it was timed as, if it was
    Bytes bytes;      // device memory read and written; gemm: operands and result
    int launches = 1; // kernels the host issues; 0: done inside a neighbouring kernel
    // Makes a weight's gradient: nothing before this layer waits for it (split_backward.h).
    bool for_weights = false;
    bool norm = false;       // or a residual sum, of the part that it goes with
    bool host_waits = false; // the host issues no more until it has run
    bool uneven = false; // its work follows the tokens of the rank's experts; listed: the fullest's

    bool operator==(const Kernel&) const = default;
};

// Products between activations: they make no weight's gradient.
constexpr bool is_between_activations(KernelUse use)
{
    return use == KernelUse::attention_square || use == KernelUse::recurrence_core;
}

struct AttentionMask {
    bool causal = true;
    std::int64_t window = 0;
};

// Pairs of query and key that see each other: q k, half of that when causal (the queries may be a
// balanced part of the keys' sequence, as in CP); with a window w < k, q w, causal q (w - w^2/2k).
double visible_pairs(double queries, double keys, const AttentionMask& mask);

// The same summed over documents, each of which sees itself only: d^2/2 if causal.
double document_pairs(const std::vector<std::int64_t>& lengths, const AttentionMask& mask);

// Documents cut at every `chunk` tokens (0: whole); a sequence without documents is one. Empty
// where that one sees all of itself.
std::vector<std::int64_t> attention_pieces(const std::vector<std::int64_t>& documents,
                                           std::int64_t sequence_length, std::int64_t chunk);

// Operations a device executes: GEMM 2mnk; attention 2 b h q k (d + dv), the masked part left out
// where the kernel skips it (causal: half), backward 2 b h q k (3 d + 2 dv) (scores are recomputed:
// 2.5 times the forward's where d = dv); memory-bound work counts none.
Flops hardware_flops(const Kernel& kernel);

// A collective at this place of a layer, over the group of that kind. One rank in the group:
// nothing happens.
struct Communication {
    CollectiveKind kind = CollectiveKind::all_reduce;
    GroupKind group = GroupKind::tp;
    Bytes bytes; // as nccl-tests counts (see CollectiveKind)
    std::string name;
    // May run beside the kernels that follow until `needed_after` further items have been issued;
    // 0: they wait for it.
    int needed_after = 0;
    bool for_weights = false; // only a weight's gradient needs it

    bool operator==(const Communication&) const = default;
};

using WorkItem = std::variant<Kernel, Communication>;
using WorkList = std::vector<WorkItem>;

Flops hardware_flops(const WorkList& items);

const std::string& name_of(const WorkItem& item);

template <>
std::vector<EnumName<SequenceKernel>> enum_names<SequenceKernel>();

} // namespace trainyard

#pragma once

// The parameter tensors of each layer and how they are cut: one table behind counts, operations and
// what a device holds.

#include "sim/workload/layer_work.h"

#include <string_view>
#include <vector>

namespace trainyard {

// Over which ranks a tensor is cut.
enum class Cut : std::uint8_t {
    whole,      // every rank of the TP group holds it: norms, biases after a reduction, the router
    heads,      // query heads over TP
    kv_heads,   // key and value heads over TP, at least one each
    columns,    // feed-forward columns over TP
    vocabulary, // rows of the vocabulary over TP, padded first
    experts     // over EP and, within an expert, ETP
};

struct ParameterTensor {
    std::string_view name;
    double elements = 0;
    Cut cut = Cut::whole;
    bool matrix = false;    // multiplies tokens
    double token_share = 1; // of the tokens that meet it (a matrix)
    // Of two dimensions (embeddings too): that many matrices of rows x columns.
    double rows = 0;
    double columns = 0;
    double copies = 1;
    bool by_rows = false;   // the cut divides rows; else columns
    int most_parts = 0;     // heads that a cut by `kv_heads` can go between
    bool of_source = false; // a matrix that meets the encoders' tokens
    bool shared = false;    // an earlier layer's: counted and held there

    // Of the elements those that one token uses: of experts, those of its choice.
    double active_elements() const
    {
        return cut == Cut::experts ? elements * token_share : elements;
    }
};

struct Matrices {
    double rows = 0; // inputs
    double columns = 0;
    double copies = 1;
    bool by_rows = false;
};
ParameterTensor matrix(std::string_view name, const Matrices& m, Cut cut, double token_share = 1);
// Cut over TP between so many heads at most.
ParameterTensor of_key_heads(ParameterTensor tensor, int heads);
ParameterTensor norm_tensor(NormKind kind, double size);

// What the vocabulary's table is wide, which logits are products with.
std::int64_t logits_width(const Transformer& model);

// The matrices of a tensor that one device holds.
struct HeldMatrices {
    double rows = 0;
    double columns = 0;
    double copies = 0;
};
HeldMatrices held_matrices(const ParameterTensor& tensor, const Transformer& model,
                           const Partition& partition);

// `kind` of a transformer. A tied logit matrix is listed with the embedding only.
std::vector<ParameterTensor> parameter_tensors(const Transformer& model, const LayerKind& kind);

// The halves of the adapters beside the layer's matrices, A [inputs x rank] and B [rank x outputs].
// TP cuts the half that lies with the matrix's columns or rows. None in embedding and head.
std::vector<ParameterTensor> adapter_tensors(const Transformer& model, const LayerKind& kind,
                                             const Lora& lora);

// Model FLOPs of a sequence when only adapters are trained: frozen matrices have input gradients
// alone, twice their forward's operations in all; attention and adapters three times.
Flops adapter_flops_per_sequence(const Model& model, const Lora& lora, std::int64_t sequence_length,
                                 const std::vector<std::int64_t>& documents, double kept = 1);

// Elements of `tensor` on one device.
double held_elements(const ParameterTensor& tensor, const Transformer& model,
                     const Partition& partition);

} // namespace trainyard

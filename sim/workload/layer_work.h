#pragma once

// A layer's work on one device under a partition: kernels and communications in order, parameters,
// and what is kept for backward.

#include "sim/workload/adapters.h"
#include "sim/workload/context.h"
#include "sim/workload/experts.h"
#include "sim/workload/kernel.h"
#include "sim/workload/layer_tensor.h"
#include "sim/workload/model.h"
#include "sim/workload/recompute_modules.h"

namespace trainyard {

enum class Recompute : std::uint8_t { none, selective, full };

// How one micro-batch of one layer is cut, and which kernels run it.
struct Partition {
    std::int64_t micro_batch = 1;     // sequences (samples)
    std::int64_t sequence_length = 0; // whole, before CP
    int tp = 1;
    int cp = 1;
    int ep = 1;
    int etp = 1;
    bool sequence_parallel = false;
    bool vocabulary_parallel = true; // embedding and logits are cut over TP
    ContextParallel context;
    ExpertParallel experts;
    Precision precision = Precision::bf16;
    KernelStyle kernels;           // SoftwareClass::kernels
    int weight_gradient_bytes = 2; // that a weight gradient's GEMM moves per element: its storage,
                                   // or 8 when it adds to an fp32 sum (read and written)
    std::optional<Lora> lora;      // only adapters have gradients
    // What selective recompute makes again.
    std::vector<RecomputeModule> recompute_modules{RecomputeModule::core_attn};
    // Lengths of the documents that fill a sequence: a token sees its own document only. Empty: the
    // sequence is one.
    std::vector<std::int64_t> documents;
    double expert_imbalance = 1.0;      // tokens of the fullest expert rank / mean of those routed
    int ep_nodes = 1;                   // NVLink domains an EP group spans
    std::int64_t padded_vocabulary = 0; // to 128 x tp unless the framework does not

    int vocabulary_ranks() const { return vocabulary_parallel ? tp : 1; }

    bool operator==(const Partition&) const = default;
};

// The kinds of layer a model is made of. Layers of one kind have identical work.
struct LayerKind {
    enum class Role : std::uint8_t { embedding, dense, moe, head, native };
    Role role = Role::dense;
    int native_index = 0;          // into LayerList, role native
    int form = -1;                 // into Transformer::layer_forms; -1: as the model's own fields
    int encoder = -1;              // into Transformer::encoders; -1: of the model itself
    bool shares = false;           // has the parameters of an earlier layer
    bool channel = true;           // has a channel part
    bool windowed = false;         // attention sees Transformer::sliding_window keys
    bool predicts_further = false; // one of Transformer::prediction_layers
    bool wide = false; // its products run in 16 bit where the others' formats are narrower

    bool operator==(const LayerKind&) const = default;
};

// A model as the layers of one kind see it: a form's sizes in place of the model's own, without a
// window where they have none, without forms.
class LayerModel {
public:
    LayerModel(const Transformer& model, const LayerKind& kind);
    LayerModel(const LayerModel&) = delete;
    LayerModel& operator=(const LayerModel&) = delete;

    const Transformer& operator*() const { return own_ ? *own_ : model_; }
    const Transformer* operator->() const { return &**this; }

private:
    const Transformer& model_;
    std::optional<Transformer> own_;
};

// The model front to back, embedding and head (final norm, logits, loss) included.
std::vector<LayerKind> layers_of(const Model& model);

// Per device.
struct LayerParameters {
    double dense = 0;  // replicated over DP x CP, sharded by TP already divided
    double expert = 0; // replicated over EDP, EP and ETP already divided

    double total() const { return dense + expert; }
};

// Bytes kept from forward to backward, per device and micro-batch.
struct SavedActivations {
    Bytes none;      // nothing recomputed
    Bytes selective; // attention core recomputed (or never kept: flash)
    Bytes full;      // the layer's input only
};

struct LayerWork {
    WorkList forward;
    WorkList backward;            // dgrad and wgrad, and their communications
    WorkList selective_recompute; // before backward when recompute is selective
    LayerParameters parameters;
    LayerParameters trained; // of them, those with gradients: adapters only, with LoRA
    // Of the trained, those whole on each TP rank whose gradients each makes a part of.
    double summed_over_tp = 0;
    std::vector<LayerTensor> tensors;
    SavedActivations saved; // of the tensors
    Bytes output; // of the boundary tensor to the next layer: s b h W / (c, and t with SP)
};

// Operations of the forward pass of one sequence in one layer, without recompute.
Flops forward_flops_per_sequence(const Transformer& model, const LayerKind& kind,
                                 std::int64_t sequence_length);

LayerWork layer_work(const Model& model, const LayerKind& kind, const Partition& partition);

template <>
std::vector<EnumName<Recompute>> enum_names<Recompute>();

} // namespace trainyard

#include "sim/strategy/lower/held_states.h"

#include "sim/strategy/model_states.h"
#include "sim/strategy/state_shards.h"
#include "sim/workload/parameters.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

Tensor flat(std::string name, MemoryKind kind, Bytes bytes)
{
    return {std::move(name), kind, static_cast<std::int64_t>(bytes.value()), TensorScope::step};
}

struct HeldParameter {
    std::string_view name;
    double elements = 0;
    int pieces = 1; // equal ones: an expert's matrices are its own
    bool fused_gradient = false;
};

// The parameter tensors of a kind of layer on a rank.
std::vector<HeldParameter> held_parameters(const Job& job, const Partition& partition,
                                           const LayerKind& kind)
{
    const auto& transformer = std::get<Transformer>(job.model.architecture);
    const bool inner = kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe;
    std::vector<HeldParameter> held;
    for (const ParameterTensor& tensor : parameter_tensors(transformer, kind)) {
        HeldParameter one{tensor.name, held_elements(tensor, transformer, partition)};
        if (tensor.cut == Cut::experts)
            one.pieces = std::max(1, transformer.moe->experts / partition.ep);
        one.elements /= one.pieces;
        one.fused_gradient = inner && tensor.matrix;
        held.push_back(one);
    }
    return held;
}

// Elements of the stage's parameter tensors, one by one.
std::vector<double> parameter_sizes(const Job& job, const StageContent& stage)
{
    std::vector<double> sizes;
    const Partition partition = partition_of(job);
    for (std::size_t i = 0; i < stage.layers.size(); ++i) {
        if (!job.model.is_transformer()) {
            sizes.push_back(stage.parameters(i).total());
            continue;
        }
        const LayerKind& kind = stage.work.kinds[stage.layers[i].kind].layer.kind;
        for (const HeldParameter& held : held_parameters(job, partition, kind))
            sizes.insert(sizes.end(), static_cast<std::size_t>(held.pieces), held.elements);
    }
    return sizes;
}

// Where weight gradients are added to the sum by their product, autograd still gets a tensor of the
// weight's shape, which nobody fills: one per shape, kept (Transformer Engine's get_dummy_wgrad).
Bytes unfilled_gradients(const Job& job, const StageContent& stage)
{
    const Partition partition = partition_of(job);
    if (!job.software.spare_weight_gradients || !job.model.is_transformer() || partition.lora)
        return Bytes(0);
    std::vector<std::pair<std::string_view, double>> shapes;
    for (const PlacedLayer& layer : stage.layers)
        for (const HeldParameter& held :
             held_parameters(job, partition, stage.work.kinds[layer.kind].layer.kind))
            if (held.fused_gradient)
                shapes.emplace_back(held.name, held.elements);
    std::ranges::sort(shapes);
    shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
    double elements = 0;
    for (const auto& shape : shapes)
        elements += shape.second;
    return scaled(Bytes(1), elements * storage_bytes(job.training.precision));
}

// The first of these sizes that make `total` bytes: a rank's part of the flat order (ZeRO-1, -2),
// or of each tensor its shard (FSDP). What is left over is one more.
void add_pieces(std::vector<Tensor>& tensors, const char* name, const std::vector<double>& sizes,
                double bytes_each, std::int64_t total)
{
    const auto add = [&](std::int64_t bytes) {
        if (bytes > 0)
            tensors.push_back({name, MemoryKind::optimizer, bytes, TensorScope::step});
        total -= bytes;
    };
    for (const double size : sizes)
        add(std::min(total, static_cast<std::int64_t>(std::ceil(size * bytes_each))));
    add(total);
}

// torch.distributed.pipelining, which FSDP's stages run in, holds the last stage's outputs of all
// micro-batches until the next step clears them (stage.py, output_chunks).
Bytes outputs_of_last_stage(const Job& job, const StageContent& stage)
{
    if (job.strategy.pp == 1 || job.strategy.zero != 3)
        return Bytes(0);
    std::int64_t logits = 0;
    for (const PlacedLayer& layer : stage.layers)
        for (const LayerTensor& tensor : stage.work.kinds[layer.kind].work.tensors)
            if (tensor.name == logits_tensor)
                logits += tensor.bytes;
    return Bytes(static_cast<std::uint64_t>(logits * job.micro_batches()));
}

// Those whose optimizer state a rank holds.
double updated_parameters(const Job& job, const std::vector<HeldLayer>& layers)
{
    LayerParameters trained;
    for (const HeldLayer& layer : layers) {
        trained.dense += layer.trained.dense;
        trained.expert += layer.trained.expert;
    }
    if (job.strategy.zero == 0)
        return trained.total();
    return trained.dense / dense_shards(job).ranks + trained.expert / expert_shards(job).ranks;
}

// With their format where it may be another than the parameters'.
std::string name_of_gradients(const Training& training)
{
    if (storage_bytes(training.precision) == 4)
        return "gradients";
    const Precision narrow =
        training.precision == Precision::fp16 ? Precision::fp16 : Precision::bf16;
    return fmt::format("{} gradients",
                       to_name(*training.fp32_gradients ? Precision::fp32 : narrow));
}

} // namespace

HeldStates held_states(const Job& job, const StageContent& stage)
{
    std::vector<HeldLayer> layers;
    for (const PlacedLayer& layer : stage.layers)
        layers.push_back(stage.work.kinds[layer.kind].held);
    const ModelStates states = model_states(job, layers);
    HeldStates held;
    held.always = {
        flat("parameters", MemoryKind::parameters, states.parameters),
        flat(name_of_gradients(job.training), MemoryKind::gradients, states.gradients),
        flat("gradient buckets", MemoryKind::buckets, states.buckets),
        flat("logits of all micro-batches", MemoryKind::logits, outputs_of_last_stage(job, stage)),
        flat("unfilled weight gradients", MemoryKind::workspace, unfilled_gradients(job, stage)),
        flat("offloaded states", MemoryKind::pinned_host, states.host)};
    std::erase_if(held.always, [](const Tensor& tensor) { return tensor.bytes == 0; });

    const auto total = static_cast<std::int64_t>(states.optimizer.value());
    const double trained = updated_parameters(job, layers);
    const int master = storage_bytes(job.training.precision) == 4 ? 0 : 4;
    const auto masters = std::min(total, static_cast<std::int64_t>(std::ceil(trained * master)));
    const double cut = job.strategy.zero == 3 ? dense_shards(job).ranks : 1;
    const std::vector<double> sizes = parameter_sizes(job, stage);
    const double moment = trained > 0 ? static_cast<double>(total - masters) / trained : 0.0;
    add_pieces(held.always, "master weights", sizes, master / cut, masters);
    add_pieces(held.from_update, "moments", sizes, moment / cut, total - masters);
    return held;
}

} // namespace trainyard

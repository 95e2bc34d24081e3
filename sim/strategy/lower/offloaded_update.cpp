#include "sim/strategy/lower/offloaded_update.h"

#include "sim/strategy/model_states.h"
#include "sim/strategy/optimizers.h"
#include "sim/strategy/state_shards.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

// Parameters of a layer that a rank updates.
class Shards {
public:
    explicit Shards(const Job& job)
        : dense_(job.strategy.zero >= 1 ? dense_shards(job).ranks : 1),
          expert_(job.strategy.zero >= 1 ? expert_shards(job).ranks : 1)
    {}

    double of(const LayerParameters& parameters) const
    {
        return parameters.dense / dense_ + parameters.expert / expert_;
    }
    double of(const StageContent& stage) const
    {
        double sum = 0;
        for (std::size_t layer = 0; layer < stage.layers.size(); ++layer)
            sum += of(stage.trained(layer));
        return sum;
    }

private:
    double dense_;
    double expert_;
};

Bytes in_bytes(double bytes)
{
    return scaled(Bytes(1), bytes);
}

UseIndex index_of(const StageContent& stage, std::size_t layer)
{
    return {.layer = stage.layers[layer].number};
}

// A rank's part of a layer.
struct LayerUpdate {
    std::size_t layer = 0;
    double parameters = 0;
    double states = 0;          // bytes
    double adam_equivalent = 0; // parameters (OptimizerShare)
};

std::vector<LayerUpdate> updates(const StageContent& stage, const Job& job)
{
    const Shards shards(job);
    std::vector<LayerUpdate> out;
    for (std::size_t layer = 0; layer < stage.layers.size(); ++layer) {
        const KindOfLayer& kind = stage.work.kinds[stage.layers[layer].kind];
        const OptimizerShare share = optimizer_share(job, kind.layer.kind, stage.trained(layer));
        if (const double count = shards.of(stage.trained(layer)); count > 0)
            out.push_back({layer, count, shards.of(share.state), shards.of(share.adam_equivalent)});
    }
    return out;
}

// What the device still holds of the gradients, at once.
void send_gradients(StageWriter& writer, const StageContent& stage)
{
    const Job& job = writer.job();
    const double width = state_bytes(job.training).gradients;
    writer.copy({.name = "gradients to host",
                 .stream = to_host_stream,
                 .bytes = in_bytes(width * Shards(job).of(stage)),
                 .phase = Phase::gradient_sync,
                 .waits = {writer.computed(), writer.reduced(), writer.tail()},
                 .record = writer.offloaded(),
                 .blocks_host = true});
}

// States are read and written, the gradient is read, the parameter written as the device holds it.
double host_traffic(const Job& job, const LayerUpdate& update)
{
    const StateBytes bytes = state_bytes(job.training);
    return 2 * update.states + (bytes.gradients + bytes.parameters) * update.parameters;
}

} // namespace

GradientOffload::GradientOffload(const Job& job) : copies_(leaves_beside_backward(job)) {}

void GradientOffload::leave(StageWriter& writer, Bytes part, EventId ready, UseIndex index) const
{
    if (!copies_)
        return;
    // Shards are fetched the other way at the same time where parameters live on the host too.
    const bool both_ways = writer.job().strategy.offload.parameters != OffloadTarget::none;
    const Tensor leaving{"gradients to host", MemoryKind::gradients,
                         static_cast<std::int64_t>(part.value()), TensorScope::use};
    TensorChanges memory;
    if (leaves_at_once(writer.job()))
        memory = {allocates(leaving), frees(leaving)};
    writer.copy({.name = "gradients to host",
                 .stream = to_host_stream,
                 .bytes = part,
                 .both_ways = both_ways,
                 .phase = Phase::gradient_sync,
                 .waits = {ready},
                 .record = writer.offloaded(),
                 .memory = memory,
                 .index = index});
}

void write_host_update(StageWriter& writer, const StageContent& stage)
{
    const Job& job = writer.job();
    const OffloadOptions& offload = job.strategy.offload;
    if (!leaves_beside_backward(job))
        send_gradients(writer, stage);
    const bool returns = offload.parameters == OffloadTarget::none;
    const double width = state_bytes(job.training).parameters;
    const std::vector<LayerUpdate> layers = updates(stage, job);
    const auto send_back = [&](double count, bool last, UseIndex index) {
        writer.copy({.name = "parameters to device",
                     .stream = from_host_stream,
                     .bytes = in_bytes(width * count),
                     .phase = Phase::parameter_sync,
                     .record = writer.reduced(),
                     .index = index,
                     .blocks_host = last});
    };
    for (const LayerUpdate& update : layers) {
        const UseIndex index = index_of(stage, update.layer);
        HostPass pass{.name = "optimizer",
                      .bytes = in_bytes(host_traffic(job, update)),
                      .phase = Phase::optimizer,
                      .index = index};
        if (update.layer == layers.front().layer) // later ones need not wait for what went back
            pass.waits = {writer.offloaded(), writer.computed(), writer.reduced()};
        writer.host_pass(pass);
        if (returns && offload.overlap)
            send_back(update.parameters, update.layer == layers.back().layer, index);
    }
    if (returns && !offload.overlap)
        send_back(Shards(job).of(stage), true, {});
}

void write_peer_update(StageWriter& writer, const StageContent& stage)
{
    const Job& job = writer.job();
    const std::vector<LayerUpdate> layers = updates(stage, job);
    const int launches =
        std::max(1, job.software.optimizer_kernels / std::max(1, static_cast<int>(layers.size())));
    std::array<EventId, 2> fetched{writer.event(), writer.event()};
    std::array<EventId, 2> free{writer.event(), writer.event()};
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const UseIndex index = index_of(stage, layers[i].layer);
        const Bytes moved = in_bytes(layers[i].states);
        const Tensor buffer{"optimizer states", MemoryKind::workspace,
                            static_cast<std::int64_t>(moved.value()), TensorScope::layer};
        const bool waits_for_gradients = i == 0 || !job.strategy.offload.overlap;
        MemoryCopy copy{.name = "states from peer",
                        .stream = from_peer_stream,
                        .route = CopyRoute::peer,
                        .bytes = moved,
                        .both_ways = job.strategy.offload.overlap,
                        .phase = Phase::optimizer,
                        .waits = {free[i % 2]},
                        .record = fetched[i % 2],
                        .memory = {allocates(buffer)},
                        .index = index};
        if (waits_for_gradients)
            copy.waits.insert(copy.waits.end(), {writer.computed(), writer.reduced()});
        writer.copy(copy);
        writer.memory_pass(
            {.name = "optimizer",
             .bytes = job.software.optimizer_bytes_per_parameter * layers[i].adam_equivalent,
             .launches = launches,
             .phase = Phase::optimizer,
             .waits = {fetched[i % 2], writer.reduced(), writer.tail()},
             .index = index});
        copy.name = "states to peer";
        copy.stream = to_peer_stream;
        copy.waits = {writer.computed()};
        copy.record = free[i % 2];
        copy.memory = {frees(buffer)};
        copy.blocks_host = i + 1 == layers.size() || !job.strategy.offload.overlap;
        writer.copy(copy);
    }
}

void write_parameters_home(StageWriter& writer, const StageContent& stage)
{
    const Job& job = writer.job();
    writer.copy({.name = "parameters to host",
                 .stream = to_host_stream,
                 .bytes = in_bytes(state_bytes(job.training).parameters * Shards(job).of(stage)),
                 .phase = Phase::parameter_sync,
                 .waits = {writer.computed()},
                 .blocks_host = true});
}

} // namespace trainyard

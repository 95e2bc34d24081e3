#include "sim/strategy/lower/single_process.h"

#include "sim/strategy/lower/buckets.h"
#include "sim/strategy/lower/held_states.h"
#include "sim/strategy/lower/replica_work.h"
#include "sim/strategy/lower/shard_exchange.h"
#include "sim/strategy/lower/step_end.h"
#include "sim/strategy/model_states.h"
#include "sim/workload/parameters.h"

namespace trainyard {

namespace {

// torch.nn.parallel.comm: parameters and gradients go in flat buffers of this size
// (broadcast_coalesced, reduce_add_coalesced).
constexpr double flat_buffer = 10 << 20;

// Host time to make a copy of a module object, its attributes and its parameters' entries (a few
// microseconds each in Python; torch/nn/parallel/replicate.py makes one per module and device).
constexpr Seconds per_module_copy{10e-6};

// Modules that own parameters: about one per two tensors, as many containers around them.
int modules(const Model& model, const LayerKind& kind)
{
    const auto* transformer = std::get_if<Transformer>(&model.architecture);
    constexpr int convolution_norm_activation = 3;
    return transformer != nullptr ? static_cast<int>(parameter_tensors(*transformer, kind).size())
                                  : convolution_norm_activation;
}

class ReplicaWriter {
public:
    ReplicaWriter(PlanBuilder& plan, const Job& job, const JobWork& work, bool first)
        : job_(job),
          first_(first),
          others_(job.dp() - 1),
          replica_(replica_work(job, work, first)),
          content_{replica_.work, layers_of_stage(replica_.work, placement_of(job), 0), {}},
          catalog_(plan, job, replica_.work),
          writer_(plan, job, first ? "device 0" : "other devices"),
          broadcast_(writer_.event()),
          received_(writer_.event()),
          plan_(plan)
    {}

    void write()
    {
        for (int micro_batch = 0; micro_batch < job_.micro_batches(); ++micro_batch)
            write_micro_batch(micro_batch);
        if (first_)
            write_update(writer_, content_);
        writer_.host_work("step overhead", job_.software.step_overhead, Phase::other);
        plan_.role(std::move(writer_).finish(), held());
    }

private:
    void write_micro_batch(int micro_batch);
    void replicate(UseIndex index);
    void scatter_inputs(UseIndex index);
    void pass(PassKind kind, int micro_batch, EventId input);
    void gather_outputs(UseIndex index);
    void make_loss(UseIndex index);
    void scatter_gradients(UseIndex index);
    void reduce_gradients(UseIndex index);
    void exchange(Direction direction, int peer, Phase phase, UseIndex index,
                  const TensorChanges& memory);
    std::vector<Bytes> flat_buffers(double width) const;
    Tensor outputs(const char* name, Bytes each) const;
    Tensor replica(const char* name, MemoryKind kind, double width) const;
    HeldStates held() const;
    double parameters() const;

    const Job& job_;
    bool first_;
    int others_;
    ReplicaWork replica_;
    StageContent content_;
    LayerCatalog catalog_;
    StageWriter writer_;
    EventId broadcast_;
    EventId received_; // outputs on device 0, their gradients elsewhere
    PlanBuilder& plan_;
};

void ReplicaWriter::write_micro_batch(int micro_batch)
{
    const UseIndex index{.micro_batch = static_cast<std::uint16_t>(micro_batch)};
    scatter_inputs(index);
    replicate(index);
    pass(PassKind::forward, micro_batch, broadcast_);
    gather_outputs(index);
    if (first_)
        make_loss(index);
    scatter_gradients(index);
    pass(PassKind::backward, micro_batch, first_ ? writer_.never() : received_);
    reduce_gradients(index);
}

double ReplicaWriter::parameters() const
{
    double sum = 0;
    for (std::size_t layer = 0; layer < content_.layers.size(); ++layer)
        sum += content_.parameters(layer).total();
    return sum;
}

std::vector<Bytes> ReplicaWriter::flat_buffers(double width) const
{
    BucketFill fill({flat_buffer, flat_buffer});
    std::vector<Bytes> buffers = fill.add(width * parameters());
    if (!fill.empty())
        buffers.push_back(fill.rest());
    return buffers;
}

Tensor ReplicaWriter::replica(const char* name, MemoryKind kind, double width) const
{
    const Bytes bytes = scaled(Bytes(1), width * parameters());
    return {name, kind, static_cast<std::int64_t>(bytes.value()), TensorScope::micro_batch};
}

Tensor ReplicaWriter::outputs(const char* name, Bytes each) const
{
    const Bytes all = each * static_cast<std::uint64_t>(others_);
    return {name, MemoryKind::logits, static_cast<std::int64_t>(all.value()),
            TensorScope::micro_batch, 1};
}

// Token ids of 8 bytes, or samples of 4-byte elements, to each device over its own link.
void ReplicaWriter::scatter_inputs(UseIndex index)
{
    const auto* list = std::get_if<LayerList>(&job_.model.architecture);
    const std::int64_t sample =
        list != nullptr ? 4 * list->sample_elements : 8 * job_.training.sequence_length;
    writer_.copy({.name = "scatter inputs",
                  .stream = from_host_stream,
                  .bytes = Bytes(static_cast<std::uint64_t>(sample * job_.training.micro_batch)),
                  .phase = Phase::data,
                  .waits = {writer_.computed()},
                  .record = received_,
                  .index = index});
}

// The host of the others is that of device 0: it goes on when the first buffer is there, so not
// before device 0 has ended its step.
void ReplicaWriter::replicate(UseIndex index)
{
    const double width = state_bytes(job_.training).parameters;
    const std::vector<Bytes> buffers = flat_buffers(width);
    const Tensor copy = replica("replica", MemoryKind::parameters, width);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        if (first_)
            writer_.memory_pass({.name = "flatten parameters",
                                 .bytes = 2.0 * static_cast<double>(buffers[i].value()),
                                 .phase = Phase::parameter_sync,
                                 .index = index});
        const bool begins = i == 0 && !first_;
        writer_.transfer({.kind = CollectiveKind::broadcast,
                          .group = GroupKind::dp,
                          .bytes = buffers[i],
                          .phase = Phase::parameter_sync,
                          .stream = data_parallel_stream,
                          .waits = {writer_.computed()},
                          .record = broadcast_,
                          .memory = begins ? TensorChanges{allocates(copy)} : TensorChanges{},
                          .index = index,
                          .blocks_host = begins});
    }
    int count = 0;
    for (const PlacedLayer& layer : content_.layers)
        count += modules(job_.model, content_.work.kinds[layer.kind].layer.kind);
    writer_.host_work("replicate modules", per_module_copy * static_cast<double>(count * job_.dp()),
                      Phase::parameter_sync);
}

void ReplicaWriter::pass(PassKind kind, int micro_batch, EventId input)
{
    const std::size_t count = content_.layers.size();
    EventId scattered = kind == PassKind::forward ? received_ : writer_.never();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t layer = kind == PassKind::forward ? i : count - 1 - i;
        const PlacedLayer& placed = content_.layers[layer];
        writer_.layer({.block = &catalog_.block(placed.kind, {kind, false}, {}),
                       .input = input,
                       .parameters = scattered,
                       .index = {static_cast<std::uint16_t>(micro_batch), placed.number}});
        input = scattered = writer_.never();
    }
}

// One peer after the other: all come in over device 0's links.
void ReplicaWriter::exchange(Direction direction, int peer, Phase phase, UseIndex index,
                             const TensorChanges& memory)
{
    const bool sends = direction == Direction::send;
    const bool outputs = phase == Phase::forward;
    const std::string name = outputs ? "gather outputs" : "scatter gradients";
    writer_.op({.op = {.kind = OpKind::exchange,
                       .stream = plan_.communication_stream(name),
                       .label = plan_.transfer_label(name, phase, CollectiveKind::send_receive,
                                                     GroupKind::dp)},
                .name = name,
                .waits = {writer_.computed()},
                .record = sends ? EventId::none() : received_,
                .parts = {{.direction = direction,
                           .peer = make_id<PeerSlot>(static_cast<std::size_t>(peer)),
                           .channel = static_cast<std::uint8_t>(outputs ? 0 : 1),
                           .cost = plan_.transfer({.kind = CollectiveKind::send_receive,
                                                   .bytes = replica_.output,
                                                   .backend = job_.strategy.backend,
                                                   .interference = Interference::none})}},
                .memory = memory,
                .index = index});
}

void ReplicaWriter::gather_outputs(UseIndex index)
{
    if (!first_)
        return exchange(Direction::send, 0, Phase::forward, index, {});
    const Tensor gathered = outputs("gathered outputs", replica_.output);
    for (int peer = 0; peer < others_; ++peer)
        exchange(Direction::receive, peer, Phase::forward, index,
                 peer == 0 ? TensorChanges{allocates(gathered)} : TensorChanges{});
}

// Of the other replicas' outputs, there and back; device 0's own is part of its passes. Outputs
// turn into their gradients.
void ReplicaWriter::make_loss(UseIndex index)
{
    if (replica_.loss.empty())
        return;
    ComputeRequest request{.phase = Phase::other};
    std::uint16_t launches = 0;
    for (Kernel kernel : replica_.loss) {
        kernel.bytes = kernel.bytes * static_cast<std::uint64_t>(others_);
        launches = static_cast<std::uint16_t>(launches + kernel.launches);
        request.kernels.push_back(kernel);
    }
    const Tensor softmax = outputs("softmax of gathered outputs", replica_.loss_memory);
    writer_.op({.op = {.kind = OpKind::compute,
                       .stream = plan_.compute_stream(),
                       .scale = device_speed,
                       .kernels = launches,
                       .label = plan_.label("loss of gathered outputs", Phase::other),
                       .cost = plan_.compute(request)},
                .name = "loss of gathered outputs",
                .waits = {received_},
                .record = writer_.computed(),
                .memory = {allocates(softmax), frees(softmax)},
                .index = index});
}

void ReplicaWriter::scatter_gradients(UseIndex index)
{
    if (!first_)
        return exchange(Direction::receive, 0, Phase::backward, index, {});
    const Tensor gathered = outputs("gathered outputs", replica_.output);
    for (int peer = 0; peer < others_; ++peer)
        exchange(Direction::send, peer, Phase::backward, index,
                 peer + 1 == others_ ? TensorChanges{frees(gathered)} : TensorChanges{});
}

// One autograd function hands all of them over: it runs when the last gradient is there.
void ReplicaWriter::reduce_gradients(UseIndex index)
{
    const double width = state_bytes(job_.training).gradients;
    const std::vector<Bytes> buffers = flat_buffers(width);
    const Tensor copy =
        replica("replica", MemoryKind::parameters, state_bytes(job_.training).parameters);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        writer_.memory_pass({.name = "flatten gradients",
                             .bytes = 2.0 * static_cast<double>(buffers[i].value()),
                             .phase = Phase::gradient_sync,
                             .index = index});
        const bool ends = i + 1 == buffers.size() && !first_;
        writer_.transfer({.kind = CollectiveKind::reduce,
                          .group = GroupKind::dp,
                          .bytes = buffers[i],
                          .phase = Phase::gradient_sync,
                          .stream = data_parallel_stream,
                          .waits = {writer_.computed()},
                          .record = writer_.reduced(),
                          .memory = ends ? TensorChanges{frees(copy)} : TensorChanges{},
                          .index = index});
    }
    if (first_ && job_.micro_batches() > 1)
        writer_.memory_pass({.name = "add gradients",
                             .bytes = 3 * width * parameters(),
                             .phase = Phase::gradient_sync,
                             .waits = {writer_.reduced()},
                             .index = index});
}

// Replicas hold their gradients only; device 0 holds all states.
HeldStates ReplicaWriter::held() const
{
    HeldStates held = held_states(job_, content_);
    std::erase_if(held.always, [this](const Tensor& tensor) {
        const bool state =
            tensor.kind == MemoryKind::parameters || tensor.kind == MemoryKind::optimizer;
        return tensor.kind != MemoryKind::gradients && !(first_ && state);
    });
    if (!first_)
        held.from_update.clear();
    return held;
}

} // namespace

Plan lower_single_process(const Job& job, const JobWork& work)
{
    PlanBuilder plan;
    plan.peer_slots(static_cast<std::size_t>(job.dp() - 1));
    for (const bool first : {true, false})
        ReplicaWriter(plan, job, work, first).write();
    return std::move(plan).finish();
}

} // namespace trainyard

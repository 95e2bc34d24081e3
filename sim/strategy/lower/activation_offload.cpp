#include "sim/strategy/lower/activation_offload.h"

#include "sim/strategy/lower/layer_blocks.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

// Visits until the next one of the same direction.
std::size_t stride(bool in_turns)
{
    return in_turns ? 2 : 1;
}

} // namespace

ActivationOffload::ActivationOffload(StageWriter& writer, LayerCatalog& catalog,
                                     const StageContent& content)
    : writer_(writer), catalog_(catalog), content_(content), meanwhile_(content.layers.size(), 0)
{
    struct Chunk {
        std::size_t layers = 0;
        std::size_t offloaded = 0;
    };
    std::map<int, Chunk> chunks;
    const auto is_offloaded = [&](const PlacedLayer& placed) {
        return !catalog_.offloaded(placed.kind).empty();
    };
    for (const PlacedLayer& placed : content.layers) {
        Chunk& chunk = chunks[placed.chunk];
        const LayerKind& kind = content.work.kinds[placed.kind].layer.kind;
        const bool block = kind.role == LayerKind::Role::dense || kind.role == LayerKind::Role::moe;
        chunk.layers += block && kind.encoder < 0 ? 1 : 0;
        chunk.offloaded += is_offloaded(placed) ? 1 : 0;
    }
    std::map<int, std::size_t> number; // by chunk: of the next offloaded layer
    for (std::size_t layer = 0; layer < content.layers.size(); ++layer) {
        const PlacedLayer& placed = content.layers[layer];
        if (!is_offloaded(placed))
            continue;
        const Chunk& chunk = chunks[placed.chunk];
        const std::size_t window = std::max<std::size_t>(1, chunk.layers / chunk.offloaded);
        const std::size_t k = number[placed.chunk]++;
        meanwhile_[layer] = (k + 1) * window - k;
        most_ = std::max(most_, meanwhile_[layer]);
    }
}

void ActivationOffload::before(std::size_t visit, bool in_turns)
{
    if (most_ == 0)
        return;
    const auto is_due = [&](const Copy& copy) {
        return copy.visit + (layers_meanwhile(copy.visit) + 1) * stride(in_turns) <= visit;
    };
    while (!leaving_.empty() && is_due(leaving_.front()))
        free_oldest();
    const bool overlaps = writer_.job().strategy.offload.overlap;
    const std::size_t last = visit + (overlaps ? most_ * stride(in_turns) : 0);
    for (std::size_t next = visit; next <= last && next < content_.visits.size(); ++next)
        if (fetches(next) && next <= visit + layers_meanwhile(next) * stride(in_turns) &&
            std::ranges::find(coming_, next, &Copy::visit) == coming_.end())
            fetch(next, in_turns);
    if (!fetches(visit))
        return;
    const auto came = std::ranges::find(coming_, visit, &Copy::visit);
    wait_for(*came, "activations from host", Phase::backward, {});
    coming_.erase(came);
}

void ActivationOffload::after(std::size_t visit, bool in_turns)
{
    if (most_ == 0 || !sends(visit))
        return;
    leaving_.push_back({visit, copied(visit, in_turns, to_host_stream)});
    if (!writer_.job().strategy.offload.overlap)
        free_oldest();
}

EventId ActivationOffload::take_event()
{
    if (idle_events_.empty())
        return writer_.event();
    const EventId event = idle_events_.back();
    idle_events_.pop_back();
    return event;
}

void ActivationOffload::wait_for(const Copy& copy, const char* name, Phase phase,
                                 TensorChanges memory)
{
    writer_.wait({.name = name,
                  .phase = phase,
                  .waits = {copy.done},
                  .memory = std::move(memory),
                  .index = index(copy.visit)});
    idle_events_.push_back(copy.done);
}

std::span<const Tensor> ActivationOffload::tensors(std::size_t visit) const
{
    return catalog_.offloaded(content_.layers[content_.visits[visit].layer].kind);
}

bool ActivationOffload::sends(std::size_t visit) const
{
    return content_.visits[visit].kind == PassKind::forward && !tensors(visit).empty();
}

// The first of the passes backward.
bool ActivationOffload::fetches(std::size_t visit) const
{
    const PassKind kind = content_.visits[visit].kind;
    return kind != PassKind::forward && kind != PassKind::backward_weight &&
           !tensors(visit).empty();
}

UseIndex ActivationOffload::index(std::size_t visit) const
{
    const Visit& v = content_.visits[visit];
    return v.index(content_.layers[v.layer]);
}

void ActivationOffload::free_oldest()
{
    const Copy copy = leaving_.front();
    leaving_.pop_front();
    TensorChanges freed;
    for (const Tensor& tensor : tensors(copy.visit))
        freed.push_back(frees(tensor, Moment::start));
    wait_for(copy, "activations to host", Phase::forward, std::move(freed));
}

void ActivationOffload::fetch(std::size_t visit, bool in_turns)
{
    const auto is_same = [&](const Copy& copy) {
        const Visit& one = content_.visits[copy.visit];
        const Visit& other = content_.visits[visit];
        return one.layer == other.layer && one.micro_batch == other.micro_batch;
    };
    while (std::ranges::any_of(leaving_, is_same))
        free_oldest();
    coming_.push_back({visit, copied(visit, in_turns, from_host_stream)});
}

EventId ActivationOffload::copied(std::size_t visit, bool in_turns, const char* stream)
{
    const bool leaves = stream == to_host_stream;
    const EventId done = take_event();
    std::int64_t bytes = 0;
    TensorChanges memory;
    for (const Tensor& tensor : tensors(visit)) {
        bytes += tensor.bytes;
        if (!leaves)
            memory.push_back(allocates(tensor));
    }
    writer_.copy({.name = leaves ? "activations to host" : "activations from host",
                  .stream = stream,
                  .bytes = Bytes(static_cast<std::uint64_t>(bytes)),
                  .both_ways = in_turns,
                  .phase = leaves ? Phase::forward : Phase::backward,
                  .waits = {writer_.computed()},
                  .record = done,
                  .memory = std::move(memory),
                  .index = index(visit)});
    return done;
}

} // namespace trainyard

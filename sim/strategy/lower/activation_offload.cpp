#include "sim/strategy/lower/activation_offload.h"

#include "sim/strategy/lower/layer_blocks.h"

#include <algorithm>

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
    : writer_(writer), catalog_(catalog), content_(content)
{
    any_ = std::ranges::any_of(content.layers, [&](const PlacedLayer& placed) {
        return !catalog_.offloaded(placed.kind).empty();
    });
    for (EventId& event : events_)
        event = any_ ? writer.event() : writer.never();
}

void ActivationOffload::before(std::size_t visit, bool in_turns)
{
    if (!any_)
        return;
    while (!leaving_.empty() && leaving_.front().visit + 2 * stride(in_turns) <= visit)
        free_oldest();
    const bool overlaps = writer_.job().strategy.offload.overlap;
    for (const std::size_t next : {visit, visit + (overlaps ? stride(in_turns) : 0)})
        if (next < content_.visits.size() && fetches(next) &&
            std::ranges::find(coming_, next, &Copy::visit) == coming_.end())
            fetch(next, in_turns);
    if (!fetches(visit))
        return;
    const auto came = std::ranges::find(coming_, visit, &Copy::visit);
    writer_.wait({.name = "activations from host",
                  .phase = Phase::backward,
                  .waits = {came->done},
                  .index = index(visit)});
    coming_.erase(came);
}

void ActivationOffload::after(std::size_t visit, bool in_turns)
{
    if (!any_ || !sends(visit))
        return;
    leaving_.push_back({visit, copied(visit, in_turns, to_host_stream)});
    if (!writer_.job().strategy.offload.overlap)
        free_oldest();
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
    writer_.wait({.name = "activations to host",
                  .phase = Phase::forward,
                  .waits = {copy.done},
                  .memory = std::move(freed),
                  .index = index(copy.visit)});
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
    const EventId done = events_[copies_++ % events_.size()];
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

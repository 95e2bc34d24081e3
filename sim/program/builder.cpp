#include "sim/program/builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace trainyard {

namespace {

// An index into `entries` that fits Op's 16-bit fields.
template <class T>
std::uint16_t end_index(const std::vector<T>& entries)
{
    assert(entries.size() < 0xffff);
    return static_cast<std::uint16_t>(entries.size());
}

template <class IdType, class T>
IdType append(std::vector<T>& entries, T entry)
{
    assert(entries.size() < IdType::none_value);
    entries.push_back(std::move(entry));
    return make_id<IdType>(entries.size() - 1);
}

template <class IdType, class T>
IdType find_or_append(std::vector<T>& entries, const T& entry)
{
    // What comes again mostly comes soon.
    const auto found = std::find(entries.rbegin(), entries.rend(), entry);
    if (found != entries.rend())
        return make_id<IdType>(static_cast<std::size_t>(entries.rend() - found - 1));
    return append<IdType>(entries, entry);
}

} // namespace

LocalEvent BlockBuilder::event()
{
    assert(block_.local_events < LocalEvent::none_value);
    return LocalEvent{block_.local_events++};
}

BlockBuilder& BlockBuilder::op(const Op& op)
{
    Op& added = block_.ops.emplace_back(op);
    added.wait_first = end_index(block_.waits);
    added.wait_count = 0;
    added.part_first = end_index(block_.parts);
    added.part_count = 0;
    return *this;
}

BlockBuilder& BlockBuilder::wait(LocalEvent event)
{
    assert(!block_.ops.empty() && event.value < block_.local_events);
    block_.waits.push_back(event);
    ++block_.ops.back().wait_count;
    return *this;
}

BlockBuilder& BlockBuilder::record(LocalEvent event)
{
    assert(!block_.ops.empty() && event.value < block_.local_events);
    block_.ops.back().record = event;
    return *this;
}

BlockBuilder& BlockBuilder::part(const ExchangePart& part)
{
    assert(!block_.ops.empty() && block_.ops.back().kind == OpKind::exchange);
    block_.parts.push_back(part);
    ++block_.ops.back().part_count;
    return *this;
}

EventId RoleBuilder::event()
{
    return EventId{role_.event_count++};
}

RoleBuilder& RoleBuilder::use(BlockId block, std::span<const EventId> events,
                              std::uint16_t micro_batch, std::uint16_t layer)
{
    role_.order.push_back({.block = block,
                           .event_first = static_cast<std::uint32_t>(role_.events.size()),
                           .micro_batch = micro_batch,
                           .layer = layer});
    role_.events.insert(role_.events.end(), events.begin(), events.end());
    return *this;
}

RoleBuilder& RoleBuilder::static_memory(std::int64_t bytes)
{
    role_.static_memory = bytes;
    return *this;
}

BlockId add_block(Program& program, Block block)
{
    return append<BlockId>(program.blocks, std::move(block));
}

RoleId add_role(Program& program, Role role)
{
    return append<RoleId>(program.roles, std::move(role));
}

StreamId add_stream(Program& program, Stream stream)
{
    return append<StreamId>(program.streams, std::move(stream));
}

GroupSlot add_group_slot(Program& program, GroupKind kind)
{
    return append<GroupSlot>(program.groups, GroupSlotInfo{kind});
}

LabelId label_id(Program& program, const Label& label)
{
    return find_or_append<LabelId>(program.labels, label);
}

void hold(Program& program, Role& role, const Tensor& tensor)
{
    role.held.push_back(tensor_id(program, tensor));
    role.static_memory += on_device(tensor.kind) ? tensor.bytes : 0;
}

void hold_from_update(Program& program, Role& role, const Tensor& tensor)
{
    role.held_from_update.push_back(tensor_id(program, tensor));
    role.static_memory += on_device(tensor.kind) ? tensor.bytes : 0;
}

TensorId tensor_id(Program& program, const Tensor& tensor)
{
    return find_or_append<TensorId>(program.tensors, tensor);
}

MemoryEffectId memory_effect_id(Program& program, MemoryEffect effect)
{
    return find_or_append<MemoryEffectId>(program.memory_effects, effect);
}

MemoryEffectId memory_effect_id(Program& program, const TensorChanges& changes)
{
    MemoryEffect effect;
    std::vector<MemoryEvent> events;
    for (const TensorChange& change : changes) {
        events.push_back({tensor_id(program, change.tensor), change.action, change.moment});
        const std::int64_t bytes = on_device(change.tensor.kind) ? change.tensor.bytes : 0;
        (change.moment == Moment::start ? effect.at_start : effect.at_end) +=
            change.action == MemoryAction::allocate ? bytes : -bytes;
    }
    std::vector<MemoryEvent>& known = program.memory_events;
    const auto same = std::search(known.begin(), known.end(), events.begin(), events.end());
    effect.event_first = static_cast<std::uint32_t>(same - known.begin());
    effect.event_count = static_cast<std::uint32_t>(events.size());
    if (same == known.end())
        known.insert(known.end(), events.begin(), events.end());
    return memory_effect_id(program, effect);
}

} // namespace trainyard

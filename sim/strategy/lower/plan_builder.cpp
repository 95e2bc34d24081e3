#include "sim/strategy/lower/plan_builder.h"

#include "sim/strategy/lower/held_states.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

template <class T>
CostId find_or_add(std::vector<T>& requests, T request)
{
    const auto found = std::find(requests.begin(), requests.end(), request);
    if (found != requests.end())
        return make_id<CostId>(static_cast<std::size_t>(found - requests.begin()));
    requests.push_back(std::move(request));
    return make_id<CostId>(requests.size() - 1);
}

} // namespace

PlanBuilder::PlanBuilder()
{
    add_stream(plan_.program, {"host", StreamKind::host});
    compute_ = add_stream(plan_.program, {"compute", StreamKind::compute});
    plan_.program.scale_slots = 1;
}

StreamId PlanBuilder::stream(const std::string& name, StreamKind kind)
{
    const auto found = streams_.find(name);
    if (found != streams_.end())
        return found->second;
    const StreamId stream = add_stream(plan_.program, {name, kind});
    streams_.emplace(name, stream);
    return stream;
}

StreamId PlanBuilder::communication_stream(const std::string& name)
{
    return stream(name, StreamKind::communication);
}

StreamId PlanBuilder::copy_stream(const std::string& name)
{
    return stream(name, StreamKind::copy);
}

StreamId PlanBuilder::worker_stream(const std::string& name)
{
    return stream(name, StreamKind::worker);
}

GroupSlot PlanBuilder::group(GroupKind kind)
{
    const auto found = groups_.find(kind);
    if (found != groups_.end())
        return found->second;
    const GroupSlot slot = add_group_slot(plan_.program, kind);
    groups_.emplace(kind, slot);
    return slot;
}

LabelId PlanBuilder::label(std::string name, Phase phase)
{
    return label_id(plan_.program, {.name = std::move(name), .phase = phase});
}

LabelId PlanBuilder::transfer_label(std::string name, Phase phase, CollectiveKind kind,
                                    GroupKind group)
{
    return label_id(plan_.program,
                    {.name = std::move(name), .phase = phase, .collective = kind, .group = group});
}

MemoryEffectId PlanBuilder::memory(const TensorChanges& changes)
{
    if (changes.empty())
        return MemoryEffectId::none();
    const auto found = effects_.find(changes);
    if (found != effects_.end())
        return found->second;
    const MemoryEffectId id = memory_effect_id(plan_.program, changes);
    effects_.emplace(changes, id);
    return id;
}

void PlanBuilder::role(Role role, const HeldStates& held)
{
    for (const Tensor& tensor : held.always)
        hold(plan_.program, role, tensor);
    for (const Tensor& tensor : held.from_update)
        hold_from_update(plan_.program, role, tensor);
    add_role(plan_.program, std::move(role));
}

CostId PlanBuilder::compute(ComputeRequest request)
{
    return find_or_add(plan_.compute, std::move(request));
}

CostId PlanBuilder::transfer(const TransferRequest& request)
{
    return find_or_add(plan_.transfers, request);
}

BlockId PlanBuilder::block(Block block)
{
    std::vector<BlockId>& alike = blocks_[block.name];
    for (const BlockId id : alike)
        if (plan_.program.blocks[id.value] == block)
            return id;
    alike.push_back(add_block(plan_.program, std::move(block)));
    return alike.back();
}

} // namespace trainyard

#pragma once

// Writes blocks and roles op by op, without counting indices by hand.
//
//     BlockBuilder forward("layer forward");
//     const LocalEvent input = forward.event(), output = forward.event();
//     forward.op({.kind = OpKind::compute, .stream = compute, .label = mlp, .cost = mlp_cost})
//         .wait(input)
//         .record(output);
//     program.blocks.push_back(std::move(forward).build());

#include "sim/program/program.h"

#include <span>

namespace trainyard {

class BlockBuilder {
public:
    explicit BlockBuilder(std::string name) { block_.name = std::move(name); }

    // A new event of the block; each use of the block binds it to an event of its role.
    LocalEvent event();

    // Appends an op; its waits, parts and record are added by the calls below, which speak of the
    // op added last.
    BlockBuilder& op(const Op& op);
    BlockBuilder& wait(LocalEvent event);
    BlockBuilder& record(LocalEvent event);
    BlockBuilder& part(const ExchangePart& part);

    std::size_t size() const { return block_.ops.size(); }
    Block build() && { return std::move(block_); }

private:
    Block block_;
};

class RoleBuilder {
public:
    explicit RoleBuilder(std::string name) { role_.name = std::move(name); }

    EventId event();

    // Appends a use of a block; `events` binds the block's local events, in their order.
    RoleBuilder& use(BlockId block, std::span<const EventId> events = {},
                     std::uint16_t micro_batch = BlockUse::no_index,
                     std::uint16_t layer = BlockUse::no_index);
    RoleBuilder& static_memory(std::int64_t bytes);

    Role build() && { return std::move(role_); }

private:
    Role role_;
};

// Appends to the program and gives the new index.
BlockId add_block(Program& program, Block block);
RoleId add_role(Program& program, Role role);
StreamId add_stream(Program& program, Stream stream);
GroupSlot add_group_slot(Program& program, GroupKind kind);

// The index of an equal entry, appended if there is none.
LabelId label_id(Program& program, const Label& label);
// A tensor that the role always holds: adds to its static memory.
void hold(Program& program, Role& role, const Tensor& tensor);
void hold_from_update(Program& program, Role& role, const Tensor& tensor);
TensorId tensor_id(Program& program, const Tensor& tensor);
MemoryEffectId memory_effect_id(Program& program, MemoryEffect effect);
// The effect of these changes in their order; of no bytes when there are none.
MemoryEffectId memory_effect_id(Program& program, const TensorChanges& changes);

} // namespace trainyard

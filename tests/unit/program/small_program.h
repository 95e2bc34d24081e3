#pragma once

// Two neighbours that compute, add up gradients and pass one message: each kind of entry once.

#include "sim/program/binding.h"
#include "sim/program/builder.h"

namespace trainyard::test {

inline Program small_program()
{
    Program program;
    add_stream(program, {"host", StreamKind::host});
    const StreamId compute = add_stream(program, {"compute", StreamKind::compute});
    const StreamId network = add_stream(program, {"network", StreamKind::communication});
    const GroupSlot dp = add_group_slot(program, GroupKind::dp);
    program.peer_slots = 1;
    program.scale_slots = 1;

    const LabelId forward = label_id(program, {"forward", Phase::forward});
    const LabelId reduce = label_id(
        program, {"gradients", Phase::gradient_sync, CollectiveKind::all_reduce, GroupKind::dp});
    const LabelId pass = label_id(
        program, {"activations", Phase::forward, CollectiveKind::send_receive, GroupKind::pp});

    BlockBuilder block("layer");
    const LocalEvent ready = block.event();
    const LocalEvent summed = block.event();
    block
        .op({.kind = OpKind::compute,
             .stream = compute,
             .scale = ScaleSlot{0},
             .kernels = 3,
             .label = forward,
             .cost = CostId{0},
             .memory = memory_effect_id(program, {100, -40})})
        .wait(summed)
        .record(ready);
    block
        .op({.kind = OpKind::collective,
             .stream = network,
             .group = dp,
             .label = reduce,
             .cost = CostId{0}})
        .wait(ready)
        .record(summed);
    block.op({.kind = OpKind::exchange, .stream = network, .label = pass})
        .part({Direction::send, PeerSlot{0}, 0, CostId{1}})
        .part({Direction::receive, PeerSlot{0}, 0, CostId{1}});
    const BlockId layer = add_block(program, std::move(block).build());

    RoleBuilder role("worker");
    const EventId first = role.event();
    const EventId second = role.event();
    for (std::uint16_t i = 0; i < 2; ++i)
        role.use(layer, std::vector{first, second}, BlockUse::no_index, i);
    add_role(program, std::move(role).build());
    return program;
}

inline Binding small_binding()
{
    Binding binding;
    binding.costs.compute = {SimTime(1000)};
    binding.costs.transfers = {{TransferCost{.latency = SimTime(10)}, TransferCost{}}};
    binding.links = {ByteRate(1000)};
    binding.groups.push_back({.kind = GroupKind::dp,
                              .members = {LaneId{0}, LaneId{1}},
                              .ranks = 2,
                              .ring = {{LinkId{0}}}});
    for (std::uint32_t i = 0; i < 2; ++i)
        binding.lanes.push_back({.role = RoleId{0},
                                 .rank = RankId{i},
                                 .groups = {GroupId{0}},
                                 .peers = {Peer{.lane = LaneId{1 - i}, .links = {{LinkId{0}}}}},
                                 .scales = {full_share}});
    return binding;
}

} // namespace trainyard::test

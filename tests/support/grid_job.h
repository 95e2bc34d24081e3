#pragma once

// A job of the usual three-dimensional shape, written without a model: tensor-parallel all-reduces
// in every layer, 1F1B pipeline, data-parallel sums at the end. Every rank may have its own speed.

#include "sim/base/random.h"
#include "sim/program/binding.h"
#include "sim/program/builder.h"

#include <algorithm>
#include <array>

namespace trainyard::test {

struct GridShape {
    std::uint32_t tp = 2;
    std::uint32_t pp = 2;
    std::uint32_t dp = 2;
    int layers = 2; // per stage
    int micro_batches = 4;
    int kernels_per_half = 2; // compute ops between two all-reduces
    bool uneven = false;      // every rank at its own speed, up to 10 % slower
    std::uint32_t sm_share = 0;
    std::uint32_t traffic_share = 0;
    bool free_messages = false; // between stages: those shares are 0
};

struct GridJob {
    Program program;
    Binding binding;
};

class GridWriter {
public:
    explicit GridWriter(const GridShape& shape) : shape_(shape)
    {
        Program& program = job_.program;
        add_stream(program, {"host", StreamKind::host});
        compute_ = add_stream(program, {"compute", StreamKind::compute});
        tp_stream_ = add_stream(program, {"tp", StreamKind::communication});
        pp_streams_ = {add_stream(program, {"pp forward", StreamKind::communication}),
                       add_stream(program, {"pp backward", StreamKind::communication})};
        dp_stream_ = add_stream(program, {"dp", StreamKind::communication});
        tp_ = add_group_slot(program, GroupKind::tp);
        dp_ = add_group_slot(program, GroupKind::dp);
        program.peer_slots = 2; // before, behind
        program.scale_slots = 1;
    }

    GridJob write() &&
    {
        write_costs();
        const BlockId forward = half_layers("forward", Phase::forward, CostId{0});
        const BlockId backward = half_layers("backward", Phase::backward, CostId{1});
        const BlockId update = update_block();
        for (std::uint32_t stage = 0; stage < shape_.pp; ++stage)
            write_role(stage, {forward, backward, update});
        bind_lanes();
        return std::move(job_);
    }

private:
    // Compute: forward kernel, backward kernel, optimizer. Transfers: tp, pp, dp.
    void write_costs()
    {
        CostTable& costs = job_.binding.costs;
        costs.compute = {SimTime(200'000'000), SimTime(400'000'000), SimTime(3'000'000'000)};
        costs.transfers.resize(1);
        for (const auto& [latency, moving, rate] :
             {std::array<std::int64_t, 3>{12'000'000, 90'000'000, 400'000'000'000},
              std::array<std::int64_t, 3>{20'000'000, 300'000'000, 50'000'000'000},
              std::array<std::int64_t, 3>{60'000'000, 9'000'000'000, 45'000'000'000}})
        {
            TransferCost cost;
            cost.latency = SimTime(latency);
            cost.ceiling = ByteRate(static_cast<std::uint64_t>(rate));
            cost.work = work_done(cost.ceiling, SimTime(moving));
            cost.bytes = Bytes(1'000'000);
            cost.sm_share = shape_.sm_share;
            cost.traffic_share = shape_.traffic_share;
            costs.transfers[0].push_back(cost);
        }
        if (shape_.free_messages)
            costs.transfers[0][1].sm_share = costs.transfers[0][1].traffic_share = 0;
        costs.host_per_kernel.fill(SimTime(4'000'000));
    }

    LabelId transfer_label(const char* name, Phase phase, CollectiveKind kind, GroupKind group)
    {
        return label_id(job_.program, {name, phase, kind, group});
    }

    // Two halves of a layer (attention, MLP), each closed by an all-reduce.
    BlockId half_layers(const char* name, Phase phase, CostId cost)
    {
        const LabelId work = label_id(job_.program, {name, phase});
        const LabelId sum =
            transfer_label("tp sum", phase, CollectiveKind::all_reduce, GroupKind::tp);
        BlockBuilder block(name);
        const LocalEvent computed = block.event();
        const LocalEvent summed = block.event();
        for (int half = 0; half < 2; ++half) {
            for (int k = 0; k < shape_.kernels_per_half; ++k) {
                block.op({.kind = OpKind::compute,
                          .stream = compute_,
                          .scale = ScaleSlot{0},
                          .kernels = 3,
                          .label = work,
                          .cost = cost});
                if (k == 0)
                    block.wait(summed);
            }
            block.record(computed);
            block
                .op({.kind = OpKind::collective,
                     .stream = tp_stream_,
                     .group = tp_,
                     .label = sum,
                     .cost = CostId{0}})
                .wait(computed)
                .record(summed);
        }
        return add_block(job_.program, std::move(block).build());
    }

    // One message; activations flow over channel 0, their gradients over channel 1, each on a
    // stream of its own, so that rendezvous cannot block itself.
    BlockId message(Direction direction, std::uint8_t peer, std::uint8_t channel)
    {
        const LabelId pass =
            transfer_label("pass", Phase::forward, CollectiveKind::send_receive, GroupKind::pp);
        BlockBuilder block(direction == Direction::send ? "send" : "receive");
        const LocalEvent summed = block.event();
        block.op({.kind = OpKind::exchange, .stream = pp_streams_[channel], .label = pass})
            .part({direction, PeerSlot{peer}, channel, CostId{1}});
        if (direction == Direction::send)
            block.wait(summed);
        else
            block.record(summed);
        return add_block(job_.program, std::move(block).build());
    }

    BlockId update_block()
    {
        const LabelId sum = transfer_label("gradients", Phase::gradient_sync,
                                           CollectiveKind::reduce_scatter, GroupKind::dp);
        const LabelId gather = transfer_label("parameters", Phase::parameter_sync,
                                              CollectiveKind::all_gather, GroupKind::dp);
        BlockBuilder block("update");
        const LocalEvent computed = block.event();
        const LocalEvent summed = block.event();
        const Op transfer{.kind = OpKind::collective,
                          .stream = dp_stream_,
                          .group = dp_,
                          .label = sum,
                          .cost = CostId{2}};
        block.op(transfer).wait(computed).record(summed);
        block
            .op({.kind = OpKind::compute,
                 .stream = compute_,
                 .label = label_id(job_.program, {"adam", Phase::optimizer}),
                 .cost = CostId{2}})
            .wait(summed)
            .record(computed);
        Op back = transfer;
        back.label = gather;
        block.op(back).wait(computed).record(summed);
        return add_block(job_.program, std::move(block).build());
    }

    void write_role(std::uint32_t stage, std::array<BlockId, 3> blocks)
    {
        RoleBuilder role("stage " + std::to_string(stage));
        const std::array events{role.event(), role.event()}; // computed, summed
        const std::array arrived{events[1]};
        const bool first = stage == 0;
        const bool last = stage + 1 == shape_.pp;
        const auto forward = [&] {
            if (!first)
                role.use(message(Direction::receive, 0, 0), arrived);
            for (int layer = 0; layer < shape_.layers; ++layer)
                role.use(blocks[0], events);
            if (!last)
                role.use(message(Direction::send, 1, 0), arrived);
        };
        const auto backward = [&] {
            if (!last)
                role.use(message(Direction::receive, 1, 1), arrived);
            for (int layer = 0; layer < shape_.layers; ++layer)
                role.use(blocks[1], events);
            if (!first)
                role.use(message(Direction::send, 0, 1), arrived);
        };
        const int warm_up = std::min(shape_.micro_batches, static_cast<int>(shape_.pp - stage) - 1);
        for (int i = 0; i < warm_up; ++i)
            forward();
        for (int i = warm_up; i < shape_.micro_batches; ++i) {
            forward();
            backward();
        }
        for (int i = 0; i < warm_up; ++i)
            backward();
        role.use(blocks[2], events);
        add_role(job_.program, std::move(role).build());
    }

    // Lane = tp + TP (dp + DP stage).
    std::uint32_t lane_at(std::uint32_t tp, std::uint32_t dp, std::uint32_t stage) const
    {
        return tp + shape_.tp * (dp + shape_.dp * stage);
    }

    void bind_lanes()
    {
        Binding& binding = job_.binding;
        const std::uint32_t stride = shape_.tp * shape_.dp;
        Random random(1);
        for (std::uint32_t l = 0; l < stride * shape_.pp; ++l) {
            Lane lane;
            const std::uint32_t stage = l / stride;
            lane.role = RoleId{stage};
            lane.rank = RankId{l};
            lane.groups.resize(2);
            lane.peers.resize(2);
            if (stage > 0)
                lane.peers[0].lane = LaneId{l - stride};
            if (stage + 1 < shape_.pp)
                lane.peers[1].lane = LaneId{l + stride};
            const auto slower = static_cast<std::uint32_t>(random.integer(0, full_share / 10));
            lane.scales = {full_share + (shape_.uneven ? slower : 0)};
            binding.lanes.push_back(std::move(lane));
        }
        for (std::uint32_t stage = 0; stage < shape_.pp; ++stage) {
            for (std::uint32_t dp = 0; dp < shape_.dp; ++dp)
                add_group(GroupKind::tp, tp_, shape_.tp,
                          [&](std::uint32_t i) { return lane_at(i, dp, stage); });
            for (std::uint32_t tp = 0; tp < shape_.tp; ++tp)
                add_group(GroupKind::dp, dp_, shape_.dp,
                          [&](std::uint32_t i) { return lane_at(tp, i, stage); });
        }
    }

    template <class Member>
    void add_group(GroupKind kind, GroupSlot slot, std::uint32_t size, const Member& member)
    {
        Binding& binding = job_.binding;
        Group group;
        group.kind = kind;
        group.ranks = size;
        for (std::uint32_t i = 0; i < size; ++i) {
            group.members.push_back(LaneId{member(i)});
            binding.lanes[member(i)].groups[slot.value] = make_id<GroupId>(binding.groups.size());
        }
        binding.groups.push_back(std::move(group));
    }

    GridShape shape_;
    GridJob job_;
    StreamId compute_, tp_stream_, dp_stream_;
    std::array<StreamId, 2> pp_streams_; // by flow
    GroupSlot tp_, dp_;
};

inline GridJob grid_job(const GridShape& shape)
{
    return GridWriter(shape).write();
}

} // namespace trainyard::test

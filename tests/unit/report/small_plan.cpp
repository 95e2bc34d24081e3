#include "tests/unit/report/small_plan.h"

#include "sim/program/builder.h"
#include "sim/topology/cluster.h"

namespace trainyard::test {

using namespace trainyard::literals;

Topology small_cluster(int nodes)
{
    ClusterDescription cluster;
    cluster.name = "small";
    cluster.nodes = nodes;
    cluster.node.device = "H100-SXM5-80GB";
    cluster.node.gpus = 2;
    cluster.node.nvlink.wiring = NvlinkWiring::switched;
    cluster.node.nvlink.rate = 450_GBps;
    cluster.node.pcie = 64_GBps;
    cluster.node.nics = 2;
    cluster.fabric.emplace();
    cluster.fabric->network.name = "NDR400";
    cluster.fabric->network.transport = Transport::infiniband;
    cluster.fabric->network.port_rate = 50_GBps;
    return make_cluster(cluster);
}

namespace {

Kernel gemm(std::int64_t batch)
{
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.name = "matmul";
    kernel.gemm = {8192, 8192, 8192, batch};
    return kernel;
}

Op compute_op(Program& program, const char* name, Phase phase, std::uint32_t cost)
{
    Op op;
    op.kind = OpKind::compute;
    op.stream = compute_stream;
    op.label = label_id(program, {name, phase});
    op.cost = CostId{cost};
    return op;
}

BlockId exchange_block(Program& program, const char* name, Phase phase, Direction direction)
{
    Op op;
    op.kind = OpKind::exchange;
    op.stream = pp_stream;
    op.label = label_id(program, {name, phase, CollectiveKind::send_receive, GroupKind::pp});
    BlockBuilder block(name);
    block.op(op).part({direction, PeerSlot{0}, 0, CostId{1}});
    return add_block(program, std::move(block).build());
}

struct Blocks {
    BlockId forward;
    BlockId backward;
    BlockId reduce;
    BlockId update;
    BlockId send;
    BlockId receive;
    BlockId send_gradient;
    BlockId receive_gradient;
};

Blocks add_blocks(Program& program)
{
    Blocks blocks;
    Op forward = compute_op(program, "layers", Phase::forward, 0);
    forward.memory = memory_effect_id(program, {1000, 0});
    Op backward = compute_op(program, "layers", Phase::backward, 1);
    backward.memory = memory_effect_id(program, {0, -1000});
    Op reduce;
    reduce.kind = OpKind::collective;
    reduce.stream = dp_stream;
    reduce.group = GroupSlot{0};
    reduce.cost = CostId{0};
    reduce.label = label_id(
        program, {"gradients", Phase::gradient_sync, CollectiveKind::all_reduce, GroupKind::dp});
    const auto block_of = [&](const char* name, const Op& op) {
        BlockBuilder block(name);
        block.op(op);
        return add_block(program, std::move(block).build());
    };
    blocks.forward = block_of("forward", forward);
    blocks.backward = block_of("backward", backward);
    blocks.reduce = block_of("reduce", reduce);
    blocks.update = block_of("update", compute_op(program, "adam", Phase::optimizer, 2));
    blocks.send = exchange_block(program, "send", Phase::forward, Direction::send);
    blocks.receive = exchange_block(program, "receive", Phase::forward, Direction::receive);
    blocks.send_gradient =
        exchange_block(program, "send gradient", Phase::backward, Direction::send);
    blocks.receive_gradient =
        exchange_block(program, "receive gradient", Phase::backward, Direction::receive);
    return blocks;
}

} // namespace

Plan small_plan()
{
    Plan plan;
    Program& program = plan.program;
    add_stream(program, {"host", StreamKind::host});
    add_stream(program, {"compute", StreamKind::compute});
    add_stream(program, {"dp", StreamKind::communication});
    add_stream(program, {"pp", StreamKind::communication});
    add_group_slot(program, GroupKind::dp);
    program.peer_slots = 1;
    const Blocks blocks = add_blocks(program);
    RoleBuilder first("stage 0");
    for (std::uint16_t m = 0; m < 2; ++m)
        first.use(blocks.forward, {}, m).use(blocks.send, {}, m);
    for (std::uint16_t m = 0; m < 2; ++m)
        first.use(blocks.receive_gradient, {}, m).use(blocks.backward, {}, m);
    first.use(blocks.reduce).use(blocks.update).static_memory(5000);
    add_role(program, std::move(first).build());
    RoleBuilder second("stage 1");
    for (std::uint16_t m = 0; m < 2; ++m)
        second.use(blocks.receive, {}, m)
            .use(blocks.forward, {}, m)
            .use(blocks.backward, {}, m)
            .use(blocks.send_gradient, {}, m);
    second.use(blocks.reduce).use(blocks.update).static_memory(6000);
    add_role(program, std::move(second).build());
    plan.compute.resize(3);
    plan.compute[0].kernels = {gemm(1)};
    plan.compute[1].kernels = {gemm(2)};
    plan.transfers.resize(2);
    plan.transfers[0] = {CollectiveKind::all_reduce, gradient_bytes};
    plan.transfers[1] = {CollectiveKind::send_receive, message_bytes};
    return plan;
}

Binding small_binding(Lanes lanes)
{
    Binding binding;
    const std::uint32_t per_stage = lanes == Lanes::all ? 2 : 1;
    binding.costs.compute = {ms(10), ms(20), ms(2)};
    // A ring of two sends the whole buffer; 1 GB in 5 ms, 40 MB in 1 ms.
    const auto cost = [](Bytes bytes, SimTime time, TrafficPattern pattern) {
        TransferCost out;
        out.bytes = bytes;
        out.ceiling = ByteRate(static_cast<std::uint64_t>((bytes / to_seconds(time)).value()));
        out.work = work_done(out.ceiling, time);
        out.pattern = pattern;
        return out;
    };
    binding.costs.transfers = {{cost(gradient_bytes, ms(5), TrafficPattern::ring),
                                cost(message_bytes, ms(1), TrafficPattern::neighbours)}};
    binding.costs.host_per_kernel.fill(SimTime(5'000'000));
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
        Group group;
        group.kind = GroupKind::dp;
        group.ranks = 2;
        for (std::uint32_t i = 0; i < per_stage; ++i)
            group.members.push_back(LaneId{stage * per_stage + i});
        binding.groups.push_back(group);
        for (std::uint32_t i = 0; i < per_stage; ++i) {
            Lane lane;
            lane.role = RoleId{stage};
            lane.rank = RankId{2 * stage + i};
            lane.multiplicity = lanes == Lanes::all ? 1 : 2;
            lane.groups = {GroupId{stage}};
            lane.peers.resize(1);
            lane.peers[0].lane = LaneId{(1 - stage) * per_stage + i};
            binding.lanes.push_back(lane);
        }
        for (std::uint32_t rank = 0; rank < 2; ++rank)
            binding.lane_of.push_back(LaneId{stage * per_stage + (per_stage == 2 ? rank : 0)});
    }
    return binding;
}

} // namespace trainyard::test

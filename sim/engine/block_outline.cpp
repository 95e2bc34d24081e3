#include "sim/engine/block_outline.h"

#include <algorithm>
#include <utility>

namespace trainyard::engine {

namespace {

// Inside a use the latest op of the block that recorded the event is meant.
BlockOutline::Wait wait_for(LocalEvent event, const std::vector<BlockOutline::PlacedOp>& earlier)
{
    BlockOutline::Wait wait{.event = event};
    for (const BlockOutline::PlacedOp& op : earlier)
        if (op.record == event) {
            wait.inside = true;
            wait.stream = op.stream;
            wait.position = op.position;
        }
    return wait;
}

} // namespace

BlockOutlines::BlockOutlines(const Program& program, const CostTable& costs)
    : program_(program), costs_(costs), all_(program.blocks.size())
{}

const BlockOutline& BlockOutlines::of(BlockId block)
{
    BlockOutline& outline = all_[block.value];
    if (!outline.counts.empty())
        return outline;
    outline.counts.resize(program_.streams.size());
    for (const Op& op : program_.blocks[block.value].ops) {
        const std::uint32_t position = outline.counts[op.stream.value]++;
        if (op.record.valid())
            outline.records.push_back({op.record, op.stream, position});
    }
    return outline;
}

const BlockOutline& BlockOutlines::placed(BlockId id, const std::vector<std::uint8_t>& dense)
{
    of(id);
    BlockOutline& outline = all_[id.value];
    const Block& block = program_.blocks[id.value];
    if (outline.ops.size() < block.ops.size())
        place(block, dense, outline);
    return outline;
}

void BlockOutlines::place(const Block& block, const std::vector<std::uint8_t>& dense,
                          BlockOutline& outline)
{
    std::vector<std::uint32_t> next(outline.counts.size());
    for (std::size_t s = 0; s < outline.counts.size(); ++s)
        if (outline.counts[s] > 0)
            outline.streams.push_back(dense[s]);
    outline.ops.reserve(block.ops.size());
    for (const Op& op : block.ops) {
        BlockOutline::PlacedOp placed;
        placed.flat = without_use(op);
        placed.stream = dense[op.stream.value];
        placed.position = next[op.stream.value]++;
        placed.record = op.record;
        placed.flat.wait_first = static_cast<std::uint32_t>(outline.waits.size());
        placed.flat.wait_count = op.wait_count;
        for (std::size_t w = 0; w < op.wait_count; ++w)
            outline.waits.push_back(wait_for(block.waits[op.wait_first + w], outline.ops));
        placed.flat.by_itself = program_.streams[op.stream.value].kind == StreamKind::worker;
        if (!placed.flat.by_itself)
            issue(op, outline, placed);
        outline.ops.push_back(placed);
    }
}

FlatOp BlockOutlines::without_use(const Op& op) const
{
    FlatOp flat;
    flat.kind = op.kind;
    flat.phase = program_.labels[op.label.value].phase;
    flat.cost = op.cost;
    flat.label = op.label;
    flat.kernels = op.kernels;
    flat.group = op.group;
    flat.scale = op.scale;
    if (op.kind == OpKind::exchange) {
        flat.part_first = op.part_first;
        flat.part_count = op.part_count;
    } else if (op.kind != OpKind::collective)
        flat.duration = costs_.compute[op.cost.value];
    return flat;
}

// Compute and copies start with their first kernel, transfers join with their last; host ops start
// when the host gets there.
void BlockOutlines::issue(const Op& op, BlockOutline& outline, BlockOutline::PlacedOp& placed) const
{
    FlatOp& flat = placed.flat;
    const SimTime per_kernel = costs_.host_per_kernel[static_cast<std::size_t>(flat.phase)];
    const SimTime all =
        op.kind == OpKind::host ? SimTime(0) : per_kernel * std::int64_t{op.kernels};
    const bool transfers = op.kind == OpKind::collective || op.kind == OpKind::exchange;
    const SimTime until_start = transfers || op.kernels == 0 ? all : std::min(all, per_kernel);
    flat.segment = static_cast<std::uint32_t>(outline.barriers.size());
    flat.issue_offset = outline.issue + until_start;
    flat.issue_rest = all - until_start;
    outline.issue += all;
    if (op.kind == OpKind::host || op.blocks_host) {
        flat.ends_segment = true;
        outline.barriers.push_back(placed.stream);
        outline.issue = SimTime(0);
    }
}

} // namespace trainyard::engine

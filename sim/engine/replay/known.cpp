#include "sim/engine/replay/known.h"

#include <algorithm>

namespace trainyard::engine::replay {

Known::Known(const LaneKind& kind, StepBefore before)
    : streams_(kind.streams.size()),
      counts_(kind.op_count * streams_),
      issue_order_(kind.op_count),
      position_of_(kind.op_count),
      stream_of_(kind.op_count)
{
    place_ops(kind);
    look_at_step(kind);
    if (before == StepBefore::matters)
        look_at_step_before(kind);
}

void Known::place_ops(const LaneKind& kind)
{
    for (std::size_t s = 0; s < streams_; ++s)
        for (std::uint32_t p = 0; p < kind.streams[s].op_count; ++p) {
            const std::uint32_t op = kind.streams[s].op_first + p;
            issue_order_[kind.ops[op].order] = op;
            stream_of_[op] = static_cast<std::uint8_t>(s);
            position_of_[op] = p;
        }
}

void Known::look_at_step(const LaneKind& kind)
{
    std::vector<std::uint32_t> at_start(streams_);
    for (const std::uint32_t op : issue_order_) {
        const FlatOp& flat = kind.ops[op];
        std::fill(at_start.begin(), at_start.end(), 0);
        if (position_of_[op] > 0)
            add_end_of(at_start, op - 1);
        for (std::size_t w = 0; w < flat.wait_count; ++w) {
            const StepWait& wait = kind.waits[flat.wait_first + w];
            if (!wait.previous_step)
                add_end_of(at_start, kind.streams[wait.stream].op_first + wait.position);
        }
        if (!flat.by_itself && flat.segment > 0)
            add_end_of(at_start, barriers_[flat.segment - 1]);
        std::copy(at_start.begin(), at_start.end(),
                  counts_.begin() + static_cast<std::ptrdiff_t>(op * streams_));
        if (flat.ends_segment)
            barriers_.push_back(op);
    }
}

void Known::look_at_step_before(const LaneKind& kind)
{
    before_.resize(counts_.size());
    std::vector<std::uint32_t> at_start(streams_);
    const auto add = [&](std::uint32_t op) {
        const auto theirs = before_at_start(op);
        for (std::size_t s = 0; s < streams_; ++s)
            at_start[s] = std::max(at_start[s], theirs[s]);
    };
    for (const std::uint32_t op : issue_order_) {
        const FlatOp& flat = kind.ops[op];
        std::fill(at_start.begin(), at_start.end(), 0);
        const StreamPlan& stream = kind.streams[stream_of_[op]];
        if (position_of_[op] > 0)
            add(op - 1);
        else
            add_end_of(at_start, stream.op_first + stream.op_count - 1);
        for (std::size_t w = 0; w < flat.wait_count; ++w) {
            const StepWait& wait = kind.waits[flat.wait_first + w];
            const std::uint32_t on = kind.streams[wait.stream].op_first + wait.position;
            if (wait.previous_step)
                add_end_of(at_start, on);
            else
                add(on);
        }
        if (!flat.by_itself && flat.segment > 0)
            add(barriers_[flat.segment - 1]);
        else if (!flat.by_itself && !barriers_.empty())
            add_end_of(at_start, barriers_.back());
        for (std::size_t s = 0; s < streams_; ++s)
            if (counts_[op * streams_ + s] > 0)
                at_start[s] = kind.streams[s].op_count;
        std::copy(at_start.begin(), at_start.end(),
                  before_.begin() + static_cast<std::ptrdiff_t>(op * streams_));
    }
}

void Known::add_end_of(std::vector<std::uint32_t>& counts, std::uint32_t op) const
{
    const auto before = at_start(op);
    for (std::size_t s = 0; s < streams_; ++s)
        counts[s] = std::max(counts[s], before[s]);
    counts[stream_of_[op]] = std::max(counts[stream_of_[op]], position_of_[op] + 1);
}

} // namespace trainyard::engine::replay

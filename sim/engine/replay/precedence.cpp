#include "sim/engine/replay/precedence.h"

#include <algorithm>
#include <numeric>

namespace trainyard::engine::replay {

namespace {

constexpr std::size_t lanes_of_register = 4; // rows are raised that many counts at a time

} // namespace

Precedence::Precedence(const LaneKind& kind, PreviousStep before)
    : streams_(kind.streams.size()),
      width_((streams_ + lanes_of_register - 1) / lanes_of_register * lanes_of_register),
      counts_(kind.op_count * width_),
      issue_order_(kind.op_count),
      position_of_(kind.op_count),
      stream_of_(kind.op_count)
{
    place_ops(kind);
    place_parts(kind);
    find_within_step(kind);
    if (before == PreviousStep::matters)
        find_over_previous_step(kind);
}

void Precedence::place_ops(const LaneKind& kind)
{
    for (std::size_t s = 0; s < streams_; ++s)
        for (std::uint32_t p = 0; p < kind.streams[s].op_count; ++p) {
            const std::uint32_t op = kind.streams[s].op_first + p;
            issue_order_[kind.ops[op].order] = op;
            stream_of_[op] = static_cast<std::uint8_t>(s);
            position_of_[op] = p;
        }
}

void Precedence::place_parts(const LaneKind& kind)
{
    op_of_part_.resize(kind.parts.size());
    for (std::uint32_t o = 0; o < kind.op_count; ++o)
        std::fill_n(op_of_part_.begin() + kind.ops[o].part_first, kind.ops[o].part_count, o);
    pipe_first_.resize(kind.parts_per_step.size());
    std::exclusive_scan(kind.parts_per_step.begin(), kind.parts_per_step.end(), pipe_first_.begin(),
                        0U);
    parts_.resize(kind.parts.size());
    for (std::uint32_t p = 0; p < kind.parts.size(); ++p)
        parts_[pipe_first_[kind.parts[p].pipe] + kind.parts[p].ordinal] = p;
}

// Begins with the counts of the op before it on its stream.
Precedence::Row Precedence::begin_row(std::vector<std::uint32_t>& table, std::uint32_t op) const
{
    const Row here = row(table, op);
    if (position_of_[op] > 0)
        std::copy_n(here - width_, width_, here);
    return here;
}

void Precedence::raise(Row to, const std::uint32_t* from) const
{
    for (std::size_t s = 0; s < width_; s += lanes_of_register)
        for (std::size_t i = s; i < s + lanes_of_register; ++i)
            to[i] = std::max(to[i], from[i]);
}

void Precedence::raise_by_end(Row to, std::uint32_t op) const
{
    raise(to, counts_.data() + std::size_t{op} * width_);
    std::uint32_t& of_stream = to[stream_of_[op]];
    of_stream = std::max(of_stream, position_of_[op] + 1);
}

void Precedence::find_within_step(const LaneKind& kind)
{
    for (const std::uint32_t op : issue_order_) {
        const FlatOp& flat = kind.ops[op];
        const Row here = begin_row(counts_, op);
        here[stream_of_[op]] = position_of_[op];
        for (std::size_t w = 0; w < flat.wait_count; ++w) {
            const StepWait& wait = kind.waits[flat.wait_first + w];
            if (!wait.previous_step)
                raise_by_end(here, kind.streams[wait.stream].op_first + wait.position);
        }
        if (!flat.by_itself && flat.segment > 0)
            raise_by_end(here, barriers_[flat.segment - 1]);
        if (flat.ends_segment)
            barriers_.push_back(op);
    }
}

void Precedence::find_over_previous_step(const LaneKind& kind)
{
    before_.resize(counts_.size());
    for (const std::uint32_t op : issue_order_) {
        const FlatOp& flat = kind.ops[op];
        const Row here = begin_row(before_, op);
        const StreamPlan& stream = kind.streams[stream_of_[op]];
        if (position_of_[op] == 0)
            raise_by_end(here, stream.op_first + stream.op_count - 1);
        for (std::size_t w = 0; w < flat.wait_count; ++w) {
            const StepWait& wait = kind.waits[flat.wait_first + w];
            const std::uint32_t on = kind.streams[wait.stream].op_first + wait.position;
            if (wait.previous_step)
                raise_by_end(here, on);
            else
                raise(here, row(before_, on));
        }
        if (!flat.by_itself && flat.segment > 0)
            raise(here, row(before_, barriers_[flat.segment - 1]));
        else if (!flat.by_itself && !barriers_.empty())
            raise_by_end(here, barriers_.back());
        const Row started = row(counts_, op);
        for (std::size_t s = 0; s < streams_; ++s)
            here[s] = started[s] > 0 ? kind.streams[s].op_count : here[s];
    }
}

void Precedence::add_end_of(std::vector<std::uint32_t>& counts, std::uint32_t op) const
{
    const auto before = at_start(op);
    for (std::size_t s = 0; s < streams_; ++s)
        counts[s] = std::max(counts[s], before[s]);
    counts[stream_of_[op]] = std::max(counts[stream_of_[op]], position_of_[op] + 1);
}

} // namespace trainyard::engine::replay

// Compute that overlapping transfers slow.

#include "sim/engine/replay/interpreter.h"
#include "sim/engine/slowdown.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// When `work` ps x 2^20 that begin at `now` have drained, at what the loads leave; and what is left
// of it at `open`.
Drained drained_on_one(std::span<const LoadSpan> loads, Time now, u128 work, Time open)
{
    Drained drained{0, work};
    for (;;) {
        std::uint64_t lost = 0;
        Time change = longest_sim_time.value();
        for (const LoadSpan& load : loads) {
            if (load.from <= now && now < load.to)
                lost += load.share;
            if (load.from < load.to)
                for (const Time at : {load.from, load.to})
                    if (at > now)
                        change = std::min(change, at);
        }
        const std::uint64_t share = compute_share(lost, 0);
        if (now <= open) {
            const u128 before_open = static_cast<u128>(std::min(change, open) - now) * share;
            drained.left = work - std::min(work, before_open);
        }
        drained.end = now + static_cast<Time>((work + share - 1) / share);
        if (drained.end <= change)
            return drained;
        work -= static_cast<u128>(change - now) * share;
        now = change;
    }
}

} // namespace

Extent Interpreter::range(Value value)
{
    if (range_stamps_[value] != range_stamp_) {
        const Slice slice = lanes(code_.values[value].lane_class);
        ranges_[value] = kernels_.extent(at(value, slice), slice.count);
        range_stamps_[value] = range_stamp_;
    }
    return ranges_[value];
}

std::uint32_t Interpreter::first_after(const OverlapRange& range, Time time)
{
    // Transfers are in the order of their stream, so that their ends ascend.
    const std::vector<Overlap>& list = code_.overlaps[range.list];
    std::uint32_t first = range.first;
    std::uint32_t count = range.end - range.first;
    while (count > 0) {
        const std::uint32_t half = count / 2;
        if (this->range(list[first + half].end).most <= time) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

LoadColumn Interpreter::load_column(const Load& load, const Slice& lanes)
{
    LoadColumn out;
    out.from = at(load.from, lanes);
    if (load.to != none)
        out.to = at(load.to, lanes);
    if (load.delay != nullptr) {
        out.delay_all = load.delay->constant;
        if (!load.delay->column.empty())
            out.delay = load.delay->column.data() + lanes.first;
    }
    out.share_all = load.share->constant;
    if (!load.share->column.empty())
        out.share = load.share->column.data() + lanes.first;
    return out;
}

void Interpreter::compute(const Instr& instr, const Slice& lanes)
{
    const Time* device = write(instr, 1, lanes);
    const auto [first, alone, issued] = begin(instr, lanes);
    near_loads_.clear();
    for (const Load& load : loads_of(code_, instr))
        if (load.to == none || range(load.to).most > first)
            near_loads_.push_back(&load);
    next_overlap_.clear();
    for (OverlapRange range : ranges_of(code_, instr)) {
        range.first = std::min(std::max(range.first, ignored_[range.list]), range.end);
        next_overlap_.push_back(first_after(range, first));
    }
    // A transfer that begins behind the end of the compute does not slow it. The later that end,
    // the more transfers do.
    add_overlaps(instr, alone);
    if (!near_loads_.empty())
        slow(instr, lanes);
    if (instr.write_count > 3)
        drain_keeping_left(instr, lanes);
    Time* end = write(instr, 2, lanes);
    const Time* done = device;
    if (issued || !instr.host_ends)
        std::copy_n(done, lanes.count, end);
    else
        kernels_.latest(end, {&done, 1}, end_issue(instr, lanes), lanes.count);
}

// Slows compute by the near loads, and by those that it runs into when it takes longer.
void Interpreter::slow(const Instr& instr, const Slice& lanes)
{
    const Time* device = write(instr, 1, lanes);
    do
        drain(instr, lanes);
    while (add_overlaps(instr, kernels_.greatest(device, lanes.count)));
    if (!instr.counted || !measured_)
        return;
    Time* slowed = sum(instr.lane_class, static_cast<std::uint32_t>(Sum::slowed), lanes);
    kernels_.add_span(slowed, write(instr, 0, lanes), device, lanes.count);
    kernels_.add_times(slowed, instr.table->times.data() + lanes.first, -1, lanes.count);
}

// Adds the loads of transfers that begin before `last` to the near ones. False if there are no
// more.
bool Interpreter::add_overlaps(const Instr& instr, Time last)
{
    bool some = false;
    const std::span<const OverlapRange> ranges = ranges_of(code_, instr);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
        const OverlapRange& range = ranges[r];
        for (; next_overlap_[r] < range.end; ++next_overlap_[r]) {
            const Overlap& overlap = code_.overlaps[range.list][next_overlap_[r]];
            if (this->range(overlap.start).least >= last)
                break;
            for (const Load& load : loads_of(code_, overlap))
                near_loads_.push_back(&load);
            some = true;
        }
    }
    return some;
}

void Interpreter::drain(const Instr& instr, const Slice& lanes)
{
    load_columns_.clear();
    for (const Load* load : near_loads_)
        load_columns_.push_back(load_column(*load, lanes));
    const Time* from = write(instr, 0, lanes);
    const Time* time = instr.table->times.data() + lanes.first;
    Time* device = write(instr, 1, lanes);
    if (instr.table->greatest < longest_drained) {
        scratch_.resize(std::max(scratch_.size(), near_loads_.size() * drained_lanes));
        block_loads_.resize(std::max(block_loads_.size(), near_loads_.size()));
        return kernels_.drained(device, from, time, load_columns_.data(), load_columns_.size(),
                                {scratch_.data(), block_loads_.data()}, lanes.count);
    }
    for (std::size_t i = 0; i < lanes.count; ++i)
        device[i] = drain_one(from[i], static_cast<u128>(time[i]) * full_share, i, 0).end;
}

// Writes what is left of the work when the step before ends.
void Interpreter::drain_keeping_left(const Instr& instr, const Slice& lanes)
{
    if (near_loads_.empty())
        load_columns_.clear();
    const Time* from = write(instr, 0, lanes);
    const Time* time = instr.table->times.data() + lanes.first;
    const Time* opened = at(code_.inputs[instr.lane_class].opened, lanes);
    Time* left = write(instr, 3, lanes);
    for (std::size_t i = 0; i < lanes.count; ++i)
        left[i] = static_cast<Time>(
            drain_one(from[i], static_cast<u128>(time[i]) * full_share, i, opened[i]).left);
}

Drained Interpreter::drain_one(Time from, u128 work, std::size_t lane, Time opened)
{
    spans_.clear();
    for (const LoadColumn& load : load_columns_)
        spans_.push_back(
            {load.from[lane] + (load.delay ? load.delay[lane] : load.delay_all),
             load.to ? load.to[lane] : longest_sim_time.value(),
             static_cast<std::uint64_t>(load.share ? load.share[lane] : load.share_all)});
    return drained_on_one(spans_, from, work, opened);
}

} // namespace trainyard::engine::replay

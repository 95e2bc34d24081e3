#include "sim/report/timeline/timeline.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

// In units of the resolution: gaps that a pass may have, and parts that can be told apart.
constexpr std::int64_t pass_gap = 4;
constexpr std::int64_t visible_part = 8;

// A slice that grows, and how long each kind takes in it.
class Growing {
public:
    explicit Growing(Slice slice) : slice_(std::move(slice)) { count(slice_); }

    const Slice& slice() const { return slice_; }
    SimTime length() const { return slice_.end - slice_.start; }

    void join(const Slice& next)
    {
        slice_.end = std::max(slice_.end, next.end);
        slice_.busy += next.busy;
        slice_.ops += next.ops;
        if (slice_.micro_batch != next.micro_batch)
            slice_.micro_batch = BlockUse::no_index;
        count(next);
        const auto longest = std::max_element(time_.begin(), time_.end());
        const auto kind = static_cast<TimeKind>(longest - time_.begin());
        if (kind == next.kind && kind != slice_.kind)
            slice_.title = next.title;
        slice_.kind = kind;
    }

private:
    void count(const Slice& slice) { time_[static_cast<std::size_t>(slice.kind)] += slice.busy; }

    Slice slice_;
    std::array<SimTime, time_kind_count> time_{};
};

bool is_backward(TimeKind kind)
{
    return kind == TimeKind::backward || kind == TimeKind::recompute;
}

// Whether `next` continues what `last` shows.
bool belongs_together(const Slice& last, const Slice& next, SimTime resolution)
{
    const SimTime gap = next.start - last.end;
    if (last.micro_batch != next.micro_batch)
        return false;
    if (last.kind == next.kind)
        return gap <= (last.micro_batch == BlockUse::no_index ? resolution : resolution * pass_gap);
    const SimTime shorter = std::min(last.end - last.start, next.end - next.start);
    return is_backward(last.kind) && is_backward(next.kind) && gap <= resolution * pass_gap &&
           shorter < resolution * visible_part;
}

std::vector<Slice> joined_passes(const std::vector<Slice>& slices, SimTime resolution)
{
    std::vector<Growing> passes;
    for (const Slice& slice : slices) {
        if (!passes.empty() && belongs_together(passes.back().slice(), slice, resolution))
            passes.back().join(slice);
        else
            passes.emplace_back(slice);
    }
    std::vector<Slice> out;
    for (const Growing& pass : passes)
        out.push_back(pass.slice());
    return out;
}

} // namespace

std::vector<Slice> merged(const std::vector<Slice>& slices, SimTime resolution)
{
    std::vector<Growing> out;
    for (const Slice& slice : joined_passes(slices, resolution)) {
        const bool gathers = !out.empty() && slice.end - slice.start < resolution &&
                             out.back().length() < resolution &&
                             slice.start - out.back().slice().end <= resolution;
        if (gathers)
            out.back().join(slice);
        else
            out.emplace_back(slice);
    }
    std::vector<Slice> finished;
    for (const Growing& slice : out)
        finished.push_back(slice.slice());
    return finished;
}

} // namespace trainyard

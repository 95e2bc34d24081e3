// Compute that transfers beside it slow.

#include "sim/engine/interference.h"
#include "sim/engine/replay/player.h"

#include <algorithm>

namespace trainyard::engine::replay {

namespace {

// A load on one lane.
struct LoadSpan {
    Time from;
    Time to;
    std::uint64_t share;
};

struct Drained {
    Time end = 0;
    u128 left = 0; // at `open`, in ps x 2^20
};

// When `work` ps x 2^20 that begin at `now` have drained, at what the loads leave; and what is left
// of it at `open`.
Drained drain(std::span<const LoadSpan> loads, Time now, u128 work, Time open)
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

Player::Range Player::range(Value value)
{
    if (range_stamps_[value] != range_stamp_) {
        const Slice slice = lanes(tape_.values[value].cohort);
        const Time* first = column(value) + slice.first;
        ranges_[value] = {kernels_.least(first, slice.count),
                          kernels_.greatest(first, slice.count)};
        range_stamps_[value] = range_stamp_;
    }
    return ranges_[value];
}

void Player::compute(const Instr& instr, const Slice& lanes)
{
    const std::size_t end_lane = lanes.first + lanes.count;
    const Time* from = read(instr, 0);
    const Time* time = instr.table->times.data();
    Time* device = write(instr, 0);
    Time* left = write(instr, 2);
    const Time* opened = column(tape_.inputs[instr.cohort].opened);
    const Time first = kernels_.least(from + lanes.first, lanes.count);
    std::vector<const Load*> near; // that are not over before any of this begins
    for (std::uint32_t l = 0; l < instr.load_count; ++l) {
        const Load& load = tape_.loads[instr.load_first + l];
        if (load.to == none || range(load.to).most > first)
            near.push_back(&load);
    }
    std::vector<LoadSpan> loads(near.size());
    for (std::size_t i = lanes.first; i < end_lane; ++i) {
        for (std::size_t l = 0; l < near.size(); ++l) {
            const Load& load = *near[l];
            loads[l] = {column(load.from)[i] + (load.delay != nullptr ? load.delay->of(i) : 0),
                        load.to != none ? column(load.to)[i] : longest_sim_time.value(),
                        static_cast<std::uint64_t>(load.share->of(i))};
        }
        const Drained drained =
            drain(loads, from[i], static_cast<u128>(time[i]) * full_share, opened[i]);
        device[i] = drained.end;
        left[i] = static_cast<Time>(drained.left);
    }
    Time* end = write(instr, 1);
    std::copy_n(device + lanes.first, lanes.count, end + lanes.first);
    if (instr.base == none)
        return;
    const Time* base = column(instr.base);
    for (std::size_t i = lanes.first; i < end_lane; ++i)
        end[i] = std::max(end[i], base[i] + instr.constant +
                                      (instr.table2 != nullptr ? instr.table2->times[i] : 0));
}

} // namespace trainyard::engine::replay

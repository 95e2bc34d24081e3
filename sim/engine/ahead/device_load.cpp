#include "sim/engine/ahead/device_load.h"

#include "sim/engine/slowdown.h"

#include <algorithm>

namespace trainyard::engine::ahead {

namespace {

constexpr std::size_t many_forgotten = 64;

Time time_to_drain(u128 work, std::uint32_t share)
{
    if (share == full_share)
        return static_cast<Time>((work + full_share - 1) >> 20);
    if (work >> 63 == 0)
        return static_cast<Time>((static_cast<std::uint64_t>(work) + share - 1) / share);
    return time_to_finish(Work{work}, ByteRate(share)).value();
}

} // namespace

void DeviceLoad::add(Time at, std::int64_t change)
{
    if (change == 0)
        return;
    if (at <= forgotten_) {
        base_ += change;
        return;
    }
    auto place = changes_.end();
    while (place != changes_.begin() + static_cast<std::ptrdiff_t>(first_) &&
           std::prev(place)->at > at)
        --place;
    changes_.insert(place, {at, change});
}

void DeviceLoad::forget(Time time)
{
    if (time <= forgotten_)
        return;
    forgotten_ = time;
    while (first_ < changes_.size() && changes_[first_].at <= time)
        base_ += changes_[first_++].amount;
    if (first_ == changes_.size()) {
        changes_.clear();
        first_ = 0;
    } else if (first_ > many_forgotten) {
        changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
}

bool DeviceLoad::idle(Time begin, Time end) const
{
    std::int64_t lost = base_;
    std::size_t i = first_;
    for (; i < changes_.size() && changes_[i].at <= begin; ++i)
        lost += changes_[i].amount;
    return lost == 0 && (i == changes_.size() || changes_[i].at >= end);
}

template <class Visit>
void DeviceLoad::for_each_piece(Time begin, const Visit& visit) const
{
    std::int64_t lost = base_;
    std::size_t i = first_;
    for (; i < changes_.size() && changes_[i].at <= begin; ++i)
        lost += changes_[i].amount;
    for (Time from = begin;;) {
        const Time to = i < changes_.size() ? changes_[i].at : never;
        if (!visit(compute_share(static_cast<std::uint64_t>(lost), 0), from, to))
            return;
        for (; i < changes_.size() && changes_[i].at == to; ++i)
            lost += changes_[i].amount;
        from = to;
    }
}

Time DeviceLoad::end_of(Time begin, u128 work) const
{
    Time end = begin;
    for_each_piece(begin, [&](std::uint32_t share, Time from, Time to) {
        const Time needed = time_to_drain(work, share);
        end = from + needed;
        if (needed <= to - from)
            return false;
        work -= static_cast<u128>(share) * static_cast<u128>(to - from);
        return true;
    });
    return end;
}

u128 DeviceLoad::left_at(Time time, Time begin, u128 work) const
{
    for_each_piece(begin, [&](std::uint32_t share, Time from, Time to) {
        const Time until = std::min(to, time);
        if (until <= from)
            return false;
        work = remaining_after(Work{work}, ByteRate(share), SimTime(until - from)).value;
        return until < time;
    });
    return work;
}

} // namespace trainyard::engine::ahead

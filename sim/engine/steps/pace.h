#pragma once

// How the time of a collective is divided among its rounds.
//
// Alone it takes latency + work / ceiling = T(S). Of R rounds the first n take floor(n/R) of the
// latency and of the whole picoseconds of draining, so that all of them take T(S) exactly; what is
// left of the work beside whole picoseconds belongs to the last one.

#include "sim/base/exact.h"

#include <algorithm>

namespace trainyard::engine {

class Pace {
public:
    Pace() = default;
    // Requires rounds >= 1, and ceiling > 0 unless work is 0.
    Pace(Work work, ByteRate ceiling, SimTime latency, std::uint32_t rounds)
        : ceiling_(ceiling.value()), rounds_(rounds), latency_(whole(latency), rounds)
    {
        if (work.value == 0)
            return;
        draining_ = Parts(static_cast<std::uint64_t>(work.value / ceiling_), rounds);
        rest_ = static_cast<std::uint64_t>(work.value % ceiling_);
    }

    u128 work(std::uint32_t round) const
    {
        const std::uint64_t time = draining_.before(round + 1) - draining_.before(round);
        return static_cast<u128>(time) * ceiling_ + (round + 1 == rounds_ ? rest_ : 0);
    }
    // Of this round and all behind it.
    u128 work_from(std::uint32_t round) const
    {
        if (round >= rounds_)
            return 0;
        const std::uint64_t time = draining_.before(rounds_) - draining_.before(round);
        return static_cast<u128>(time) * ceiling_ + rest_;
    }
    SimTime latency(std::uint32_t round) const
    {
        return span_of(latency_.before(round + 1) - latency_.before(round));
    }

    // Where someone is that has been draining at the ceiling, round after round, for `time`.
    struct Place {
        std::uint32_t round = 0;
        u128 left = 0; // of the round's work
    };
    Place place_after(SimTime time) const
    {
        const std::uint64_t drained = whole(time);
        const std::uint32_t round = std::min(draining_.rounds_within(drained), rounds_ - 1);
        const u128 done = static_cast<u128>(drained - draining_.before(round)) * ceiling_;
        return {round, work(round) - done};
    }

    bool operator==(const Pace&) const = default;

private:
    static std::uint64_t whole(SimTime time) { return static_cast<std::uint64_t>(time.value()); }

    // A count of picoseconds in `rounds` parts: before the n-th lie floor(count n / rounds).
    struct Parts {
        Parts() = default;
        Parts(std::uint64_t count, std::uint32_t rounds)
            : each(count / rounds), rest(count % rounds), parts(rounds)
        {}

        std::uint64_t before(std::uint64_t round) const
        {
            return each * round + rest * round / parts;
        }
        // The most rounds that end within `time`.
        std::uint32_t rounds_within(std::uint64_t time) const
        {
            const u128 count = static_cast<u128>(each) * parts + rest;
            if (time >= count)
                return parts;
            // floor(count n / parts) <= time  <=>  count n < (time + 1) parts
            return static_cast<std::uint32_t>(((static_cast<u128>(time) + 1) * parts - 1) / count);
        }

        bool operator==(const Parts&) const = default;

        std::uint64_t each = 0;
        std::uint64_t rest = 0;
        std::uint32_t parts = 1;
    };

    std::uint64_t ceiling_ = 0;
    std::uint64_t rest_ = 0;
    std::uint32_t rounds_ = 1;
    Parts latency_;
    Parts draining_;
};

} // namespace trainyard::engine

// Compute that transfers slow: part of kernels_body.h.

constexpr Time full = Time{1} << 20;
constexpr Time least_left = full / 20;             // as least_share of slowdown.h
constexpr Time longest_span = (Time{1} << 43) - 1; // longer than any compute that is drained here

// Adds what takes effect now, and when the next thing changes.
void add_load(Time* __restrict share, Time* __restrict change, const Time* __restrict now,
              const BlockLoad& load, std::size_t n)
{
    const Time* __restrict from = load.from;
    const Time* __restrict to = load.to;
    const Time* __restrict lost = load.share;
    const Time all = load.share_all;
    for (std::size_t i = 0; i < n; ++i) {
        const Time next = from[i] > now[i] ? from[i] : to[i] > now[i] ? to[i] : never;
        change[i] = next < change[i] ? next : change[i];
    }
    if (lost == nullptr)
        for (std::size_t i = 0; i < n; ++i)
            share[i] += from[i] <= now[i] && now[i] < to[i] ? all : 0;
    else
        for (std::size_t i = 0; i < n; ++i)
            share[i] += from[i] <= now[i] && now[i] < to[i] ? lost[i] : 0;
}

// On n <= drained_lanes lanes.
void drain(Time* __restrict done, const Time* __restrict from, const Time* __restrict work,
           const BlockLoad* loads, std::size_t count, std::size_t n)
{
    Time now[drained_lanes];
    Time left[drained_lanes]; // ps x 2^20
    Time share[drained_lanes];
    Time change[drained_lanes];
    for (std::size_t i = 0; i < n; ++i) {
        now[i] = from[i];
        left[i] = work[i] << 20;
    }
    for (bool again = true; again;) {
        for (std::size_t i = 0; i < n; ++i) {
            share[i] = 0;
            change[i] = never;
        }
        for (std::size_t l = 0; l < count; ++l)
            add_load(share, change, now, loads[l], n);
        Time late = 0; // < 0: somewhere it goes on
        for (std::size_t i = 0; i < n; ++i) {
            share[i] = full - share[i] < least_left ? least_left : full - share[i];
            const Time span = change[i] - now[i] < longest_span ? change[i] - now[i] : longest_span;
            const Time drains = span * share[i];
            const bool over = left[i] <= drains;
            late |= drains - left[i];
            left[i] -= over ? 0 : drains;
            now[i] = over ? now[i] : change[i];
        }
        again = late < 0;
    }
    // Rounded up. The quotient of doubles is off by one at most.
    for (std::size_t i = 0; i < n; ++i) {
        const Time quotient =
            static_cast<Time>(static_cast<double>(left[i]) / static_cast<double>(share[i]));
        const Time rest = left[i] - quotient * share[i];
        done[i] = now[i] + quotient + (rest > 0 ? 1 : 0) - (rest <= -share[i] ? 1 : 0);
    }
}

// Whether the load is over when the work begins, or begins behind `times` the work, on all lanes.
bool misses(const BlockLoad& load, const Time* __restrict from, const Time* __restrict work,
            Time times, std::size_t n)
{
    const Time* __restrict begin = load.from;
    const Time* __restrict end = load.to;
    Time beside = 0; // < 0: somewhere not
    for (std::size_t i = 0; i < n; ++i)
        beside |= (from[i] - end[i]) & (begin[i] - (from[i] + work[i] * times));
    return beside >= 0;
}

void drained(Time* __restrict done, const Time* __restrict from, const Time* __restrict work,
             const LoadColumn* loads, std::size_t count, const DrainScratch& scratch, std::size_t n)
{
    Time lost = 0; // at most
    for (std::size_t l = 0; l < count; ++l)
        lost += loads[l].share != nullptr ? full : loads[l].share_all;
    const Time share = full - lost < least_left ? least_left : full - lost;
    const Time times = (full + share - 1) / share; // as long as it takes alone, at most
    Time forever[drained_lanes];
    for (std::size_t i = 0; i < drained_lanes; ++i)
        forever[i] = never;
    for (std::size_t first = 0; first < n; first += drained_lanes) {
        const std::size_t lanes = n - first < drained_lanes ? n - first : drained_lanes;
        std::size_t near = 0;
        for (std::size_t l = 0; l < count; ++l) {
            const LoadColumn& load = loads[l];
            const Time* __restrict start = load.from + first;
            Time* __restrict begin = scratch.times + near * drained_lanes;
            if (load.delay != nullptr)
                sum(begin, start, load.delay + first, lanes);
            else if (load.delay_all != 0)
                shifted(begin, start, load.delay_all, lanes);
            BlockLoad& block = scratch.loads[near];
            block.from = load.delay != nullptr || load.delay_all != 0 ? begin : start;
            block.to = load.to != nullptr ? load.to + first : forever;
            block.share = load.share != nullptr ? load.share + first : nullptr;
            block.share_all = load.share_all;
            near += misses(block, from + first, work + first, times, lanes) ? 0 : 1;
        }
        if (near == 0)
            sum(done + first, from + first, work + first, lanes);
        else
            drain(done + first, from + first, work + first, scratch.loads, near, lanes);
    }
}

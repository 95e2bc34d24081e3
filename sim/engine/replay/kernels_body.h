// The loops of kernels.h. Each kernels_*.cpp includes this in a namespace of its own, built with
// its own flags: nothing here may be shared between them, not even a template of the library, of
// which the linker would keep one for all.

namespace {

constexpr Time never = Time{1} << 62;
constexpr Time full = Time{1} << 20;
constexpr Time least_left = full / 20;             // as least_share of interference.h
constexpr Time longest_span = (Time{1} << 43) - 1; // longer than any compute that is drained here

inline Time later(Time a, Time b)
{
    return a > b ? a : b;
}

void shifted(Time* __restrict to, const Time* __restrict from, Time constant, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        to[i] = from[i] + constant;
}

void sum(Time* __restrict to, const Time* __restrict from, const Time* __restrict by, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        to[i] = from[i] + by[i];
}

void raise(Time* __restrict to, const Time* __restrict from, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        to[i] = later(to[i], from[i]);
}

void latest(Time* __restrict to, const Columns& columns, const IssueSpan& issue, std::size_t n)
{
    const Time constant = issue.constant;
    const Time* __restrict base = issue.base;
    const Time* const* from = columns.first;
    const std::size_t count = columns.count;
    std::size_t done = 0;
    if (base != nullptr && count == 0) {
        shifted(to, base, constant, n);
    } else if (base != nullptr && count == 1) {
        const Time* __restrict first = from[0];
        for (std::size_t i = 0; i < n; ++i)
            to[i] = later(first[i], base[i] + constant);
        done = 1;
    } else if (base != nullptr) {
        const Time* __restrict first = from[0];
        const Time* __restrict second = from[1];
        for (std::size_t i = 0; i < n; ++i)
            to[i] = later(later(first[i], second[i]), base[i] + constant);
        done = 2;
    } else if (count == 1) {
        shifted(to, from[0], 0, n);
        done = 1;
    } else {
        const Time* __restrict first = from[0];
        const Time* __restrict second = from[1];
        for (std::size_t i = 0; i < n; ++i)
            to[i] = later(first[i], second[i]);
        done = 2;
    }
    for (; done < count; ++done)
        raise(to, from[done], n);
    if (const Time* __restrict more = issue.more)
        for (std::size_t i = 0; i < n; ++i)
            to[i] = later(to[i], base[i] + constant + more[i]);
}

// From where they start on.
Begun go_on(Time* __restrict done, const Time* __restrict start, const Time* __restrict base,
            Time last, const Time* __restrict by, std::size_t n)
{
    Time least = never;
    Time most = -never;
    Time apart = 0; // < 0: somewhere the host is behind
    for (std::size_t i = 0; i < n; ++i) {
        const Time over = start[i] + by[i];
        done[i] = over;
        least = start[i] < least ? start[i] : least;
        most = later(most, over);
        apart |= start[i] - (base[i] + last);
    }
    return {least, most, apart >= 0};
}

Begun begin(Time* __restrict start, Time* __restrict done, const Columns& columns,
            const IssueSpan& issue, Time last, const Time* __restrict by, std::size_t n)
{
    const Time* __restrict base = issue.base;
    const Time constant = issue.constant;
    if (columns.count != 1) {
        latest(start, columns, issue, n);
        return go_on(done, start, base, last, by, n);
    }
    const Time* __restrict from = columns.first[0];
    Time least = never;
    Time most = -never;
    Time apart = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Time at = later(from[i], base[i] + constant);
        const Time over = at + by[i];
        start[i] = at;
        done[i] = over;
        least = at < least ? at : least;
        most = later(most, over);
        apart |= at - (base[i] + last);
    }
    return {least, most, apart >= 0};
}

void timed(Time* __restrict to, const Time* __restrict from, const Time* __restrict by,
           const IssueSpan& issue, std::size_t n)
{
    const Time constant = issue.constant;
    const Time* __restrict base = issue.base;
    const Time* __restrict more = issue.more;
    if (base == nullptr)
        sum(to, from, by, n);
    else if (more == nullptr)
        for (std::size_t i = 0; i < n; ++i)
            to[i] = later(from[i] + by[i], base[i] + constant);
    else
        for (std::size_t i = 0; i < n; ++i)
            to[i] = later(from[i] + by[i], base[i] + constant + more[i]);
}

void add_times(Time* __restrict to, const Time* __restrict by, Time times, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        to[i] += by[i] * times;
}

void meet(Time* __restrict begin, Time* __restrict end, const Time* __restrict here,
          const Time* __restrict there, const Time* __restrict by, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        const Time both = later(here[i], there[i]);
        begin[i] = both;
        end[i] = both + by[i];
    }
}

void add_span(Time* __restrict sum, const Time* __restrict from, const Time* __restrict to,
              std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        sum[i] += to[i] - from[i];
}

// Rows of a size known when built: each is one or two registers.
template <std::size_t size>
void meet_short_rows(Time* __restrict begin, Time* __restrict end, const Time* __restrict from,
                     const Time* __restrict by, std::size_t rows)
{
    for (std::size_t row = 0; row < rows; ++row) {
        Time latest = from[row * size];
        for (std::size_t m = 1; m < size; ++m)
            latest = later(latest, from[row * size + m]);
        const Time over = latest + by[row];
        for (std::size_t m = 0; m < size; ++m)
            begin[row * size + m] = latest;
        for (std::size_t m = 0; m < size; ++m)
            end[row * size + m] = over;
    }
}

template <std::size_t size>
void meet_short_rows(Time* __restrict begin, Time* __restrict end, const Time* __restrict from,
                     const Time* __restrict by, Time* __restrict waiting, std::size_t rows)
{
    for (std::size_t row = 0; row < rows; ++row) {
        Time latest = from[row * size];
        for (std::size_t m = 1; m < size; ++m)
            latest = later(latest, from[row * size + m]);
        const Time over = latest + by[row];
        for (std::size_t m = 0; m < size; ++m)
            begin[row * size + m] = latest;
        for (std::size_t m = 0; m < size; ++m)
            end[row * size + m] = over;
        for (std::size_t m = 0; m < size; ++m)
            waiting[row * size + m] += latest - from[row * size + m];
    }
}

template <std::size_t size>
void meet_even_rows(Time* begin, Time* end, const Time* from, const Time* by, Time* waiting,
                    std::size_t rows)
{
    if (waiting == nullptr)
        meet_short_rows<size>(begin, end, from, by, rows);
    else
        meet_short_rows<size>(begin, end, from, by, waiting, rows);
}

void meet_rows(Time* __restrict begin, Time* __restrict end, const Time* __restrict from,
               const Time* __restrict by, Time* __restrict waiting, std::size_t size, std::size_t n)
{
    const std::size_t rows = n / size;
    if (size == 8)
        return meet_even_rows<8>(begin, end, from, by, waiting, rows);
    if (size == 4)
        return meet_even_rows<4>(begin, end, from, by, waiting, rows);
    if (size == 2)
        return meet_even_rows<2>(begin, end, from, by, waiting, rows);
    for (std::size_t row = 0; row < rows; ++row) {
        Time latest = from[row * size];
        for (std::size_t m = 1; m < size; ++m)
            latest = later(latest, from[row * size + m]);
        for (std::size_t m = 0; m < size; ++m) {
            begin[row * size + m] = latest;
            end[row * size + m] = latest + by[row];
        }
    }
    if (waiting != nullptr)
        add_span(waiting, from, begin, rows * size);
}

void charge(Time* __restrict until, const Time* __restrict from, const Time* __restrict value,
            Time* __restrict sum, std::size_t n)
{
    if (sum == nullptr)
        for (std::size_t i = 0; i < n; ++i)
            until[i] = later(from[i], value[i]);
    else if (until == nullptr)
        for (std::size_t i = 0; i < n; ++i)
            sum[i] += later(from[i], value[i]) - from[i];
    else
        for (std::size_t i = 0; i < n; ++i) {
            const Time to = later(from[i], value[i]);
            sum[i] += to - from[i];
            until[i] = to;
        }
}

void charge_transfer(Time* __restrict until, const Time* __restrict from,
                     const TransferTimes& times, Time* __restrict waiting, Time* __restrict exposed,
                     std::size_t n)
{
    const Time* __restrict start = times.start;
    const Time* __restrict begin = times.begin;
    const Time* __restrict end = times.end;
    if (until == nullptr)
        for (std::size_t i = 0; i < n; ++i) {
            const Time arrived = later(from[i], start[i]);
            const Time moves = later(arrived, begin[i]);
            waiting[i] += moves - arrived;
            exposed[i] += later(moves, end[i]) - moves;
        }
    else
        for (std::size_t i = 0; i < n; ++i) {
            const Time arrived = later(from[i], start[i]);
            const Time moves = later(arrived, begin[i]);
            const Time over = later(moves, end[i]);
            waiting[i] += moves - arrived;
            exposed[i] += over - moves;
            until[i] = over;
        }
}

bool ordered(const Time* __restrict first, const Time* __restrict second, std::size_t n)
{
    Time apart = 0; // < 0: somewhere not
    for (std::size_t i = 0; i < n; ++i)
        apart |= second[i] - first[i];
    return apart >= 0;
}

bool reached(const Time* __restrict root, const Time* __restrict value, Time constant,
             const Time* __restrict by, std::size_t n)
{
    Time apart = 0;
    for (std::size_t i = 0; i < n; ++i)
        apart |= root[i] - (value[i] + constant + by[i]);
    return apart >= 0;
}

void limit(Time* __restrict limit, const Time* __restrict value, Time constant,
           const Time* __restrict by, std::size_t n)
{
    if (by == nullptr)
        for (std::size_t i = 0; i < n; ++i)
            limit[i] = later(limit[i], constant - value[i]);
    else
        for (std::size_t i = 0; i < n; ++i)
            limit[i] = later(limit[i], constant + by[i] - value[i]);
}

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

bool apart(const Time* __restrict root, const Time* __restrict first, const Time* __restrict last,
           const LoadColumn& load, std::size_t n)
{
    const Time* __restrict from = load.from;
    const Time* __restrict to = load.to;
    const Time* __restrict delay = load.delay;
    Time beside = 0; // < 0: somewhere
    if (delay == nullptr)
        for (std::size_t i = 0; i < n; ++i)
            beside |=
                (root[i] + first[i] - to[i]) & (from[i] + load.delay_all - (root[i] + last[i]));
    else
        for (std::size_t i = 0; i < n; ++i)
            beside |= (root[i] + first[i] - to[i]) & (from[i] + delay[i] - (root[i] + last[i]));
    return beside >= 0;
}

Extent extent(const Time* __restrict from, std::size_t n)
{
    Time least = from[0];
    Time most = from[0];
    for (std::size_t i = 1; i < n; ++i) {
        least = from[i] < least ? from[i] : least;
        most = later(most, from[i]);
    }
    return {least, most};
}

Time least(const Time* __restrict from, std::size_t n)
{
    Time least = from[0];
    for (std::size_t i = 1; i < n; ++i)
        least = from[i] < least ? from[i] : least;
    return least;
}

Time greatest(const Time* __restrict from, std::size_t n)
{
    Time greatest = from[0];
    for (std::size_t i = 1; i < n; ++i)
        greatest = later(greatest, from[i]);
    return greatest;
}

} // namespace

extern const Kernels kernels;
const Kernels kernels{.name = TRAINYARD_KERNELS,
                      .latest = latest,
                      .begin = begin,
                      .timed = timed,
                      .shifted = shifted,
                      .sum = sum,
                      .add_times = add_times,
                      .raise = raise,
                      .meet = meet,
                      .meet_rows = meet_rows,
                      .add_span = add_span,
                      .charge = charge,
                      .charge_transfer = charge_transfer,
                      .ordered = ordered,
                      .reached = reached,
                      .limit = limit,
                      .drained = drained,
                      .apart = apart,
                      .extent = extent,
                      .least = least,
                      .greatest = greatest};

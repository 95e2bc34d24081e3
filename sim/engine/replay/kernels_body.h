// The loops of kernels.h. Each kernels_*.cpp includes this in a namespace of its own, built with
// its own flags: nothing here may be shared between them, not even a template of the library, of
// which the linker would keep one for all.

namespace {

constexpr Time never = Time{1} << 62;

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
StartBounds go_on(Time* __restrict done, const Time* __restrict start, const Time* __restrict base,
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

StartBounds begin(Time* __restrict start, Time* __restrict done, const Columns& columns,
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

void rendezvous(Time* __restrict begin, Time* __restrict end, const Time* __restrict here,
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
template <std::size_t size, bool counts>
void rendezvous_short_rows(Time* __restrict begin, Time* __restrict end,
                           const Time* __restrict from, const Time* __restrict by,
                           [[maybe_unused]] Time* __restrict waiting, std::size_t rows)
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
        if constexpr (counts)
            for (std::size_t m = 0; m < size; ++m)
                waiting[row * size + m] += latest - from[row * size + m];
    }
}

template <std::size_t size>
void rendezvous_even_rows(Time* begin, Time* end, const Time* from, const Time* by, Time* waiting,
                          std::size_t rows)
{
    if (waiting == nullptr)
        rendezvous_short_rows<size, false>(begin, end, from, by, waiting, rows);
    else
        rendezvous_short_rows<size, true>(begin, end, from, by, waiting, rows);
}

void rendezvous_rows(Time* __restrict begin, Time* __restrict end, const Time* __restrict from,
                     const Time* __restrict by, Time* __restrict waiting, std::size_t size,
                     std::size_t n)
{
    const std::size_t rows = n / size;
    if (size == 8)
        return rendezvous_even_rows<8>(begin, end, from, by, waiting, rows);
    if (size == 4)
        return rendezvous_even_rows<4>(begin, end, from, by, waiting, rows);
    if (size == 2)
        return rendezvous_even_rows<2>(begin, end, from, by, waiting, rows);
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

#include "sim/engine/replay/kernels_drain.h"

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
                      .rendezvous = rendezvous,
                      .rendezvous_rows = rendezvous_rows,
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

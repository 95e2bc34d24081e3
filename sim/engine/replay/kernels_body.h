// The loops of kernels.h. Each kernels_*.cpp includes this in a namespace of its own, built with
// its own flags: nothing here may be shared between them, not even a template of the library, of
// which the linker would keep one for all.

namespace {

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

void meet_rows(Time* __restrict begin, Time* __restrict end, const Time* __restrict from,
               const Time* __restrict by, std::size_t size, std::size_t n)
{
    const std::size_t rows = n / size;
    if (size == 8)
        return meet_short_rows<8>(begin, end, from, by, rows);
    if (size == 4)
        return meet_short_rows<4>(begin, end, from, by, rows);
    if (size == 2)
        return meet_short_rows<2>(begin, end, from, by, rows);
    for (std::size_t row = 0; row < rows; ++row) {
        Time latest = from[row * size];
        for (std::size_t m = 1; m < size; ++m)
            latest = later(latest, from[row * size + m]);
        for (std::size_t m = 0; m < size; ++m) {
            begin[row * size + m] = latest;
            end[row * size + m] = latest + by[row];
        }
    }
}

void add_span(Time* __restrict sum, const Time* __restrict from, const Time* __restrict to,
              std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        sum[i] += to[i] - from[i];
}

void charge(Time* __restrict until, const Time* __restrict value, Time* __restrict sum,
            std::size_t n)
{
    if (sum == nullptr)
        return raise(until, value, n);
    for (std::size_t i = 0; i < n; ++i) {
        const Time to = later(until[i], value[i]);
        sum[i] += to - until[i];
        until[i] = to;
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
const Kernels kernels{TRAINYARD_KERNELS, latest,  timed,     shifted,  sum,
                      add_times,         meet,    meet_rows, add_span, charge,
                      ordered,           reached, limit,     least,    greatest};

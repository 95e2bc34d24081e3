#pragma once

// The loops over lanes that the replay spends its time in, built for several instruction sets. All
// give the same numbers, bit for bit; they differ in speed.
//
// Each loop is over `n` lanes. What it writes shares no memory with what it reads, unless it says
// so.

#include <cstddef>
#include <cstdint>
#include <span>

namespace trainyard::engine::replay {

using Time = std::int64_t; // ps

// When a host has issued: base + constant + more (null: 0), more >= 0. No base: at once.
struct IssueSpan {
    const Time* base = nullptr;
    Time constant = 0;
    const Time* more = nullptr;
};

struct Columns {
    const Time* const* first = nullptr;
    std::size_t count = 0;
};

// What takes a share of compute from `from` + delay until `to`.
struct LoadColumn {
    const Time* from = nullptr;
    const Time* delay = nullptr; // null: delay_all
    Time delay_all = 0;
    const Time* to = nullptr;    // null: longer than the compute lasts
    const Time* share = nullptr; // of 2^20; null: share_all
    Time share_all = 0;
};

// When a transfer arrives, moves data and ends.
struct TransferTimes {
    const Time* start;
    const Time* begin;
    const Time* end;
};

// Only compute of less than this many ps is drained by a kernel, so that 2^20 times as much can be
// divided.
inline constexpr Time longest_drained = Time{1} << 38;

inline constexpr std::size_t drained_lanes = 64;

// A load on at most drained_lanes lanes.
struct BlockLoad {
    const Time* from = nullptr;
    const Time* to = nullptr;
    const Time* share = nullptr; // null: share_all
    Time share_all = 0;
};

// The working memory of a drain, for each load.
struct DrainScratch {
    Time* times = nullptr; // drained_lanes each
    BlockLoad* loads = nullptr;
};

// Bounds of an op over all lanes: the least start, the greatest end if nothing slows it, and
// whether the host has issued the last of its kernels by then everywhere.
struct StartBounds {
    Time least = 0;
    Time most = 0;
    bool issued = false;
};

// The range of the times in a column.
struct Extent {
    Time least = 0;
    Time most = 0;
};

struct Kernels {
    const char* name;

    // to = the latest of the columns and the issue; at least one of them.
    void (*latest)(Time* to, const Columns& from, const IssueSpan& issue, std::size_t n);
    // start = the latest of the columns and the issue, done = start + by. `last`: as the constant
    // of the issue, for the last kernel.
    StartBounds (*begin)(Time* start, Time* done, const Columns& from, const IssueSpan& issue,
                         Time last, const Time* by, std::size_t n);
    // to = max(from + by, issue)
    void (*timed)(Time* to, const Time* from, const Time* by, const IssueSpan& issue,
                  std::size_t n);
    // to = from + constant
    void (*shifted)(Time* to, const Time* from, Time constant, std::size_t n);
    // to = from + by
    void (*sum)(Time* to, const Time* from, const Time* by, std::size_t n);
    // to += by x times
    void (*add_times)(Time* to, const Time* by, Time times, std::size_t n);
    // to = max(to, from)
    void (*raise)(Time* to, const Time* from, std::size_t n);
    // begin = max(here, there), end = begin + by
    void (*rendezvous)(Time* begin, Time* end, const Time* here, const Time* there, const Time* by,
                       std::size_t n);
    // Rows of `size` lanes each: begin = the latest of the row, end = begin + by of the row;
    // waiting (null: nothing) += begin - from
    void (*rendezvous_rows)(Time* begin, Time* end, const Time* from, const Time* by, Time* waiting,
                            std::size_t size, std::size_t n);
    // sum += to - from
    void (*add_span)(Time* sum, const Time* from, const Time* to, std::size_t n);
    // until (null: nowhere) = max(from, value); sum (null: nothing) += until - from
    void (*charge)(Time* until, const Time* from, const Time* value, Time* sum, std::size_t n);
    // Three charges at once: the time until the start to nobody, then until the begin and until the
    // end.
    void (*charge_transfer)(Time* until, const Time* from, const TransferTimes& times,
                            Time* waiting, Time* exposed, std::size_t n);
    // Whether first <= second everywhere.
    bool (*ordered)(const Time* first, const Time* second, std::size_t n);
    // Whether value + constant + by <= root everywhere.
    bool (*reached)(const Time* root, const Time* value, Time constant, const Time* by,
                    std::size_t n);
    // limit = max(limit, constant + by (null: 0) - value)
    void (*limit)(Time* limit, const Time* value, Time constant, const Time* by, std::size_t n);
    // done = when `work` that begins at `from` has drained at what the loads leave. All work is
    // shorter than longest_drained.
    void (*drained)(Time* done, const Time* from, const Time* work, const LoadColumn* loads,
                    std::size_t count, const DrainScratch& scratch, std::size_t n);
    // Whether the load is over by root + first or begins no earlier than root + last everywhere.
    bool (*apart)(const Time* root, const Time* first, const Time* last, const LoadColumn& load,
                  std::size_t n);
    Extent (*extent)(const Time* from, std::size_t n);
    Time (*least)(const Time* from, std::size_t n);
    Time (*greatest)(const Time* from, std::size_t n);
};

// Those that this machine can run; the last is the fastest.
std::span<const Kernels* const> usable_kernels();

inline const Kernels& fastest_kernels()
{
    return *usable_kernels().back();
}

} // namespace trainyard::engine::replay

#pragma once

// Rows at every zoom: for each row levels of time buckets, each twice as coarse as the one below,
// so that a repaint looks at a few buckets per pixel however many slices there are.

#include "gui/timeline/timeline_data.h"

#include <algorithm>
#include <numeric>

namespace trainyard::gui {

// What happens in a stretch of time.
struct Bucket {
    // Of its length, by kind, in parts of full_bucket; together full_bucket at most, but for what
    // rounding adds. A kind that occurs has one at least where there is room.
    std::array<std::uint8_t, time_kind_count> shares{};
    bool covered = false; // by one slice, from end to end

    std::uint32_t busy() const { return std::accumulate(shares.begin(), shares.end(), 0U); }
    bool operator==(const Bucket&) const = default;
};
inline constexpr std::uint32_t full_bucket = 255;

// The shares of whole numbers that are kinds' parts of `length`.
template <class Times>
Bucket bucket_of(const Times& times, double length, bool covered = false)
{
    Bucket bucket{{}, covered};
    double until = 0;
    std::uint32_t filled = 0;
    // The ends of the parts are rounded, so that they add up.
    for (std::size_t k = 0; k < times.size(); ++k) {
        if (times[k] <= 0)
            continue;
        until += static_cast<double>(times[k]);
        const auto end = static_cast<std::uint32_t>(until / length * full_bucket + 0.5);
        const std::uint32_t now = std::min(std::max(end, filled + 1), full_bucket);
        bucket.shares[k] = static_cast<std::uint8_t>(now - filled);
        filled = now;
    }
    return bucket;
}

struct RowPyramid {
    SimTime begin;                     // of bucket 0 on every level
    SimTime width{1};                  // of a bucket of the finest level
    std::vector<std::uint32_t> levels; // where each begins in `buckets`, the finest first
    std::vector<Bucket> buckets;

    std::span<const Bucket> level(std::size_t index) const;
    SimTime width_of(std::size_t level) const { return width * (std::int64_t{1} << level); }
};

// A row of few slices has none: they are looked at one by one.
inline constexpr std::uint32_t slices_without_pyramid = 256;
// One of more than this has a bucket for two slices where others have one for each.
inline constexpr std::uint32_t slices_of_long_row = 8192;

RowPyramid make_pyramid(const TimelineData& data, const SliceRow& row);

// By row, on all cores. At most 32 bytes per slice, of long rows half of it. Throws Cancelled.
std::vector<RowPyramid> make_pyramids(const TimelineData& data, const WorkControl& work = {});

// What a row shows in each of `cells.size()` equal stretches of `range`. Where slices are further
// apart than stretches it goes by the slices themselves, of which it looks at 64 per stretch at
// most.
void fill_cells(const TimelineData& data, const SliceRow& row, const RowPyramid& pyramid,
                TimeRange range, std::span<Bucket> cells);

} // namespace trainyard::gui

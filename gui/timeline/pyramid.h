#pragma once

// Rows at every zoom: for each row levels of time buckets, each twice as coarse as the one below,
// so that a repaint looks at a few buckets per pixel however many slices there are.

#include "gui/timeline/timeline_data.h"

namespace trainyard::gui {

// What happens in a stretch of time.
struct Bucket {
    std::uint16_t busy = 0; // of its length, in parts of 65535; never 0 where something happens
    TimeKind kind = TimeKind::bubble; // that takes longest of it
    bool covered = false;             // by one slice, from end to end

    bool operator==(const Bucket&) const = default;
};
inline constexpr std::uint32_t full_bucket = 65535;

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

RowPyramid make_pyramid(const TimelineData& data, const SliceRow& row);

// By row, on all cores. At most 8 bytes per slice. Throws Cancelled.
std::vector<RowPyramid> make_pyramids(const TimelineData& data, const WorkControl& work = {});

// What a row shows in each of `cells.size()` equal stretches of `range`. Where slices are further
// apart than stretches it goes by the slices themselves, of which it looks at 64 per stretch at
// most.
void fill_cells(const TimelineData& data, const SliceRow& row, const RowPyramid& pyramid,
                TimeRange range, std::span<Bucket> cells);

} // namespace trainyard::gui

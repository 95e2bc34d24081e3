#include "gui/timeline/pyramid.h"

#include "sim/base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr std::uint32_t most_looked_at = 64; // per cell

using Times = std::array<std::int64_t, time_kind_count>;

std::uint16_t share_of(std::int64_t busy, std::int64_t length)
{
    if (busy <= 0)
        return 0;
    const double share = static_cast<double>(busy) / static_cast<double>(length);
    return static_cast<std::uint16_t>(std::clamp(share * full_bucket + 0.5, 1.0, 65535.0));
}

Bucket bucket_of(const Times& times, std::int64_t length, bool covered)
{
    std::int64_t busy = 0;
    std::size_t most = 0;
    for (std::size_t k = 0; k < times.size(); ++k) {
        busy += times[k];
        if (times[k] > times[most])
            most = k;
    }
    return {share_of(busy, length), static_cast<TimeKind>(most), covered};
}

// Sums up slices, bucket after bucket; a full pair goes to the level above.
class Summing {
public:
    Summing(RowPyramid& pyramid, std::size_t levels) : pyramid_(pyramid), levels_(levels) {}

    void add(const SliceColumns& slices, std::uint32_t slice)
    {
        const std::int64_t from = (slices.start[slice] - pyramid_.begin).value();
        const std::int64_t to = (slices.end[slice] - pyramid_.begin).value();
        const auto kind = static_cast<std::size_t>(slices.kind[slice]);
        const std::int64_t width = pyramid_.width.value();
        close_until(from / width);
        for (std::int64_t at = from; at < to;) {
            const std::int64_t border = std::min((position_ + 1) * width, to);
            levels_[0].times[kind] += border - at;
            levels_[0].covered_by = border - at == width ? slice : nothing;
            at = border;
            if (border == (position_ + 1) * width && border < to)
                close_until(position_ + 1);
        }
    }

    void finish(std::int64_t buckets) { close_until(buckets); }

private:
    struct Level {
        Times times{};
        std::uint32_t covered_by = nothing; // one slice, so far
        std::uint32_t position = 0;
    };

    void close_until(std::int64_t position)
    {
        while (position_ < position) {
            close(0);
            ++position_;
        }
    }

    // The bucket of a level is full; so is the one above where it was the second of a pair.
    void close(std::size_t index)
    {
        for (; index < levels_.size(); ++index) {
            Level& level = levels_[index];
            pyramid_.buckets[pyramid_.levels[index] + level.position] = bucket_of(
                level.times, pyramid_.width_of(index).value(), level.covered_by != nothing);
            const bool second = level.position++ % 2 == 1;
            if (index + 1 < levels_.size()) {
                Level& above = levels_[index + 1];
                for (std::size_t k = 0; k < level.times.size(); ++k)
                    above.times[k] += level.times[k];
                if (!second || above.covered_by != level.covered_by)
                    above.covered_by = second ? nothing : level.covered_by;
            }
            level.times = {};
            level.covered_by = nothing;
            if (!second)
                return;
        }
    }

    RowPyramid& pyramid_;
    std::vector<Level> levels_;
    std::int64_t position_ = 0; // of the finest level's bucket
};

// A bucket of which a part is in a cell.
struct Weighted {
    TimeKind kind;
    double time;
};

class CellSum {
public:
    void add(TimeKind kind, double time)
    {
        busy_ += time;
        for (std::size_t i = 0; i < count_; ++i)
            if (parts_[i].kind == kind) {
                parts_[i].time += time;
                return;
            }
        if (count_ < parts_.size())
            parts_[count_++] = {kind, time};
    }

    // `scale` is full_bucket for each unit of the cell's length.
    Bucket bucket(double scale, bool covered) const
    {
        Weighted most{TimeKind::bubble, 0};
        for (std::size_t i = 0; i < count_; ++i)
            if (parts_[i].time > most.time)
                most = parts_[i];
        if (count_ == 0)
            return {};
        const double share = busy_ * scale + 0.5;
        return {static_cast<std::uint16_t>(std::clamp(share, 1.0, 65535.0)), most.kind, covered};
    }

private:
    std::array<Weighted, time_kind_count> parts_;
    std::size_t count_ = 0;
    double busy_ = 0;
};

// Counts in buckets: cell i is [offset + i step, offset + (i + 1) step).
void fill_from_buckets(const RowPyramid& pyramid, std::size_t level, TimeRange range,
                       std::span<Bucket> cells)
{
    const auto buckets = pyramid.level(level);
    const double width = as_double(pyramid.width_of(level));
    const double step = as_double(range.length()) / static_cast<double>(cells.size()) / width;
    const double offset = as_double(range.from - pyramid.begin) / width;
    const auto end = static_cast<double>(buckets.size());
    const double scale = full_bucket / (step * full_bucket);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const double from = std::max(0.0, offset + step * static_cast<double>(i));
        const double to = std::min(offset + step * static_cast<double>(i + 1), end);
        cells[i] = {};
        if (to <= from)
            continue;
        auto bucket = static_cast<std::size_t>(from);
        const auto last = std::min(static_cast<std::size_t>(to), buckets.size() - 1);
        CellSum sum;
        bool covered = true;
        for (double at = from; bucket <= last; ++bucket) {
            const double border = std::min(static_cast<double>(bucket + 1), to);
            covered = covered && buckets[bucket].covered;
            if (buckets[bucket].busy > 0)
                sum.add(buckets[bucket].kind, (border - at) * buckets[bucket].busy);
            at = border;
        }
        cells[i] = sum.bucket(scale, covered);
    }
}

void fill_from_slices(const TimelineData& data, const SliceRow& row, TimeRange range,
                      std::span<Bucket> cells)
{
    const double step = as_double(range.length()) / static_cast<double>(cells.size());
    const double scale = full_bucket / step;
    std::uint32_t slice = data.first_ending_after(row, range.from);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const double from = step * static_cast<double>(cell); // from here on: since range.from
        const double to = step * static_cast<double>(cell + 1);
        CellSum sum;
        bool covered = false;
        std::uint32_t looked_at = 0;
        for (; slice < row.end() && looked_at < most_looked_at; ++slice, ++looked_at) {
            const double start = as_double(data.slices.start[slice] - range.from);
            const double end = as_double(data.slices.end[slice] - range.from);
            if (start >= to)
                break;
            if (end > from)
                sum.add(data.slices.kind[slice], std::min(end, to) - std::max(start, from));
            covered = start <= from && end >= to;
            if (end > to)
                break; // goes on in the next cell
        }
        cells[cell] = sum.bucket(scale, covered);
        if (looked_at == most_looked_at)
            slice = data.first_ending_after(row, range.from + SimTime(std::llround(to)));
    }
}

} // namespace

std::span<const Bucket> RowPyramid::level(std::size_t index) const
{
    const std::size_t end = index + 1 < levels.size() ? levels[index + 1] : buckets.size();
    return std::span(buckets).subspan(levels[index], end - levels[index]);
}

RowPyramid make_pyramid(const TimelineData& data, const SliceRow& row)
{
    RowPyramid pyramid;
    if (row.count <= slices_without_pyramid)
        return pyramid;
    pyramid.begin = data.slices.start[row.first];
    const std::int64_t span = (data.slices.end[row.end() - 1] - pyramid.begin).value();
    const auto count =
        static_cast<std::int64_t>(std::bit_floor(row.count)); // on average a slice each, or two
    pyramid.width = SimTime((span + count - 1) / count);
    const auto levels = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(count)));
    std::uint32_t first = 0;
    for (std::size_t level = 0; level < levels; ++level) {
        pyramid.levels.push_back(first);
        first += static_cast<std::uint32_t>(count >> level);
    }
    pyramid.buckets.resize(first);
    Summing sums(pyramid, levels);
    for (std::uint32_t i = row.first; i < row.end(); ++i)
        sums.add(data.slices, i);
    sums.finish(count);
    return pyramid;
}

std::vector<RowPyramid> make_pyramids(const TimelineData& data, const WorkControl& work)
{
    std::vector<RowPyramid> pyramids(data.rows.size());
    for_each_index(data.rows.size(), usable_threads(), [&](std::size_t i) {
        work.check();
        pyramids[i] = make_pyramid(data, data.rows[i]);
    });
    return pyramids;
}

void fill_cells(const TimelineData& data, const SliceRow& row, const RowPyramid& pyramid,
                TimeRange range, std::span<Bucket> cells)
{
    if (cells.empty())
        return;
    const double step = as_double(range.length()) / static_cast<double>(cells.size());
    std::size_t level = pyramid.levels.size();
    while (level > 0 && as_double(pyramid.width_of(level - 1)) > step)
        --level;
    if (level == 0)
        fill_from_slices(data, row, range, cells);
    else
        fill_from_buckets(pyramid, level - 1, range, cells);
}

} // namespace trainyard::gui

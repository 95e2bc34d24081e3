#include "gui/timeline/pyramid.h"

#include "sim/base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trainyard::gui {

namespace {

constexpr std::uint32_t most_looked_at = 64; // per cell

using Times = std::array<std::int64_t, time_kind_count>;

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
                level.times, as_double(pyramid_.width_of(index)), level.covered_by != nothing);
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

// What slices add to a cell: few kinds, so that they are told one by one.
class CellSum {
public:
    void add(TimeKind kind, double time)
    {
        const auto at = static_cast<std::size_t>(kind);
        if (times_[at] == 0)
            kinds_[count_++] = at;
        times_[at] += time;
    }

    // Of a cell of that length; then of nothing.
    Bucket take(double length, bool covered)
    {
        Bucket bucket;
        if (count_ == 1 && times_[kinds_[0]] >= length)
            bucket.shares[kinds_[0]] = full_bucket;
        else if (count_ > 0)
            bucket = bucket_of(times_, length);
        bucket.covered = covered;
        while (count_ > 0)
            times_[kinds_[--count_]] = 0;
        return bucket;
    }

private:
    std::array<double, time_kind_count> times_{};
    std::array<std::size_t, time_kind_count> kinds_{}; // that have any
    std::size_t count_ = 0;
};

// Places among buckets, in fixed point.
constexpr int point = 32; // bits behind it

std::int64_t fixed(double place)
{
    return static_cast<std::int64_t>(place * static_cast<double>(std::int64_t{1} << point));
}

// Of three buckets at most. Nothing in it hangs on what the buckets are: where slices are as short
// as pixels, no branch could be foretold. A fixed-point bucket times `weight` is its part of a cell
// in 65536ths of a 256th.
void fill_cell(Bucket& cell, std::span<const Bucket> buckets, std::int64_t from, std::int64_t to,
               std::int64_t weight)
{
    if (to <= from) {
        cell = {};
        return;
    }
    const std::int64_t first = from >> point;
    const std::int64_t last = (to - 1) >> point;
    const std::int64_t between = last - first == 2 ? 1 : 0;
    const Bucket* const a = &buckets[static_cast<std::size_t>(first)];
    const Bucket* const b = a + between;
    const Bucket* const c = &buckets[static_cast<std::size_t>(last)];
    // Their ends are rounded, so that parts of a full cell add up to 256.
    const auto end = [&](std::int64_t place) {
        return static_cast<std::uint16_t>(
            ((((place - from) >> 8) * weight >> (point - 8)) + 32768) >> 16);
    };
    const std::uint16_t of_a = end(std::min((first + 1) << point, to));
    const std::uint16_t until_b = end(std::min((first + 1 + between) << point, to));
    const auto of_b = static_cast<std::uint16_t>(until_b - of_a);
    const auto of_c = static_cast<std::uint16_t>(end(to) - until_b);
    // All of a bucket's bytes at once; whether it is covered follows.
    const auto bytes = [](const Bucket* bucket) {
        return reinterpret_cast<const std::uint8_t*>(bucket);
    };
    std::array<std::uint8_t, sizeof(Bucket)> sums;
    for (std::size_t k = 0; k < sums.size(); ++k) {
        // From a quarter on it counts, so that what is short is in one of the cells it is in.
        const unsigned sum = bytes(a)[k] * of_a + bytes(b)[k] * of_b + bytes(c)[k] * of_c + 192;
        sums[k] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(sum) >> 8);
    }
    cell = std::bit_cast<Bucket>(sums);
    cell.covered = a->covered && b->covered && c->covered;
}

// Counts in buckets: cell i is [offset + i step, offset + (i + 1) step). A step is one bucket or
// more and, but for a level of a single bucket, less than two.
void fill_from_buckets(const RowPyramid& pyramid, std::size_t level, TimeRange range,
                       std::span<Bucket> cells)
{
    const auto buckets = pyramid.level(level);
    const double width = as_double(pyramid.width_of(level));
    const double step = as_double(range.length()) / static_cast<double>(cells.size()) / width;
    const double offset = as_double(range.from - pyramid.begin) / width;
    const auto weight = static_cast<std::int64_t>(std::ldexp(1 / step, 24) + 0.5);
    const auto end = static_cast<std::int64_t>(buckets.size()) << point;
    constexpr double far_off = 1 << 29; // buckets; there are fewer
    const std::int64_t by = fixed(step);
    std::int64_t place = fixed(std::clamp(offset, -far_off, far_off));
    std::int64_t from = std::clamp<std::int64_t>(place, 0, end);
    for (Bucket& cell : cells) {
        place += by;
        const std::int64_t to = std::clamp<std::int64_t>(place, 0, end);
        fill_cell(cell, buckets, from, to, weight);
        from = to;
    }
}

// Cells one after the other, as slices come by.
class SliceCells {
public:
    SliceCells(TimeRange range, std::span<Bucket> cells)
        : cells_(cells),
          length_(as_double(range.length())),
          step_(length_ / static_cast<double>(cells.size())),
          per_time_(1 / step_),
          from_(range.from)
    {}

    bool full() const { return at_ >= cells_.size(); }
    double next_from() const { return step_ * static_cast<double>(at_ + 1); }
    // How many slices the cell has been given.
    std::uint32_t looked_at() const { return looked_at_; }

    void add(SimTime start, SimTime end, TimeKind kind)
    {
        const double from = std::max(as_double(start - from_), step_ * static_cast<double>(at_));
        const double to = std::min(as_double(end - from_), length_);
        go_to(cell_at(from));
        if (full())
            return;
        const std::size_t last = std::max(cell_at(to), at_);
        ++looked_at_;
        if (last == at_) {
            sum_.add(kind, to - from);
            return;
        }
        const bool covered = from <= step_ * static_cast<double>(at_);
        sum_.add(kind, next_from() - from);
        close(covered);
        const auto begin = cells_.begin();
        std::fill(begin + static_cast<std::ptrdiff_t>(at_),
                  begin + static_cast<std::ptrdiff_t>(last), whole_cell(kind));
        at_ = last;
        if (const double rest = to - step_ * static_cast<double>(at_); !full() && rest > 0)
            sum_.add(kind, rest);
    }

    // Nothing happens until there.
    void go_to(std::size_t cell)
    {
        if (cell <= at_ || full())
            return;
        close(false);
        const auto begin = cells_.begin();
        std::fill(begin + static_cast<std::ptrdiff_t>(at_),
                  begin + static_cast<std::ptrdiff_t>(cell), Bucket{});
        at_ = cell;
    }

    void close(bool covered)
    {
        cells_[at_++] = sum_.take(step_, covered);
        looked_at_ = 0;
    }

private:
    static Bucket whole_cell(TimeKind kind)
    {
        Bucket cell{{}, true};
        cell.shares[static_cast<std::size_t>(kind)] = full_bucket;
        return cell;
    }

    std::size_t cell_at(double time) const
    {
        return std::min(static_cast<std::size_t>(std::max(0.0, time * per_time_)), cells_.size());
    }

    std::span<Bucket> cells_;
    double length_;
    double step_;
    double per_time_; // cells
    SimTime from_;
    std::size_t at_ = 0; // the cell that is being filled
    std::uint32_t looked_at_ = 0;
    CellSum sum_;
};

void fill_from_slices(const TimelineData& data, const SliceRow& row, TimeRange range,
                      std::span<Bucket> cells)
{
    SliceCells filling(range, cells);
    std::uint32_t slice = data.first_ending_after(row, range.from);
    while (!filling.full() && slice < row.end() && data.slices.start[slice] < range.to) {
        filling.add(data.slices.start[slice], data.slices.end[slice], data.slices.kind[slice]);
        ++slice;
        if (filling.looked_at() < most_looked_at)
            continue;
        slice =
            data.first_ending_after(row, range.from + SimTime(std::llround(filling.next_from())));
        filling.close(false);
    }
    filling.go_to(cells.size());
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
    // On average a slice each, or two; of a long row twice as many.
    const auto count =
        static_cast<std::int64_t>(std::bit_floor(row.count) >> (row.count > slices_of_long_row));
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

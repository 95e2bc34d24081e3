#include "gui/tests/random_rows.h"
#include "gui/timeline/pyramid.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

// Time of each kind between two times, slice by slice.
std::array<double, time_kind_count> naive_times(const TimelineData& data, const SliceRow& row,
                                                double from, double to)
{
    std::array<double, time_kind_count> times{};
    for (std::uint32_t i = row.first; i < row.end(); ++i) {
        const double start = std::max(from, static_cast<double>(data.slices.start[i].value()));
        const double end = std::min(to, static_cast<double>(data.slices.end[i].value()));
        if (end > start)
            times[static_cast<std::size_t>(data.slices.kind[i])] += end - start;
    }
    return times;
}

double sum(const std::array<double, time_kind_count>& times)
{
    double all = 0;
    for (const double time : times)
        all += time;
    return all;
}

double off_by(const Bucket& cell, const std::array<double, time_kind_count>& times, std::size_t k,
              double length)
{
    return std::abs(cell.shares[k] / 255.0 - times[k] / length);
}

} // namespace

TEST_CASE("every bucket of every level holds what its stretch of time does")
{
    const TimelineData data = random_rows(3, 3000, 7);
    for (const SliceRow& row : data.rows) {
        const RowPyramid pyramid = make_pyramid(data, row);
        REQUIRE(pyramid.levels.size() == 12); // 2,048 buckets and coarser
        for (std::size_t level = 0; level < pyramid.levels.size(); ++level) {
            const auto buckets = pyramid.level(level);
            REQUIRE(buckets.size() == std::size_t{2048} >> level);
            const double width = static_cast<double>(pyramid.width_of(level).value());
            for (std::size_t b = 0; b < buckets.size(); ++b) {
                const double from =
                    static_cast<double>(pyramid.begin.value()) + width * static_cast<double>(b);
                const auto times = naive_times(data, row, from, from + width);
                // A kind that occurs has a 255th at least: of up to fifteen.
                REQUIRE_THAT(buckets[b].busy() / 255.0, WithinAbs(sum(times) / width, 0.06));
                for (std::size_t k = 0; k < times.size(); ++k)
                    REQUIRE(off_by(buckets[b], times, k, width) < 0.06);
                const std::uint32_t slice =
                    data.slice_at(row, SimTime(static_cast<std::int64_t>(from)));
                const bool covered =
                    slice != nothing &&
                    static_cast<double>(data.slices.end[slice].value()) >= from + width;
                REQUIRE(buckets[b].covered == covered);
            }
        }
    }
}

TEST_CASE("cells show how busy their stretch is, at any zoom")
{
    const TimelineData data = random_rows(2, 4000, 11);
    for (const SliceRow& row : data.rows) {
        const RowPyramid pyramid = make_pyramid(data, row);
        for (const double zoom : {1.0, 1.7, 6.0, 31.0, 500.0, 20'000.0}) {
            const auto length =
                static_cast<std::int64_t>(static_cast<double>(data.whole.length().value()) / zoom);
            const SimTime from =
                data.whole.from + SimTime((data.whole.length().value() - length) / 3);
            const TimeRange range{from, from + SimTime(length)};
            std::vector<Bucket> cells(200);
            fill_cells(data, row, pyramid, range, cells);
            const double step = static_cast<double>(length) / 200;
            double shown = 0;
            for (const Bucket& cell : cells)
                shown += cell.busy() / 255.0 * step;
            const double known = sum(naive_times(data, row, static_cast<double>(range.from.value()),
                                                 static_cast<double>(range.to.value())));
            INFO("zoom " << zoom);
            CHECK_THAT(shown, WithinAbs(known, step * 2 + known * 0.01));
        }
    }
}

TEST_CASE("cells between slices go by the slices themselves")
{
    const TimelineData data = random_rows(1, 100, 3);
    const SliceRow& row = data.rows[0];
    std::vector<Bucket> cells(5000);
    fill_cells(data, row, RowPyramid{}, data.whole, cells);
    const double step = static_cast<double>(data.whole.length().value()) / 5000;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const double from =
            static_cast<double>(data.whole.from.value()) + step * static_cast<double>(i);
        const auto times = naive_times(data, row, from, from + step);
        for (std::size_t k = 0; k < times.size(); ++k)
            REQUIRE(off_by(cells[i], times, k, step) < 0.01);
    }
}

TEST_CASE("a crowd of slices in one stretch is sampled, not gone through")
{
    // All of a million picoseconds is idle but the first thousand, which hold a slice each.
    TimelineData data;
    data.slices.resize(1000);
    for (std::size_t i = 0; i < 1000; ++i) {
        data.slices.start[i] = SimTime(static_cast<std::int64_t>(i));
        data.slices.end[i] = SimTime(static_cast<std::int64_t>(i) + 1);
        data.slices.kind[i] = TimeKind::forward;
    }
    data.slices.end[999] = SimTime(1'000'000);
    data.rows = {{0, 1000, 0}};
    std::vector<Bucket> cells(10);
    fill_cells(data, data.rows[0], RowPyramid{}, {SimTime(0), SimTime(5000)}, cells);
    CHECK(cells[0].shares[0] > 0);
    CHECK(cells[0].busy() == cells[0].shares[0]);
    for (std::size_t i = 2; i < cells.size(); ++i)
        CHECK(cells[i] == Bucket{{255}, true});
}

TEST_CASE("passes narrower than a pixel show what each of them takes, at every zoom")
{
    // Forward 2 us, backward 3 us, idle 5 us, again and again.
    constexpr std::uint32_t count = 20'000;
    constexpr std::int64_t us = 1'000'000;
    TimelineData data;
    data.slices.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::int64_t start = (i / 2 * 10 + i % 2 * 2) * us;
        data.slices.start[i] = SimTime(start);
        data.slices.end[i] = SimTime(start + (i % 2 == 0 ? 2 : 3) * us);
        data.slices.kind[i] = i % 2 == 0 ? TimeKind::forward : TimeKind::backward;
    }
    data.rows = {{0, count, 0}};
    const RowPyramid pyramid = make_pyramid(data, data.rows[0]);
    // A fifth, three tenths and half of each cell of ten whole periods, from slices or buckets.
    for (const std::int64_t periods : {10, 50, 1000}) {
        std::vector<Bucket> cells(10);
        fill_cells(data, data.rows[0], pyramid,
                   {SimTime(0), SimTime(periods * 10 * us) * std::int64_t{10}}, cells);
        for (const Bucket& cell : cells) {
            CHECK_THAT(cell.shares[0] / 255.0, WithinAbs(0.2, 0.02));
            CHECK_THAT(cell.shares[1] / 255.0, WithinAbs(0.3, 0.02));
            CHECK(cell.busy() == static_cast<std::uint32_t>(cell.shares[0] + cell.shares[1]));
        }
    }
}

TEST_CASE("a pyramid takes 32 bytes per slice at most, of a long row 16")
{
    const TimelineData data = random_rows(4, 5000, 5);
    std::size_t bytes = 0;
    for (const RowPyramid& pyramid : make_pyramids(data))
        bytes += pyramid.buckets.size() * sizeof(Bucket);
    CHECK(bytes <= 32 * data.slices.size());
    CHECK(make_pyramid(data, {0, 20'000, 0}).buckets.size() <= 20'000);
    CHECK(make_pyramid(data, {0, 256, 0}).levels.empty());
}

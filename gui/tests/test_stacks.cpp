#include "gui/tests/random_rows.h"
#include "gui/timeline/stacks.h"
#include "sim/base/random.h"
#include "tests/catch.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

CellColours random_colours(std::uint64_t seed)
{
    Random random(seed);
    CellColours colours{};
    for (QRgb& colour : colours)
        colour = 0xff000000U | static_cast<QRgb>(random.integer(0, 0xffffff));
    colours[3] = 0xffffffff;
    colours[7] = 0xff000000;
    return colours;
}

int level(QRgb colour, int channel)
{
    return static_cast<int>(colour >> 8 * channel & 0xff);
}

// A pixel of 255 parts, given the sum of a channel over them.
template <class Sum>
QRgb pixel_of(Sum sum)
{
    QRgb out = 0xff000000U;
    for (int channel = 0; channel < 3; ++channel) {
        const int mean = std::clamp((sum(channel) + 127) * 257 >> 16, 0, 255);
        out |= static_cast<QRgb>(mean) << 8 * channel;
    }
    return out;
}

// Of what hardly is there 76 parts of a pixel are seen.
int seen(int share, int busy, int rows)
{
    return busy * rows < 76 ? share * 76 / busy : share * rows;
}

// A cell's column part by part, the lowest pixel first.
std::vector<QRgb> naive_stack(const Bucket& cell, const CellColours& colours, int rows)
{
    const int busy = static_cast<int>(cell.busy());
    std::vector<QRgb> parts;
    for (std::size_t k = 0; k < time_kind_count; ++k)
        if (cell.shares[k] > 0)
            parts.insert(parts.end(), static_cast<std::size_t>(seen(cell.shares[k], busy, rows)),
                         colours[k]);
    // What rounding took from a full cell, up to five parts, leaves no gap.
    parts.resize(static_cast<std::size_t>(rows) * 255, busy > 250 ? parts.back() : colours.back());
    std::vector<QRgb> column;
    for (auto at = parts.begin(); at != parts.end(); at += 255)
        column.push_back(pixel_of([&](int channel) {
            int sum = 0;
            for (auto part = at; part != at + 255; ++part)
                sum += level(*part, channel);
            return sum;
        }));
    return column;
}

QRgb naive_mean(const Bucket& cell, const CellColours& colours)
{
    const int busy = static_cast<int>(cell.busy());
    return pixel_of([&](int channel) {
        int off = 0; // from what is nothing's
        for (std::size_t k = 0; k < time_kind_count; ++k)
            off += cell.shares[k] * (level(colours[k], channel) - level(colours.back(), channel));
        if (busy > 0 && busy < 76)
            off = off * 76 / busy;
        return off + level(colours.back(), channel) * 255;
    });
}

// Those of rows as they are looked at, from hardly any time to all of it, and odd ones.
std::vector<Bucket> cells_at_all_zooms()
{
    std::vector<Bucket> all{Bucket{},
                            Bucket{{255}, true},
                            Bucket{{0, 1}},
                            Bucket{{0, 1, 0, 2}},
                            Bucket{{128, 127, 3}},
                            Bucket{{0, 0, 0, 250}},
                            Bucket{{249}}};
    Bucket of_all;
    of_all.shares.fill(18); // 270: more than full
    all.push_back(of_all);
    const TimelineData data = random_rows(2, 4000, 11);
    for (const SliceRow& row : data.rows)
        for (const std::int64_t zoom : {1, 2, 31, 500, 20'000}) {
            std::vector<Bucket> cells(203);
            fill_cells(data, row, make_pyramid(data, row),
                       {data.whole.from, data.whole.from + data.whole.length() / zoom}, cells);
            all.insert(all.end(), cells.begin(), cells.end());
        }
    return all;
}

} // namespace

TEST_CASE("a cell is a stack of kinds, each as high as its share, what is idle above them")
{
    CellColours colours{};
    colours[0] = 0xffff0000;
    colours[1] = 0xff00ff00;
    colours.back() = 0xff000000;
    std::array<QRgb, 30> pixels{}; // three columns of ten
    const std::array<Bucket, 3> cells{Bucket{{51, 102}}, Bucket{{255}, true}, Bucket{{0, 1}}};
    paint_stacks(cells, colours, pixels.data(), 3, 10);
    for (std::size_t row = 0; row < 10; ++row) {
        CHECK(pixels[3 * row] == (row >= 8 ? colours[0] : row >= 4 ? colours[1] : colours.back()));
        CHECK(pixels[3 * row + 1] == colours[0]);
        // Hardly anything is seen all the same.
        CHECK(qGreen(pixels[3 * row + 2]) == (row == 9 ? 76 : 0));
    }
    // Too low for stacks: the mean colour, a fifth red and two fifths green.
    paint_stacks(cells, colours, pixels.data(), 3, 3);
    CHECK(pixels[0] == qRgb(51, 102, 0));
    CHECK(pixels[6] == pixels[0]);
}

TEST_CASE("stacks are painted to the last bit as part by part, at every zoom and height")
{
    const std::vector<Bucket> cells = cells_at_all_zooms();
    const CellColours colours = random_colours(5);
    constexpr QRgb untouched = 0x12345678;
    for (const int rows : {1, 3, 5, 6, 7, 15, 40}) {
        const std::size_t stride = cells.size() + 1;
        std::vector<QRgb> pixels(stride * static_cast<std::size_t>(rows), untouched);
        paint_stacks(cells, colours, pixels.data(), static_cast<std::ptrdiff_t>(stride), rows);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::vector<QRgb> column = rows < least_stack
                                                 ? std::vector<QRgb>(static_cast<std::size_t>(rows),
                                                                     naive_mean(cells[i], colours))
                                                 : naive_stack(cells[i], colours, rows);
            for (std::size_t row = 0; row < column.size(); ++row)
                wrong += pixels[(column.size() - 1 - row) * stride + i] != column[row];
        }
        INFO(rows << " pixels high");
        CHECK(wrong == 0);
        for (std::size_t end = stride - 1; end < pixels.size(); end += stride)
            REQUIRE(pixels[end] == untouched);
    }
}

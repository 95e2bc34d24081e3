#include "gui/calibration/heat_map.h"
#include "gui/tests/contrast.h"
#include "gui/widgets/theme.h"
#include "tests/catch.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

std::shared_ptr<const JudgedMatrix> matrix(int count, double slow_share)
{
    auto out = std::make_shared<JudgedMatrix>();
    out->matrix.test = "device_to_device_memcpy_read_ce";
    for (int i = 0; i < count; ++i) {
        out->matrix.values.emplace_back(static_cast<std::size_t>(count), 380e9);
        out->matrix.values.back()[static_cast<std::size_t>(i)] = 2.9e12;
    }
    out->matrix.values[3][5] = out->matrix.values[5][3] = slow_share * 380e9;
    out->judged = judge(out->matrix);
    return out;
}

} // namespace

TEST_CASE("more is lighter, so that the scale reads without colour")
{
    for (int i = 1; i <= 20; ++i)
        CHECK(luminance(scale_colour(i / 20.0)) > luminance(scale_colour((i - 1) / 20.0)));
}

TEST_CASE("every cell is found where it lies")
{
    const HeatMap map(matrix(8, 1));
    const QRectF area(50, 40, 800, 400);
    for (int row = 0; row < 8; ++row)
        for (int column = 0; column < 8; ++column) {
            const MatrixCell cell{row, column};
            CHECK(map.cell_at(map.rect_of(cell, area).center(), area) == cell);
        }
    CHECK_FALSE(map.cell_at({49, 60}, area));
    CHECK_FALSE(map.cell_at({851, 60}, area));
}

TEST_CASE("the slow link is marked, and named with what it lacks")
{
    const HeatMap map(matrix(8, 0.62));
    CHECK(map.is_slow({3, 5}));
    CHECK(map.is_slow({5, 3}));
    CHECK_FALSE(map.is_slow({3, 4}));
    REQUIRE(map.findings().size() == 1);
    CHECK(map.findings().front().startsWith("GPU 3 <-> GPU 5: 38 % below the others of its kind"));
    CHECK(map.facts({3, 5}).contains("38 %"));
    CHECK(map.table().rows.size() == 64);
}

TEST_CASE("copies within one GPU do not stretch the scale, and a sound matrix says so")
{
    const HeatMap map(matrix(8, 1));
    CHECK(map.is_self({2, 2}));
    CHECK(map.findings().front().startsWith("no slow link"));
}

TEST_CASE("pairs that nobody would tell apart look alike")
{
    auto close = matrix(8, 0.994); // 378 beside 380 GB/s
    const HeatMap map(close);
    CHECK(map.share(380) - map.share(378) < 0.1);
    CHECK(map.share(380) == 1.0);
    const HeatMap far(matrix(8, 0.2));
    CHECK(far.share(76) == 0.0);
}

#include "gui/tests/random_rows.h"
#include "gui/timeline/geometry.h"
#include "tests/catch.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

constexpr TimeScale scale{{SimTime(1000), SimTime(3000)}, 100, 400};

// Two nodes of two ranks of two streams.
TimelineData small_tree()
{
    TimelineData data;
    for (std::uint32_t node = 0; node < 2; ++node) {
        const auto node_track = static_cast<std::uint32_t>(data.tracks.size());
        data.tracks.push_back({.kind = TrackKind::group, .end = node_track + 7});
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            const auto rank_track = static_cast<std::uint32_t>(data.tracks.size());
            data.tracks.push_back(
                {.kind = TrackKind::rank, .parent = node_track, .end = rank_track + 3, .depth = 1});
            for (std::uint32_t stream = 1; stream <= 2; ++stream)
                data.tracks.push_back({.kind = TrackKind::stream,
                                       .parent = rank_track,
                                       .end = rank_track + stream + 1,
                                       .depth = 2});
        }
    }
    return data;
}

} // namespace

TEST_CASE("time and x are each other's inverse")
{
    CHECK(scale.x_of(SimTime(1000)) == 100);
    CHECK(scale.x_of(SimTime(3000)) == 500);
    CHECK(scale.time_at(300) == SimTime(2000));
    CHECK(scale.time_at(50) == SimTime(750));
    CHECK(scale.pixels(SimTime(5)) == 1);
}

TEST_CASE("zooming keeps the time under the pointer where it is")
{
    TimeScale at{{SimTime(0), SimTime(1'000'000'000)}, 0, 1000};
    const SimTime pointed = at.time_at(250);
    for (const double factor : {2.0, 0.25, 7.3}) {
        at.range = at.zoomed(factor, pointed);
        CHECK_THAT(at.x_of(pointed), WithinAbs(250, 0.01));
    }
    // No closer than a nanosecond.
    CHECK(at.zoomed(1e15, pointed).length() == SimTime(1000));
}

TEST_CASE("panning moves both ends alike")
{
    CHECK(scale.panned(20) == TimeRange{SimTime(1100), SimTime(3100)});
    CHECK(scale.panned(-20) == TimeRange{SimTime(900), SimTime(2900)});
}

TEST_CASE("ticks are round steps from the origin and not closer than asked for")
{
    const TimeScale at{{SimTime(-7'300), SimTime(92'700)}, 0, 1000};
    const AxisTicks ticks = ticks_of(at, SimTime(100), 80);
    // 80 pixels are 8,000 ps: the next round step is 10,000.
    CHECK(ticks.step == SimTime(10'000));
    CHECK(ticks.first == SimTime(100));
    CHECK(ticks_of(at, SimTime(100), 150).step == SimTime(20'000));
    CHECK(ticks_of(at, SimTime(100), 450).step == SimTime(50'000));
}

TEST_CASE("a closed track hides what hangs in it, and only that")
{
    const TimelineData data = small_tree();
    TrackLayout layout(data);
    REQUIRE(layout.lines().size() == 14);
    layout.set_open(1, false); // rank 0 of node 0
    REQUIRE(layout.lines().size() == 12);
    CHECK(layout.lines()[2].track == 4);
    layout.set_open(0, false);
    REQUIRE(layout.lines().size() == 8);
    CHECK(layout.lines()[1].track == 7);
    CHECK_FALSE(layout.line_of(1));
    layout.reveal(2); // opens node 0 and rank 0
    CHECK(layout.lines().size() == 14);
    CHECK(layout.line_of(2) == 2);
    CHECK(layout.can_open(1));
    CHECK_FALSE(layout.can_open(2));
}

TEST_CASE("every y of the layout belongs to one line")
{
    const TimelineData data = small_tree();
    TrackLayout layout(data);
    layout.set_line_height(7);
    for (int y = 0; y < layout.height(); ++y) {
        const auto line = layout.line_at(y);
        REQUIRE(line);
        CHECK(layout.lines()[*line].y <= y);
        CHECK(y < layout.lines()[*line].bottom());
    }
    CHECK_FALSE(layout.line_at(-1));
    CHECK_FALSE(layout.line_at(layout.height()));
    layout.set_line_height(1);
    CHECK(layout.line_height() == least_line_height);
}

TEST_CASE("a tree that no screen shows whole is closed: ranks first, then nodes")
{
    TimelineData data;
    for (std::uint32_t rank = 0; rank < 50; ++rank) {
        data.tracks.push_back({.kind = TrackKind::rank, .end = rank * 2 + 2});
        data.tracks.push_back({.parent = rank * 2, .end = rank * 2 + 2, .depth = 1});
    }
    CHECK(TrackLayout(data).lines().size() == 50);
}

TEST_CASE("a hit is the slice under the pointer, else the nearest within reach")
{
    const TimelineData data = random_rows(1, 300, 9);
    const SliceRow& row = data.rows[0];
    const TimeScale at{data.whole, 0, 3000};
    for (double x = 0; x < 3000; x += 1.3) {
        std::uint32_t nearest = nothing;
        double distance = 3;
        for (std::uint32_t i = 0; i < 300; ++i) {
            const double gap =
                std::max({at.x_of(data.slices.start[i]) - x, x - at.x_of(data.slices.end[i]), 0.0});
            if (gap < distance) {
                distance = gap;
                nearest = i;
            }
        }
        const std::uint32_t hit = hit_slice(data, row, at, x, 3);
        REQUIRE((hit == nothing) == (nearest == nothing));
        if (hit != nothing) {
            const double gap = std::max(
                {at.x_of(data.slices.start[hit]) - x, x - at.x_of(data.slices.end[hit]), 0.0});
            // Times are whole picoseconds, here a tenth of a pixel apart at most.
            CHECK_THAT(gap, WithinAbs(distance, 0.1));
        }
    }
}

#include "calibrate/fit/clean_sweep.h"
#include "tests/catch.h"
#include "tests/unit/fit/support.h"

using namespace trainyard;

namespace {

double smooth_time(double size)
{
    return 10e-6 + size / 100e9;
}

} // namespace

TEST_CASE("a first-use spike gives way to the in-place time of the same size, with a flag")
{
    Sweep sweep = made_sweep(1 << 20, 5, smooth_time);
    const Seconds honest = sweep.rows[2].in_place->time;
    sweep.rows[2].out_of_place->time = honest * 5.0;
    const CleanSweep cleaned = clean(sweep);
    CHECK(cleaned.points[2].time == honest);
    REQUIRE(cleaned.flags.size() == 1);
    CHECK(cleaned.flags[0].find("spike at 4 MiB") == 0);
}

TEST_CASE("a slow size that is slow in place too is the collective's own and stays")
{
    Sweep sweep = made_sweep(1 << 20, 5, smooth_time);
    sweep.rows[2].out_of_place->time = sweep.rows[2].in_place->time * 9.0;
    sweep.rows[2].in_place->time = sweep.rows[2].out_of_place->time;
    const CleanSweep cleaned = clean(sweep);
    CHECK(cleaned.points[2].time == sweep.rows[2].out_of_place->time);
    REQUIRE(cleaned.flags.size() == 1); // what comes after it takes less
    CHECK(cleaned.flags[0].find("not monotone") == 0);
}

TEST_CASE("a jump between algorithms is no spike")
{
    Sweep sweep = made_sweep(
        1 << 20, 6, [](double size) { return smooth_time(size) * (size > 3e6 ? 3.0 : 1.0); });
    const CleanSweep cleaned = clean(sweep);
    CHECK(cleaned.flags.empty());
    for (std::size_t i = 0; i < cleaned.points.size(); ++i)
        CHECK(cleaned.points[i].time == sweep.rows[i].out_of_place->time);
}

TEST_CASE("rows without bytes are left out and sizes that repeat give their median")
{
    Sweep sweep = made_sweep(1 << 20, 3, smooth_time);
    SweepRow empty;
    empty.size = Bytes(0);
    empty.out_of_place = SweepTiming{};
    empty.out_of_place->time = Seconds(1e-6);
    sweep.rows.insert(sweep.rows.begin(), empty);
    for (const double factor : {1.1, 1.2}) {
        SweepRow again = sweep.rows[1];
        again.out_of_place->time *= factor;
        sweep.rows.push_back(again);
    }
    const CleanSweep cleaned = clean(sweep);
    REQUIRE(cleaned.points.size() == 3);
    CHECK(cleaned.points[0].time == sweep.rows[1].out_of_place->time * 1.1);
}

TEST_CASE("a sweep that was only timed in place says so")
{
    Sweep sweep = made_sweep(1 << 20, 3, smooth_time);
    for (SweepRow& row : sweep.rows)
        row.out_of_place.reset();
    const CleanSweep cleaned = clean(sweep);
    CHECK(cleaned.points.size() == 3);
    REQUIRE(cleaned.flags.size() == 1);
    CHECK(cleaned.flags[0] == "in-place times only");
}

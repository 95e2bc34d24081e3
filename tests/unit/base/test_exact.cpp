#include "sim/base/exact.h"
#include "sim/base/random.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

ByteRate any_rate(Random& random)
{
    return ByteRate(1 + (random.bits() >> random.integer(20, 63)));
}
SimTime any_time(Random& random)
{
    return SimTime(static_cast<std::int64_t>(random.bits() >> random.integer(4, 63)));
}

} // namespace

TEST_CASE("work done at a rate takes exactly the time it was done in")
{
    Random random(1);
    for (int i = 0; i < 20000; ++i) {
        const ByteRate rate = any_rate(random);
        const SimTime time = any_time(random);
        CHECK(time_to_finish(work_done(rate, time), rate) == time);
        CHECK(remaining_after(work_done(rate, time), rate, time) == Work{0});
    }
}

TEST_CASE("the time to finish is the first picosecond at which nothing remains")
{
    Random random(2);
    for (int i = 0; i < 20000; ++i) {
        const Work work{1 + work_done(any_rate(random), any_time(random)).value / 2};
        const ByteRate rate(1'000'000 + random.bits() % 1'000'000'000'000ULL);
        if (work.value / rate.value() >= (u128{1} << 60))
            continue; // beyond the clock
        const SimTime end = time_to_finish(work, rate);
        CHECK(remaining_after(work, rate, end) == Work{0});
        CHECK_FALSE(remaining_after(work, rate, end - SimTime(1)) == Work{0});
    }
}

TEST_CASE("work split at any moment leaves as much as work done in one go")
{
    Random random(3);
    for (int i = 0; i < 20000; ++i) {
        const ByteRate rate = any_rate(random);
        const SimTime first(random.integer(0, 1'000'000'000'000));
        const SimTime second(random.integer(0, 1'000'000'000'000));
        const Work whole = work_done(rate, SimTime(random.integer(0, 2'000'000'000'000)));
        CHECK(remaining_after(remaining_after(whole, rate, first), rate, second) ==
              remaining_after(whole, rate, first + second));
    }
}

TEST_CASE("a stalled transfer loses no work and a finished one owes none")
{
    const Work work = work_done(ByteRate(50'000'000'000), SimTime(1'000'000));
    CHECK(remaining_after(work, ByteRate(0), SimTime(1'000'000'000'000)) == work);
    CHECK(remaining_after(work, ByteRate(60'000'000'000), SimTime(1'000'000)) == Work{0});
}

TEST_CASE("an exabyte at a terabyte per second does not overflow")
{
    // 1e18 bytes at 1e12 bytes per second: a million seconds, 1e30 byte-picoseconds of work.
    const ByteRate rate(1'000'000'000'000);
    const SimTime million_seconds(1'000'000 * static_cast<std::int64_t>(picoseconds_per_second));
    const Work work{u128{1'000'000'000'000'000'000} * picoseconds_per_second};
    CHECK(time_to_finish(work, rate) == million_seconds);
    CHECK(work_done(rate, million_seconds) == work);
}

TEST_CASE("picoseconds survive the way to seconds and back for a step of up to an hour")
{
    Random random(4);
    for (int i = 0; i < 20000; ++i) {
        const SimTime time(random.integer(0, 3'600'000'000'000'000)); // below 2^53
        CHECK(to_sim_time(to_seconds(time)) == time);
    }
}

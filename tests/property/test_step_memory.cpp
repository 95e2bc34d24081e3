// A step needs memory for what its ranks are and where they stand, not for every op of every rank.
// Bounds are a few times what is used, and hold with sanitizers too.

#include "sim/engine/engine.h"
#include "tests/catch.h"
#include "tests/support/grid_job.h"
#include "tests/support/resident_memory.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// TP 8, PP 16; every rank at its own speed, so that none stands for another.
GridJob uneven_job(std::uint32_t dp)
{
    return grid_job(
        {.tp = 8, .pp = 16, .dp = dp, .layers = 8, .micro_batches = 25, .uneven = true});
}

struct Used {
    double megabytes = 0;
    double per_op = 0; // bytes
};

Used used_by(const GridJob& job, Tier tier)
{
    RunControl control;
    control.steps = 1;
    control.tier = tier;
    const MemoryRise rise;
    const auto ran = run(job.program, job.binding, control);
    REQUIRE(ran);
    const double megabytes = rise.megabytes();
    return {megabytes, megabytes * 1e6 / static_cast<double>(ran->result.ops)};
}

} // namespace

TEST_CASE("a replayed step of 16,384 ranks keeps less than ten bytes for each of its ops")
{
    const Used used = used_by(uneven_job(128), Tier::replay);
    INFO(used.megabytes << " MB");
    CHECK(used.per_op < 10);
}

TEST_CASE("the event engine keeps less than ten bytes for each op of 2,048 ranks")
{
    const Used used = used_by(uneven_job(16), Tier::event);
    INFO(used.megabytes << " MB");
    CHECK(used.per_op < 10);
}

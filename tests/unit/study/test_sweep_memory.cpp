#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "sim/study/sweep.h"
#include "tests/catch.h"
#include "tests/support/resident_memory.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// A model of 7 B parameters on one node; every point is another program.
ScenarioFile sharded_base()
{
    Scenario s;
    s.model = {"llama-2-7b", {}};
    s.topology = {"h100-1x8", {}};
    s.training.sequence_length = 1024;
    s.training.global_batch = 8;
    s.strategy.zero = 3;
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", "test");
}

void sweep_lengths(Session& session, std::string_view lengths)
{
    const Checked<SweepAxis> axis = parse_axis("training.sequence_length=" + std::string(lengths));
    REQUIRE(axis);
    const SweepEnd end = sweep(sharded_base(), {{*axis}}, session, {1, {}}, [](SweepPoint&&) {});
    REQUIRE(end.done == end.points);
}

} // namespace

// What a session keeps of the points it has seen is bounded: by far the most points are forgotten.
TEST_CASE("a sweep of a thousand points needs hardly more memory than one of a hundred")
{
    Session session;
    sweep_lengths(session, "1024..1123");
    const MemoryRise rise;
    sweep_lengths(session, "1124..2123");
    INFO(rise.megabytes() << " MB more");
    CHECK(rise.megabytes() < 50);
}

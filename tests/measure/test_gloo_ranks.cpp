#include "tests/catch.h"
#include "tests/measure/run_ranks.h"

using trainyard::testing::run_ranks;

namespace {

void check(const std::string& checks, int ranks)
{
    const auto outcome = run_ranks(GLOO_MODULE, checks, ranks);
    INFO(outcome.output);
    CHECK(outcome.succeeded);
}

} // namespace

TEST_CASE("over Gloo every collective leaves the exact result on each of 2 ranks")
{
    check("facts,collectives,refusals", 2);
}

TEST_CASE("over Gloo every collective leaves the exact result on each of 3 ranks")
{
    check("facts,collectives", 3);
}

TEST_CASE("all algorithms of Gloo sum the same")
{
    check("algorithms", 3);
}

TEST_CASE("over Gloo messages arrive whole, in groups of any ranks")
{
    check("messages,groups", 3);
}

TEST_CASE("what runs beside a collective of Gloo is known to cover it or not")
{
    check("kernels", 2);
}

TEST_CASE("a rank that waits for others over Gloo can be called off")
{
    check("abort,abort_inside", 2);
}

TEST_CASE("the end of a rank is noticed by the others over Gloo")
{
    check("death", 3);
}

#include "tests/catch.h"
#include "tests/property/random_laws.h"

using namespace trainyard::testing;

TEST_CASE("memory of a random job never falls below its states and ends where it began")
{
    check_memory_over_time({.seed = 11, .jobs = 150});
}

TEST_CASE("a random job moves the bytes of the closed forms over each kind of group")
{
    check_traffic({.seed = 12, .jobs = 300});
}

TEST_CASE("more bandwidth never ends a random job later on the same order")
{
    check_more_bandwidth({.seed = 13, .jobs = 60});
}

TEST_CASE("renamed lanes and idle nodes change nothing of a random job")
{
    check_renaming({.seed = 14, .jobs = 60});
}

TEST_CASE("what a refusal of a random job proposes makes the job run")
{
    check_hints({.seed = 15, .jobs = 300});
}

TEST_CASE("no bound of a random job's step is above its time or its memory")
{
    check_bounds({.seed = 16, .jobs = 400});
}

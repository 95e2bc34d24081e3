// The laws of test_random_laws.cpp on thousands of jobs.

#include "tests/catch.h"
#include "tests/property/random_laws.h"

using namespace trainyard::testing;

TEST_CASE("thousands of random jobs give their memory back")
{
    check_memory_over_time({.seed = 21, .jobs = 2000});
}

TEST_CASE("thousands of random jobs move the bytes of the closed forms")
{
    check_traffic({.seed = 22, .jobs = 5000});
}

TEST_CASE("more bandwidth ends none of a thousand random jobs later")
{
    check_more_bandwidth({.seed = 23, .jobs = 1000});
}

TEST_CASE("renamed lanes and idle nodes change nothing of a thousand random jobs")
{
    check_renaming({.seed = 24, .jobs = 1000});
}

TEST_CASE("what thousands of refusals propose makes the jobs run")
{
    check_hints({.seed = 25, .jobs = 5000});
}

TEST_CASE("no bound of the step of a hundred thousand random jobs is above its time or its memory")
{
    check_bounds({.seed = 26, .jobs = 100'000});
}

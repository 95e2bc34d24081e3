#include "tests/catch.h"
#include "tests/measure/run_ranks.h"

using trainyard::testing::run_mpi_ranks;

namespace {

void check(const std::string& checks, int ranks)
{
    const auto outcome = run_mpi_ranks(MPIRUN, MPI_MODULE, checks, ranks);
    INFO(outcome.output);
    CHECK(outcome.succeeded);
}

} // namespace

TEST_CASE("over MPI collectives, messages, groups and kernels do what they should")
{
    check("facts,collectives,messages,groups,refusals,kernels", 2);
}

TEST_CASE("over MPI some of 3 ranks form groups")
{
    check("groups,messages", 3);
}

TEST_CASE("a rank that waits for others over MPI can be called off")
{
    check("abort", 2);
}

TEST_CASE("MPI that was not started with all ranks is refused")
{
    const auto outcome = trainyard::testing::run_ranks(MPI_MODULE, "facts", 2);
    CHECK_FALSE(outcome.succeeded);
    CHECK_THAT(outcome.output, ContainsSubstring("MPI sees 1 of 2 processes"));
}

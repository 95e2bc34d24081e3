#include "sim/base/diagnostic.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {
const std::vector<std::string> names{"bandwidth", "latency", "tp", "sequence_length"};
}

TEST_CASE("a misspelt name finds the one that was meant")
{
    CHECK(did_you_mean("bandwith", names) == "bandwidth");
    CHECK(did_you_mean("latnecy", names) == "latency"); // neighbours swapped
    CHECK(did_you_mean("sequence-length", names) == "sequence_length");
    CHECK(did_you_mean("BANDWIDTH", names) == "bandwidth");
    CHECK(did_you_mean("pt", names) == "tp");
}

TEST_CASE("a word unlike every name is not corrected")
{
    CHECK(did_you_mean("colour", names).empty());
    CHECK(did_you_mean("", names).empty());
    CHECK(did_you_mean("x", {}).empty());
}

TEST_CASE("the nearest of several names wins")
{
    const std::vector<std::string> close{"zero1", "zero", "zeros"};
    CHECK(did_you_mean("zero", close) == "zero");
    CHECK(did_you_mean("zer", close) == "zero");
}

TEST_CASE("a suggestion is the nearest name, else all of them")
{
    CHECK(suggestion("bandwith", names) == "did you mean \"bandwidth\"?");
    CHECK(suggestion("colour", names) == "one of: bandwidth, latency, tp, sequence_length");
    CHECK(suggestion("colour", {}).empty());
}

TEST_CASE("a word of a million letters is answered at once")
{
    CHECK(did_you_mean(std::string(1'000'000, 'x'), names).empty());
}

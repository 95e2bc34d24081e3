#include "sim/base/diagnostic.h"
#include "sim/base/spelling.h"
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

TEST_CASE(
    "another digit is another thing: of two near names the one that keeps the digits is meant")
{
    const std::vector<std::string> models{"llama-2-70b", "llama-3.1-8b", "llama-3.1-70b"};
    CHECK(did_you_mean("llama-3-70b", models) == "llama-3.1-70b"); // not one digit away: llama-2
    CHECK(did_you_mean("llama3-70b", models) == "llama-3.1-70b");  // nor a dash for the 3
    CHECK(did_you_mean("llama-3.1-80b", models) == "llama-3.1-8b");
    CHECK(did_you_mean("lama-2-70b", models) == "llama-2-70b");
}

TEST_CASE("an option is a slip of another at two letters or with words left out, and no further")
{
    const std::vector<std::string> known{"--tensor-model-parallel-size", "--num-layers",
                                         "--seq-length", "--fp8-format"};
    CHECK(near_option("--tensor-model-parallel-sizes", known) == "--tensor-model-parallel-size");
    CHECK(near_option("--tensor-parallel-size", known) == "--tensor-model-parallel-size");
    CHECK(near_option("--num-layer", known) == "--num-layers");
    CHECK(near_option("--seq-lenght", known) == "--seq-length");
    // Options of their own, which did_you_mean would take for slips.
    CHECK(near_option("--fp4-format", known).empty());
    CHECK(near_option("--num-experts", known).empty());
    CHECK(near_option("--size", known).empty());
    const std::vector<std::string> short_names{"--lora", "--bf16"};
    CHECK(near_option("--lr", short_names).empty());
    CHECK(near_option("--bf6", short_names) == "--bf16");
    CHECK(near_slip("--tensor-model-paralel-size", known) == "--tensor-model-parallel-size");
    CHECK(near_slip("--tensor-parallel-size", known).empty());
}

TEST_CASE("a name that is only begun has all that begin like it, however they are parted")
{
    const std::vector<std::string> models{"gpt-3-175b", "gpt2-xl", "llama-3.1-70b", "llama-3.1-8b"};
    CHECK(names_beginning("gpt-2", models) == std::vector<std::string>{"gpt2-xl"});
    CHECK(names_beginning("GPT", models) == std::vector<std::string>{"gpt-3-175b", "gpt2-xl"});
    CHECK(names_beginning("llama3", models).size() == 2);
    CHECK(names_beginning("3.1", models).empty());
    CHECK(names_beginning("gp", models).empty()); // a slip rather than a family
    CHECK(names_beginning("", models).empty());
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

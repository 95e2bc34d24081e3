#include "tests/catch.h"
#include "tests/golden/case.h"
#include "tests/golden/match.h"

#include <stdexcept>

using namespace trainyard::golden;

TEST_CASE("without wildcards and tolerance only the same text matches")
{
    CHECK(matches("a 1\nb\n", "a 1\nb\n", 0));
    CHECK_FALSE(matches("a 1\nb\n", "a 1\n", 0));
    CHECK_FALSE(matches("a 1\n", "a 1\nb\n", 0));
    CHECK_FALSE(matches("a 1\n", "a 1.0\n", 0));
    CHECK_FALSE(matches("a  1\n", "a 1\n", 0));
    CHECK_FALSE(matches("", "a\n", 0));
    CHECK(matches("", "", 0));
}

TEST_CASE("with a tolerance numbers may differ by so much and text not at all")
{
    CHECK(matches("step 1.00 s", "step 1.04 s", 0.05));
    CHECK(matches("step    1.00 s", "step 1.04 s", 0.05));
    CHECK_FALSE(matches("step 1.00 s", "step 1.06 s", 0.05));
    CHECK_FALSE(matches("step 1.00 s", "step 1.04 ms", 0.05));
    CHECK_FALSE(matches("step 1.00 s", "step -1.00 s", 0.05));
    CHECK_FALSE(matches("step 1.00 s", "step s", 0.05));
}

TEST_CASE("a line of dots stands for any lines and dots in a line for any characters")
{
    CHECK(matches("a\n...\nz\n", "a\nb\nc\nz\n", 0));
    CHECK(matches("a\n...\nz\n", "a\nz\n", 0));
    CHECK(matches("...\n", "", 0));
    CHECK_FALSE(matches("a\n...\nz\n", "a\nb\n", 0));
    CHECK(matches("took ... ms", "took 17.3 ms", 0));
    CHECK(matches("a...b...c", "a b b c", 0));
    CHECK(matches("stage 0...", "stage 0  19.7 GB", 0.1));
    CHECK_FALSE(matches("took ... ms", "took 17.3 s", 0));
}

TEST_CASE("a case reads back as it was written")
{
    const std::string text = "What it shows.\n$ trainyard check a.json\n--- file a.json\n{}\n"
                             "--- tolerance 5 %\n--- exit 3\n--- stderr\nno\n--- wrote\nb\n";
    const Case golden = parse_case(text);
    CHECK(golden.command == "trainyard check a.json");
    CHECK(golden.files.at(0).second == "{}\n");
    CHECK(golden.tolerance == 0.05);
    CHECK(golden.expected.exit == 3);
    CHECK(golden.expected.err == "no\n");
    CHECK(golden.expected.wrote == "b\n");
    CHECK(to_text(golden) == text);
}

TEST_CASE("a case of another form is refused")
{
    CHECK_THROWS_AS(parse_case("no command\n"), std::runtime_error);
    CHECK_THROWS_AS(parse_case("x\n$ true\n--- nonsense\n"), std::runtime_error);
    CHECK_THROWS_AS(parse_case("x\n$ true\n--- exit 0\nstray\n"), std::runtime_error);
}

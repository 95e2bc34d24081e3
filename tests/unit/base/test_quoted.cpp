#include "sim/base/quoted.h"
#include "tests/catch.h"

using namespace trainyard;

TEST_CASE("a CSV field is quoted when it must be")
{
    CHECK(csv_field("plain text") == "plain text");
    CHECK(csv_field("a,b") == "\"a,b\"");
    CHECK(csv_field("say \"hi\"") == "\"say \"\"hi\"\"\"");
    CHECK(csv_field("two\nlines") == "\"two\nlines\"");
}

TEST_CASE("a shell reads a quoted word back as it was")
{
    CHECK(shell_word("strategy.tp=4,a/b:c+d") == "strategy.tp=4,a/b:c+d");
    CHECK(shell_word("") == "''");
    CHECK(shell_word("two words $HOME") == "'two words $HOME'");
    CHECK(shell_word("it's") == "'it'\\''s'");
}

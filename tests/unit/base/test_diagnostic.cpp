#include "sim/base/diagnostic.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <sys/stat.h>

#include <algorithm>

using namespace trainyard;
using trainyard::testing::Folder;

TEST_CASE("a problem shows file, line, message, pointer, the line itself and the way out")
{
    const Folder folder;
    const std::string file =
        folder.file("cluster.json", "{\n  \"nvlink\": {\"bandwith\": \"450 GB/s\"}\n}\n");
    CHECK(render(Diagnostic{file, 2, "/nvlink/bandwith", "unknown key \"bandwith\"",
                            "did you mean \"bandwidth\"?", Severity::error}) ==
          file + ":2: error: unknown key \"bandwith\" at /nvlink/bandwith\n"
                 "    2 |   \"nvlink\": {\"bandwith\": \"450 GB/s\"}\n"
                 "      did you mean \"bandwidth\"?\n");
}

TEST_CASE("what is not known of a problem is left out")
{
    CHECK(render(Diagnostic{"", 0, "", "no", "", Severity::error}) == "error: no\n");
    CHECK(render(Diagnostic{"a.json", 0, "", "no", "", Severity::warning}) ==
          "a.json: warning: no\n");
    CHECK(render(Diagnostic{"/nowhere/a.json", 3, "/x", "no", "", Severity::error}) ==
          "/nowhere/a.json:3: error: no at /x\n");
}

TEST_CASE("lines are quoted in whatever order their problems come")
{
    const Folder folder;
    const std::string file = folder.file("a.json", "one\r\n\ttwo\nthree");
    const auto at = [&file](int line) {
        return Diagnostic{file, line, "", "no", "", Severity::error};
    };
    const Problems problems{at(3), at(1), at(2), at(2), at(4)};
    const std::string text = render(problems, "nothing was run.");
    CHECK(text == file + ":3: error: no\n    3 | three\n" + file + ":1: error: no\n    1 | one\n" +
                      file + ":2: error: no\n    2 |  two\n" + file +
                      ":2: error: no\n    2 |  two\n" + file +
                      ":4: error: no\n5 problems; nothing was run.\n");
}

TEST_CASE("only errors are counted, and warnings alone close with nothing")
{
    const Diagnostic warning{"", 0, "", "odd", "", Severity::warning};
    const Diagnostic error{"", 0, "", "wrong", "", Severity::error};
    CHECK(render(Problems{warning}, "nothing was run.") == "warning: odd\n");
    CHECK(render(Problems{warning, error}, "nothing was run.") ==
          "warning: odd\nerror: wrong\n1 problem; nothing was run.\n");
    CHECK(render(Problems{}, "nothing was run.").empty());
}

TEST_CASE("a thousand problems are counted and fifty shown")
{
    const Problems many(1000, Diagnostic{"", 0, "", "wrong", "", Severity::error});
    const std::string text = render(many, "nothing was run.");
    CHECK(std::count(text.begin(), text.end(), '\n') == 52);
    CHECK_THAT(text, EndsWith("... and 950 more errors\n1000 problems; nothing was run.\n"));
}

TEST_CASE("text from outside cannot drive the terminal or flood it")
{
    const std::string text =
        render(Diagnostic{"", 0, "", "unknown key \"\x1b[31m" + std::string(100'000, 'x') + "\"",
                          "", Severity::error});
    CHECK(text.size() < 500);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK_THAT(text, ContainsSubstring("\\x1b[31m"));
}

TEST_CASE("what is no UTF-8 is shown as bytes, what is stays")
{
    const std::string text =
        render(Diagnostic{"", 0, "", "a\xFF\xC3\xA9\xC3(\xE2\x82", "", Severity::error});
    CHECK(text == "error: a\\xff\xC3\xA9\\xc3(\\xe2\\x82\n");
}

TEST_CASE("controls beyond 7 bits, marks of direction and overlong bytes are shown as bytes")
{
    const std::string text = render(Diagnostic{
        "", 0, "", "a\xC2\x9B|\xE2\x80\xAE|\xE0\x80\x80\xED\xA0\x80", "", Severity::error});
    CHECK(text == "error: a\\xc2\\x9b|\\xe2\\x80\\xae|\\xe0\\x80\\x80\\xed\\xa0\\x80\n");
}

TEST_CASE("a line that is too long is cut between characters")
{
    const Folder folder;
    std::string wide = "x"; // every other byte starts a character: 160 falls inside one
    for (int i = 0; i < 200; ++i)
        wide += "\xC3\xA9";
    const std::string file = folder.file("a.json", wide);
    const std::string text = render(Diagnostic{file, 1, "", "no", "", Severity::error});
    CHECK_THAT(text, EndsWith("\xC3\xA9 ...\n"));
}

TEST_CASE("a pipe is not read a second time to be quoted")
{
    const Folder folder;
    const std::string pipe = (folder.path() / "pipe").string();
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(render(Diagnostic{pipe, 1, "", "no", "", Severity::error}) == pipe + ":1: error: no\n");
}

#include "sim/report/text/table.h"
#include "sim/report/text/terminal.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

#include <sstream>

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::size_t widest_line(const std::string& text)
{
    std::istringstream lines(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);)
        widest = std::max(widest, text_width(line));
    return widest;
}

} // namespace

TEST_CASE("the terminal report leads with the step time, its interval and its evidence")
{
    const std::string text = terminal_text(small_outcome(), small_summary());
    CHECK_THAT(text, ContainsSubstring("Step time   100 ms"));
    CHECK_THAT(text, ContainsSubstring("72.0 ms to 128 ms (90 %), evidence: published"));
    CHECK(text.find("Step time") < text.find("Where the time goes"));
    CHECK_THAT(text, ContainsSubstring("tiny on 4 x H100-SXM5-80GB"));
    CHECK_THAT(text, ContainsSubstring("31 % of the step is bubble"));
}

TEST_CASE("each figure stands beside its usual target")
{
    const std::string text = terminal_text(small_outcome(), small_summary());
    CHECK_THAT(text, ContainsSubstring("7.0 %  fair  < 5 % good, > 20 % hurts"));
    CHECK_THAT(text, ContainsSubstring("94.0 %  good  > 90 % good"));
    CHECK_THAT(text, ContainsSubstring("31.0 %  poor"));
}

TEST_CASE("a job that does not fit says by how much and where")
{
    Outcome outcome = small_outcome();
    Summary summary = small_summary();
    outcome.memory.stages[0].kinds["activations"] = Bytes(52'300'000'000);
    summary.fits = false;
    summary.peak_memory = outcome.memory.peak();
    CHECK_THAT(terminal_text(outcome, summary),
               ContainsSubstring("DOES NOT FIT: 12.3 GB too much on stage 0"));
}

TEST_CASE("no line is wider than asked, whatever the names")
{
    Outcome outcome = small_outcome();
    outcome.job.model.name = std::string(200, 'm');
    outcome.warnings = {{"", 0, "", std::string(30, 'w') + " " + std::string(60, 'x'), "", {}}};
    outcome.memory.stages[0].kinds[std::string(80, 'k')] = Bytes(1000);
    for (const std::size_t width : {80U, 100U, 140U})
        CHECK(widest_line(terminal_text(outcome, small_summary(), {Colour::none, width})) <=
              std::max<std::size_t>(width, 100));
}

TEST_CASE("colour adds escape sequences and changes no character cell")
{
    const std::string plain = terminal_text(small_outcome(), small_summary());
    std::string coloured = terminal_text(small_outcome(), small_summary(), {Colour::ansi});
    CHECK(plain.find('\x1b') == std::string::npos);
    CHECK(coloured.find('\x1b') != std::string::npos);
    for (std::size_t at = 0; (at = coloured.find('\x1b')) != std::string::npos;)
        coloured.erase(at, coloured.find('m', at) + 1 - at);
    CHECK(coloured == plain);
}

TEST_CASE("columns line up in character cells, not in bytes")
{
    TextTable table({Align::left, Align::right});
    table.add({"a", "1"});
    table.add({"\xC3\xA9\xC3\xA9", "22"}); // two letters, four bytes
    CHECK(table.text(0) == "a    1\n\xC3\xA9\xC3\xA9  22\n");
}

TEST_CASE("text is cut and wrapped at cells")
{
    CHECK(shortened("abcdef", 6) == "abcdef");
    CHECK(end_of("abcdef", 6) == "abcdef");
    CHECK(end_of("abcdef", 4) == "\xE2\x80\xA6"
                                 "def");
    CHECK(end_of("a\xC3\xA9\xC3\xA9z", 3) == "\xE2\x80\xA6\xC3\xA9z");
    CHECK(shortened("abcdef", 4) == "abc\xE2\x80\xA6");
    CHECK(wrapped("one two three", 8) == std::vector<std::string>{"one two", "three"});
    CHECK(wrapped("", 8) == std::vector<std::string>{""});
}

TEST_CASE("a single GPU's report speaks of neither network nor links it does not use")
{
    const Outcome outcome = single_gpu_outcome();
    const std::string text = terminal_text(outcome, summarize(outcome));
    CHECK_THAT(text, !ContainsSubstring("Communication\n"));
    CHECK_THAT(text, !ContainsSubstring("node to node"));
}

TEST_CASE("a warning is shown with its place and what to do")
{
    Outcome outcome = small_outcome();
    outcome.warnings = {{"a.json", 6, "/environment/X", "nothing reads X", "leave it out", {}}};
    const std::string text = terminal_text(outcome, small_summary());
    CHECK_THAT(text,
               ContainsSubstring("  warning: nothing reads X at /environment/X: leave it out\n"));
}

TEST_CASE("a number keeps its percent sign on the line")
{
    CHECK(wrapped("a loss of 18.1 % hurts", 15) ==
          std::vector<std::string>{"a loss of", "18.1 % hurts"});
    CHECK(wrapped("most of it, 5 %", 13) == std::vector<std::string>{"most of it,", "5 %"});
}

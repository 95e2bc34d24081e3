// Text in cells: tables, wrapped lines, and every report inside the width it is asked for.

#include "sim/report/compare/compare.h"
#include "sim/report/stuck/stuck_summary.h"
#include "sim/report/sweep/sweep_output.h"
#include "sim/report/text/memory_text.h"
#include "sim/report/text/table.h"
#include "sim/report/text/terminal.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

#include <fmt/core.h>

#include <sstream>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::array<std::size_t, 3> widths{80, 100, 140};
const Paint plain(Colour::none);

std::size_t widest_line(const std::string& text)
{
    std::istringstream lines(text);
    std::size_t widest = 0;
    for (std::string line; std::getline(lines, line);)
        widest = std::max(widest, text_width(line));
    return widest;
}

// A job of 16,384 ranks in which many wait for two that hang.
StuckSummary stuck_summary()
{
    StuckPlace place{.op = "dp reduce-scatter",
                     .collective = "reduce_scatter",
                     .stream = "pp backward receive",
                     .micro_batch = 127,
                     .layer = 125,
                     .layer_name = "layer 125",
                     .step = 4,
                     .steps_after = 2};
    StuckSummary summary;
    summary.ranks = summary.waiting = 16384;
    const Seconds late(123.456);
    summary.culprits = {{12345, 8, 1543, 15, StopKind::hangs, late, place}};
    SomeRanks some{{16000, 16001, 16002, 16003, 16004, 16005, 16006, 16007}, 16370};
    summary.waits = {{1, place, GroupKind::replicate, 2048, 7, WaitCause::death, late, some, some}};
    summary.notice = {16000, place, Backend::nccl, late, Seconds(600), true};
    return summary;
}

SweepBest swept(const SweepGrid& space)
{
    SweepBest best(SweepMeasure::throughput, 20);
    PointRow row;
    row.gpus = 16384;
    for (const SweepAxis& axis : space.axes)
        row.values.push_back(axis.values.front());
    row.tokens_per_s = 1.23e8;
    row.step_time.value = Seconds(12.3);
    row.peak_memory = row.capacity = Bytes(80);
    best.add(row); // marked: no memory to spare
    row.index = 1;
    row.peak_memory = Bytes(40);
    best.add(row);
    row.index = 2;
    row.reason = "the pipeline of 16 stages has fewer layers than stages and cannot be laid out";
    row.hint =
        "virtual stages that divide the layers of the model, or fewer stages of the pipeline";
    best.add(row);
    return best;
}

} // namespace

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

TEST_CASE("a table that is too wide wraps its widest columns at words")
{
    TextTable table({Align::left, Align::left, Align::right});
    table.add({"ranks that wait", "where", "since"});
    table.add({"0", "stream dp, micro-batch 15", "1.95 s"});
    CHECK(table.text_within(60) == table.text());
    CHECK(table.text_within(36) == "  ranks that  where            since\n"
                                   "  wait\n"
                                   "  0           stream dp,      1.95 s\n"
                                   "              micro-batch 15\n");
}

TEST_CASE("a table that words alone cannot make narrow enough moves together")
{
    TextTable table({Align::left, Align::right});
    table.add({"reduce-scatter", "bandwidth"});
    CHECK(table.text_within(26) == " reduce-scatter bandwidth\n");
    CHECK(table.text_within(10) == " reduce-scatter bandwidth\n"); // words stay whole
}

TEST_CASE("each line of a painted cell is painted by itself")
{
    TextTable table({Align::left, Align::left});
    const Paint paint(Colour::ansi);
    table.add({paint.dim("one two"), "x"});
    CHECK(table.text_within(8) == "  " + paint.dim("one") + "  x\n  " + paint.dim("two") + "\n");
}

TEST_CASE("text hangs below its first word")
{
    CHECK(hung("  noticed  ", "one two three", 18) == "  noticed  one two\n"
                                                      "           three\n");
}

TEST_CASE("a number keeps its percent sign on the line")
{
    CHECK(wrapped("a loss of 18.1 % hurts", 15) ==
          std::vector<std::string>{"a loss of", "18.1 % hurts"});
    CHECK(wrapped("most of it, 5 %", 13) == std::vector<std::string>{"most of it,", "5 %"});
}

TEST_CASE("a number keeps its unit, and an option its value, on the line")
{
    CHECK(wrapped("it takes 84.1 ms alone", 14) ==
          std::vector<std::string>{"it takes", "84.1 ms alone"});
    CHECK(wrapped("saves much (234 ms)", 16) == std::vector<std::string>{"saves much", "(234 ms)"});
    CHECK(wrapped("it costs $ 69.5 k more", 14) ==
          std::vector<std::string>{"it costs", "$ 69.5 k more"});
    CHECK(wrapped("--set a=1 --set b=2", 12) == std::vector<std::string>{"--set a=1", "--set b=2"});
}

TEST_CASE("no line is wider than asked, whatever the names")
{
    Outcome outcome = small_outcome();
    outcome.job.model.name = std::string(200, 'm');
    outcome.warnings = {{"", 0, "", std::string(30, 'w') + " " + std::string(60, 'x'), "", {}}};
    outcome.memory.stages[0].kinds[std::string(80, 'k')] = Bytes(1000);
    for (const std::size_t width : widths)
        CHECK(widest_line(terminal_text(outcome, small_summary(), {Colour::none, width})) <= width);
}

TEST_CASE("a stuck job is told inside the width")
{
    for (const std::size_t width : widths)
        CHECK(widest_line(stuck_text(stuck_summary(), width)) <= width);
}

TEST_CASE("a sweep is told inside the width, but for the line to paste")
{
    const SweepGrid grid{
        {{"strategy.tp", {"16"}}, {"strategy.pp", {"16"}}, {"training.global_batch", {"16384"}}}};
    const SweepTitle title{"scenarios/mine.json",
                           grid,
                           {{{"strategy.dp", "null"}, "16"}},
                           SweepMeasure::mfu,
                           {2, 2, false}};
    for (const std::size_t width : widths) {
        std::string text = sweep_text(title, swept(grid), plain, width);
        const std::size_t paste = text.find("  --set");
        REQUIRE(paste != std::string::npos);
        text.erase(paste, text.find('\n', paste) - paste);
        CHECK(widest_line(text) <= width);
    }
}

TEST_CASE("a comparison is told inside the width")
{
    std::vector<ComparedRun> runs;
    for (const int number : {1, 2, 3, 4}) {
        runs.push_back({fmt::format("scenarios/a-long-name-of-a-scenario-{}.json", number),
                        small_outcome(), small_summary()});
        runs.back().outcome.scenario.training.global_batch = 1000 * number;
        runs.back().summary.step_time.value = Seconds(0.1 * number);
        for (const std::size_t width : widths)
            if (number > 1)
                CHECK(widest_line(comparison_text(runs, {Colour::none, width})) <= width);
    }
}

TEST_CASE("what fills a device is told inside the width")
{
    MemoryEstimate memory = small_outcome().memory;
    StageMemory& stage = memory.stages[0];
    stage.tensors = {{"gradients of the weights of the up projection", MemoryKind::gradients,
                      Bytes(123'456'789), 1234}};
    stage.allocator.emplace();
    stage.allocator->peak = {123'400'000'000, 156'700'000'000, 1234};
    stage.allocator->steps.assign(8, {123'400'000'000, 156'700'000'000});
    for (const std::size_t width : widths)
        CHECK(widest_line(memory_text(memory, small_outcome().peak_memory,
                                      {std::nullopt, 20, 8, width}, plain)) <= width);
}

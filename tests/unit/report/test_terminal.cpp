#include "sim/report/text/describe.h"
#include "sim/report/text/summary_json.h"
#include "sim/report/text/terminal.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::test;

TEST_CASE("the terminal report leads with the step time, its interval and its evidence")
{
    const std::string text = terminal_text(small_outcome(), small_summary());
    CHECK_THAT(text, ContainsSubstring("Step time   100 ms"));
    CHECK_THAT(text, ContainsSubstring("72.0 ms to 128 ms (90 %), evidence: published"));
    CHECK(text.find("Step time") < text.find("Where the time goes"));
    CHECK_THAT(text, ContainsSubstring("tiny on 4 x H100-SXM5-80GB"));
    CHECK_THAT(text, ContainsSubstring("31 % of the step is bubble"));
}

TEST_CASE("one sequence is no sequences")
{
    Outcome outcome = small_outcome();
    outcome.job.training.sequence_length = 512;
    outcome.job.training.global_batch = 1;
    CHECK_THAT(job_settings(outcome), ContainsSubstring(" 1 sequence of 512 tokens in "));
    outcome.job.training.global_batch = 4;
    CHECK_THAT(job_settings(outcome), ContainsSubstring(" 4 sequences of 512 tokens in "));
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

TEST_CASE("devices that the job leaves idle stand in its title and its layout")
{
    Outcome outcome = small_outcome();
    outcome.cluster_devices = 6;
    CHECK_THAT(job_title(outcome), ContainsSubstring("tiny on 4 of 6 x H100-SXM5-80GB"));
    CHECK_THAT(layout_words(outcome.scenario, outcome), EndsWith(", on 4 of 6 devices"));
    CHECK(step_figures(outcome).idle_gpus == 2);
    outcome.cluster_devices = 4;
    CHECK_THAT(layout_words(outcome.scenario, outcome), !ContainsSubstring("devices"));
    CHECK(step_figures(outcome).idle_gpus == 0);
}

TEST_CASE("memory has its interval, its evidence and a verdict as sure as they are")
{
    const Outcome outcome = small_outcome();
    Summary summary = small_summary(); // 60 GB of 80
    summary.peak = {60_GB, 54_GB, 66_GB, 0.9, Grade::extrapolated, "54 runs of 9 groups"};
    const auto text = [&] { return terminal_text(outcome, summary); };
    CHECK_THAT(text(), ContainsSubstring("54.0 GB to 66.0 GB (90 %), evidence: extrapolated"));
    CHECK_THAT(text(), ContainsSubstring("x 0.90 to x 1.10  54 runs of 9 groups"));
    CHECK_THAT(text(), ContainsSubstring("fits, 25.0 % free"));
    summary.capacity = 64_GB;
    CHECK_THAT(text(), ContainsSubstring("probably fits, 6.2 % free"));
    summary.capacity = 58_GB;
    summary.fits = false;
    CHECK_THAT(text(), ContainsSubstring("PROBABLY DOES NOT FIT: 2.00 GB too much"));
    summary.capacity = 50_GB;
    CHECK_THAT(text(), ContainsSubstring(" DOES NOT FIT: 10.0 GB too much"));
    CHECK(to_json(outcome, summary).find("memory_fit")->as_string() == "does not fit");
    CHECK(to_json(outcome, summary).find("peak_memory_interval_bytes")->items().size() == 2);
    // Nothing measured: the value alone decides, and no interval is made up.
    summary.peak = {.value = 60_GB, .low = 60_GB, .high = 60_GB, .basis = {}};
    CHECK_THAT(text(), !ContainsSubstring("GB to "));
    CHECK(to_json(outcome, summary).find("peak_memory_interval_bytes")->is_null());
    CHECK(to_json(outcome, summary).find("memory_fit")->as_string() == "does not fit");
    // No peak, as of a point of a sweep that was not run: nothing is said of it.
    summary.peak = {};
    CHECK(to_json(outcome, summary).find("memory_fit")->is_null());
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

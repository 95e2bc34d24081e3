#include "sim/report/html/bar_chart.h"
#include "sim/report/timeline/kineto.h"
#include "sim/report/traces/recorded_html.h"
#include "sim/report/traces/recorded_timeline.h"
#include "sim/traces/kineto_reader.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

JobTrace read_back(const Outcome& outcome)
{
    const testing::Folder folder;
    const std::string file = folder.file("step.json", kineto_trace(outcome));
    Checked<std::vector<RankTrace>> ranks = read_kineto(file);
    REQUIRE(ranks);
    std::vector<DigestedRank> digested;
    for (RankTrace& rank : *ranks)
        digested.push_back(digest(std::move(rank)));
    const Checked<JobTrace> job = join_ranks(std::move(digested));
    REQUIRE(job);
    return *job;
}

std::size_t times_in(const std::string& text, std::string_view part)
{
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

} // namespace

TEST_CASE("the page of a recorded run asks for nothing from elsewhere and escapes names")
{
    const JobTrace job = read_back(recorded_outcome());
    RunSummary run = run_summary(job);
    run.device = "<script>alert(1)</script>";
    run.ranks.front().file = "a&b.json";
    const std::string html = recorded_html(run, job, nullptr);
    CHECK_THAT(html, StartsWith("<!DOCTYPE html>"));
    CHECK_THAT(html, EndsWith("</body></html>\n"));
    CHECK(times_in(html, "http") == times_in(html, "http://www.w3.org/2000/svg"));
    CHECK(times_in(html, "<script") == 0);
    CHECK(times_in(html, "a&amp;b.json") == 1);
    CHECK(times_in(html, "<svg") == times_in(html, "</svg>"));
    CHECK(times_in(html, "<table>") == times_in(html, "</table>"));
    CHECK_THAT(html, ContainsSubstring("<h2>One step</h2>"));
    CHECK_THAT(html, !ContainsSubstring("Beside the simulated step"));
}

TEST_CASE("a recorded step's picture is as long as the step, and no slices of a row overlap")
{
    const Outcome outcome = recorded_outcome();
    const Timeline alone = recorded_timeline(read_back(outcome));
    REQUIRE(!alone.lanes.empty());
    CHECK(alone.start == SimTime(0));
    CHECK(alone.end == SimTime(100'000'000'000)); // 100 ms
    for (const TimelineLane& lane : alone.lanes)
        for (const TimelineRow& row : lane.rows)
            for (std::size_t i = 0; i < row.slices.size(); ++i) {
                CHECK(row.slices[i].end <= alone.end);
                if (i > 0)
                    CHECK(row.slices[i].start >= row.slices[i - 1].end);
            }
    // With the simulated step below: of this one the same.
    const Timeline both = both_timelines(read_back(outcome), outcome);
    CHECK(both.lanes.size() == alone.lanes.size() + make_timeline(outcome).lanes.size());
    CHECK(both.end == alone.end);
}

TEST_CASE("shares of a recorded step are of all of it, what is between its kernels included")
{
    StepBar bar;
    bar.name = "rank 0";
    bar.shares[static_cast<std::size_t>(TimeKind::forward)] = Seconds(1);
    bar.queued = Seconds(3);
    const std::string figure = step_bars_figure("one step", {bar});
    CHECK_THAT(figure, ContainsSubstring("forward: 1.00 s, 25.0 %"));
    CHECK_THAT(figure, ContainsSubstring("between queued kernels: 3.00 s, 75.0 %"));
}

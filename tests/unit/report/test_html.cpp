#include "sim/report/html/charts.h"
#include "sim/report/html/html.h"
#include "sim/report/html/palette.h"
#include "sim/report/html/svg.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

#include <limits>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

} // namespace

TEST_CASE("text is escaped for HTML, control characters are dropped")
{
    CHECK(escaped("a<b> & \"c\" 'd'") == "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
    CHECK(escaped("\x01x\x1by") == "xy");
    CHECK(escaped("two\nlines") == "two\nlines");
}

TEST_CASE("coordinates are short and never minus zero")
{
    CHECK(coordinate(1.0) == "1");
    CHECK(coordinate(0.123456) == "0.12");
    CHECK(coordinate(-0.001) == "0");
    CHECK(coordinate(120.5) == "120.5");
}

TEST_CASE("ticks are round, start at zero and end before the end")
{
    CHECK(round_ticks(10, 5) == std::vector<double>{0, 2, 4, 6, 8, 10});
    const auto ticks = round_ticks(0.099, 8);
    CHECK(ticks.size() == 5);
    CHECK_THAT(ticks.back(), WithinRel(0.08, 1e-9));
    CHECK(round_ticks(0, 5).empty());
}

TEST_CASE("a report is one page that asks for nothing from elsewhere")
{
    const std::string html = html_report(recorded_outcome(), small_summary());
    CHECK_THAT(html, StartsWith("<!DOCTYPE html>"));
    CHECK_THAT(html, EndsWith("</body></html>\n"));
    // The only address is the name of SVG's namespace.
    CHECK(count(html, "http") == count(html, "http://www.w3.org/2000/svg"));
    CHECK(count(html, "<script") == 0);
    CHECK(count(html, "@import") == 0);
    CHECK(count(html, " src=") == 0);
    CHECK(count(html, "<svg") == count(html, "</svg>"));
    CHECK(count(html, "<table>") == count(html, "</table>"));
}

TEST_CASE("a report has its parts, and the timeline only with records")
{
    const std::string with = html_report(recorded_outcome(), small_summary());
    for (const char* title : {"Where the time goes", "One step", "Health", "Memory",
                              "Communication", "Assumptions and warnings", "Inputs"})
    {
        INFO(title);
        CHECK_THAT(with, ContainsSubstring("<h2>" + std::string(title) + "</h2>"));
    }
    CHECK_THAT(with, ContainsSubstring("0x0123456789abcdef"));
    CHECK_THAT(with, !ContainsSubstring("<h2>Input data</h2>"));
    Summary fed = small_summary();
    fed.loading = Loading{};
    fed.loading->workers = 8;
    fed.loading->rates.storage = std::numeric_limits<double>::infinity();
    const std::string loaded = html_report(recorded_outcome(), fed);
    CHECK_THAT(loaded, ContainsSubstring("<h2>Input data</h2>"));
    CHECK_THAT(loaded, ContainsSubstring("<td>8 workers</td>"));
    CHECK_THAT(loaded, ContainsSubstring(">no limit</td>"));
    const std::string without = html_report(small_outcome(), small_summary());
    CHECK_THAT(without, !ContainsSubstring("<h2>One step</h2>"));
}

TEST_CASE("no name of the user's can run or break the page")
{
    const std::string attack = "</style><script>alert(1)</script><img src=x onerror=\"y\">";
    Outcome outcome = recorded_outcome();
    outcome.job.model.name = attack;
    outcome.scenario.description = attack;
    outcome.memory.stages[0].kinds[attack] = Bytes(1'000'000'000);
    outcome.warnings = {{attack, 0, attack, attack, attack, Severity::warning}};
    Plan plan = *outcome.plan;
    for (Label& label : plan.program.labels)
        label.name = attack;
    for (Stream& stream : plan.program.streams)
        stream.name = attack;
    for (Role& role : plan.program.roles)
        role.name = attack;
    outcome.plan = std::make_shared<const Plan>(std::move(plan));
    Summary summary = small_summary();
    summary.bottleneck.evidence = summary.bottleneck.advice = attack;
    summary.links[0].name = attack;
    const std::string html = html_report(outcome, summary);
    CHECK(count(html, "<script") == 0);
    CHECK(count(html, "<img") == 0);
    CHECK(count(html, "</style>") == 1);
}

TEST_CASE("bars fill what they stand for")
{
    const std::string figure = memory_figure(small_outcome().memory);
    CHECK_THAT(figure, ContainsSubstring("optimizer: 30.0 GB"));
    CHECK_THAT(figure, ContainsSubstring("80.0 GB per device"));
    // Three kinds in each stage.
    CHECK(count(figure, "<title>") == 6);
}

TEST_CASE("memory over time appears when records tell it")
{
    const auto chart_of = [](const Outcome& outcome) {
        return memory_over_time_figure(outcome, memory_of_lanes(outcome));
    };
    CHECK(chart_of(small_outcome()).empty());
    const std::string figure = chart_of(recorded_outcome());
    CHECK(count(figure, "<path class=\"curve") == 4);
}

TEST_CASE("every kind of time has a class of its own that the style defines")
{
    const std::string style = palette_style();
    std::set<std::string> classes;
    for (const TimeKind kind : time_kinds()) {
        classes.insert(css_class(kind));
        CHECK_THAT(style, ContainsSubstring("." + css_class(kind) + "{"));
    }
    CHECK(classes.size() == time_kind_count);
    const std::string patterns = palette_patterns();
    for (std::size_t at = style.find("url(#"); at != std::string::npos;
         at = style.find("url(#", at + 1))
    {
        const std::string id = style.substr(at + 5, style.find(')', at) - at - 5);
        CHECK_THAT(patterns, ContainsSubstring("id=\"" + id + "\""));
    }
}

TEST_CASE("a job that does not fit is shown as such, with bars beyond the capacity")
{
    Outcome outcome = small_outcome();
    outcome.memory.stages[0].kinds["activations"] = Bytes(60'000'000'000);
    Summary summary = small_summary();
    summary.fits = false;
    summary.peak_memory = outcome.memory.peak();
    const std::string html = html_report(outcome, summary);
    CHECK_THAT(html, ContainsSubstring("Does not fit"));
    CHECK_THAT(html, ContainsSubstring("20.0 GB too much"));
}

TEST_CASE("a page says how many perturbations were not tried one by one")
{
    Summary summary = small_summary();
    summary.pace.emplace();
    CHECK(count(html_report(recorded_outcome(), summary), "not tried") == 0);
    summary.pace->not_tried = 12;
    CHECK(count(html_report(recorded_outcome(), summary),
                "The last 12 entries were not tried one by one.") == 1);
}

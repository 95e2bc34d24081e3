#include "sim/report/compare/compare.h"
#include "sim/report/text/summary_csv.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// The second run has tp 2, takes a quarter longer and does not fit.
std::vector<ComparedRun> two_runs()
{
    std::vector<ComparedRun> runs{{"runs/base.json", small_outcome(), small_summary()},
                                  {"runs/wide.json", small_outcome(), small_summary()}};
    runs[1].outcome.scenario.strategy.tp = 2;
    runs[1].outcome.scenario.description = "words are no setting";
    runs[1].summary.step_time.value = Seconds(0.125);
    runs[1].summary.fits = false;
    return runs;
}

} // namespace

TEST_CASE("a comparison names the settings that differ and no others")
{
    const Comparison comparison = compare(two_runs());
    REQUIRE(comparison.settings.size() == 1);
    CHECK(comparison.settings[0].field == "strategy.tp");
    CHECK(comparison.settings[0].values == std::vector<std::string>{"", "2"});
}

TEST_CASE("changes are relative to the first run")
{
    const Comparison comparison = compare(two_runs());
    REQUIRE(comparison.metrics[0].figure->key == "step_time_s");
    CHECK_THAT(*comparison.metrics[0].change(1), WithinRel(0.25, 1e-12));
    CHECK(comparison.metrics[0].differs());
    CHECK_FALSE(comparison.metrics[1].differs());
}

TEST_CASE("a change from nothing has no percentage")
{
    std::vector<ComparedRun> runs = two_runs();
    runs[0].summary.scaling_efficiency.reset();
    const Comparison comparison = compare(runs);
    for (const MetricComparison& metric : comparison.metrics)
        if (metric.figure->key == "scaling_efficiency")
            CHECK_FALSE(metric.change(1).has_value());
}

TEST_CASE("the text of a comparison shows differences first")
{
    const std::string text = comparison_text(two_runs());
    CHECK(text.find("strategy.tp") < text.find("step time"));
    CHECK_THAT(text, ContainsSubstring("+25.0 %"));
    CHECK_THAT(text, ContainsSubstring("NO"));
    CHECK_THAT(text, !ContainsSubstring("tokens/s"));
}

TEST_CASE("shares change by points")
{
    std::vector<ComparedRun> runs = two_runs();
    runs[0].summary.mfu = 0.40;
    runs[1].summary.mfu = 0.35;
    CHECK_THAT(comparison_text(runs), ContainsSubstring("-5.0 pp"));
}

TEST_CASE("large changes are factors, and none is left blank")
{
    std::vector<ComparedRun> runs = two_runs();
    runs[0].summary.tokens_per_s = 1000;
    runs[1].summary.tokens_per_s = 12'900;
    runs[0].summary.mfu = 0.4;
    runs[1].summary.mfu = 0.4004;
    const std::string text = comparison_text(runs);
    CHECK_THAT(text, ContainsSubstring("x 12.9"));
    CHECK_THAT(text, !ContainsSubstring("+0.0"));
    CHECK_THAT(text, !ContainsSubstring("-0.0"));
}

TEST_CASE("equal runs have no difference")
{
    const std::vector<ComparedRun> runs{{"a", small_outcome(), small_summary()},
                                        {"b", small_outcome(), small_summary()}};
    CHECK_THAT(comparison_text(runs), StartsWith("No setting differs."));
}

TEST_CASE("many runs are listed below each other")
{
    std::vector<ComparedRun> runs;
    for (int i = 0; i < 6; ++i)
        runs.push_back(two_runs()[static_cast<std::size_t>(i % 2)]);
    const std::string text = comparison_text(runs);
    CHECK_THAT(text, ContainsSubstring("strategy.tp = 2"));
    CHECK_THAT(text, ContainsSubstring("+25.0 %"));
}

TEST_CASE("the JSON of a comparison holds values and changes by metric")
{
    const Json json = comparison_json(two_runs());
    const Json& step = *json.find("metrics")->find("step_time_s");
    CHECK(step.find("values")->items().size() == 2);
    CHECK_THAT(step.find("change")->items()[1].as_double(), WithinRel(0.25, 1e-12));
    const Json& tp = *json.find("settings")->find("strategy.tp");
    CHECK(tp.items()[0].is_null());
    CHECK(tp.items()[1].as_integer() == 2);
    CHECK(parse_json(to_text(json), "comparison.json").has_value());
}

TEST_CASE("a CSV has one line of names and as many fields in each row")
{
    Outcome outcome = small_outcome();
    outcome.job.model.name = "";
    const Summary summary = small_summary();
    const std::vector<ResultPair> pairs{{&outcome, &summary}, {&outcome, &summary}};
    const std::string csv = summary_csv(pairs);
    std::vector<std::size_t> fields{1};
    bool quoted = false;
    for (const char letter : csv) {
        quoted = letter == '"' ? !quoted : quoted;
        if (letter == ',' && !quoted)
            ++fields.back();
        if (letter == '\n')
            fields.push_back(1);
    }
    REQUIRE(fields.size() == 4); // the last line is empty
    CHECK(fields[0] > 20);
    CHECK(fields[1] == fields[0]);
    CHECK(fields[2] == fields[0]);
}

#include "sim/study/validation_output.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

RecordVerdict scored(std::string source, double measured, double predicted)
{
    RecordVerdict verdict;
    verdict.id = source + "-run";
    verdict.source = std::move(source);
    verdict.gpu = "H100";
    verdict.architecture = "dense-decoder";
    verdict.strategy = "tp+pp";
    verdict.quality = "A";
    verdict.measured = Seconds(measured);
    verdict.predicted = Prediction{Seconds(predicted), Seconds(predicted * 0.8),
                                   Seconds(predicted * 1.2), Grade::published, "band"};
    return verdict;
}

RecordVerdict skipped(std::string source, std::string why)
{
    RecordVerdict verdict = scored(std::move(source), 1, 1);
    verdict.predicted.reset();
    verdict.skipped = std::move(why);
    return verdict;
}

} // namespace

TEST_CASE("errors are signed fractions of the measured time")
{
    CHECK(scored("a", 2.0, 2.5).error() == 0.25);
    CHECK(scored("a", 2.0, 1.5).error() == -0.25);
}

TEST_CASE("a summary is the mean, median, 90th percentile and worst of the errors")
{
    // Errors -0.1, 0.2, 0.3, and one record skipped. Between the order statistics 0.1, 0.2, 0.3
    // the 90th percentile lies at 0.2 + 0.8 x 0.1.
    const ValidationReport report = summarized(
        {scored("a", 1, 0.9), scored("a", 1, 1.2), scored("a", 1, 1.3), skipped("a", "why not")});
    CHECK(report.all.records == 4);
    CHECK(report.all.scored == 3);
    CHECK(report.all.skipped == 1);
    CHECK_THAT(report.all.mape, WithinAbs(0.2, 1e-12));
    CHECK_THAT(report.all.median_ape, WithinAbs(0.2, 1e-12));
    CHECK_THAT(report.all.bias, WithinAbs(0.4 / 3, 1e-12));
    CHECK_THAT(report.all.p90_ape, WithinAbs(0.28, 1e-12));
    CHECK_THAT(report.all.max_ape, WithinAbs(0.3, 1e-12));
    // 1.3 x 0.8 = 1.04 lies above the measured 1: two of three intervals hold it.
    CHECK_THAT(report.all.covered, WithinAbs(2.0 / 3, 1e-12));
}

TEST_CASE("a source of many rows weighs no more than a source of one")
{
    std::vector<RecordVerdict> verdicts{scored("one", 1, 1.4)};
    for (int i = 0; i < 9; ++i)
        verdicts.push_back(scored("many", 1, 1.1));
    const ValidationReport report = summarized(verdicts);
    CHECK_THAT(report.mean_of_sources, WithinAbs(0.25, 1e-12));
    CHECK_THAT(report.all.mape, WithinAbs(0.13, 1e-12));
}

TEST_CASE("the dense mean takes neither other classes nor lesser quality")
{
    RecordVerdict mixture = scored("moe", 1, 2);
    mixture.architecture = "moe-decoder";
    RecordVerdict vague = scored("vague", 1, 3);
    vague.quality = "B";
    const ValidationReport report = summarized({scored("a", 1, 1.1), mixture, vague});
    CHECK_THAT(report.dense_mean_of_sources, WithinAbs(0.1, 1e-12));
}

TEST_CASE("the means of sources are of shipped constants, other rows show everything")
{
    RecordVerdict own = scored("own", 1, 1.9);
    own.shipped_constants = false;
    const ValidationReport report = summarized({scored("a", 1, 1.1), own});
    CHECK_THAT(report.mean_of_sources, WithinAbs(0.1, 1e-12));
    CHECK_THAT(report.dense_mean_of_sources, WithinAbs(0.1, 1e-12));
    CHECK_THAT(report.all.mape, WithinAbs(0.5, 1e-12));
    CHECK(report.by_source.size() == 2);
    CHECK_THAT(summary_text(report), ContainsSubstring("Mean of the sources' mean errors: 10.0%"));
    CHECK_THAT(summary_text(summarized({own})), ContainsSubstring("no mean of sources"));
}

TEST_CASE("without anything scored there are no errors to report")
{
    const ValidationReport report = summarized({skipped("a", "no")});
    CHECK(report.mean_of_sources == 0);
    const Json json = to_json(report);
    CHECK(json.find("summary")->find("mape") == nullptr);
    CHECK(json.find("summary")->find("skipped")->as_integer() == 1);
    CHECK(json.find("records")->items().front().find("predicted_s")->is_null());
    CHECK_THAT(summary_text(report), ContainsSubstring("     1  no\n"));
    CHECK_THAT(records_text(report), ContainsSubstring("skipped: no"));
    CHECK_THAT(summary_text(summarized({})), ContainsSubstring("0 records"));
}

TEST_CASE("the JSON has what scoring needs")
{
    const Json json = to_json(summarized({scored("a", 2, 2.5), skipped("b", "why")}));
    for (const char* key :
         {"records", "scored", "skipped", "mape", "median_ape", "bias", "p90_ape", "max_ape"})
        CHECK(json.find("summary")->find(key) != nullptr);
    CHECK(json.find("by_source")->find("a")->find("mape")->as_double() == 0.25);
    CHECK(json.find("by_gpu")->find("H100") != nullptr);
    CHECK(json.find("by_class")->find("dense-decoder") != nullptr);
    CHECK(json.find("by_class")->find("dense-decoder tp+pp") != nullptr);
    const Json& record = json.find("records")->items().front();
    CHECK(record.find("measured_s")->as_double() == 2.0);
    CHECK(record.find("predicted_s")->as_double() == 2.5);
    CHECK(record.find("error")->as_double() == 0.25);
    CHECK(record.find("interval_s")->items().size() == 2);
    CHECK(record.find("skipped")->is_null());
    CHECK(json.find("records")->items().back().find("skipped")->as_string() == "why");
}

TEST_CASE("every record is printed with its error and what was assumed")
{
    RecordVerdict verdict = scored("a", 2, 2.5);
    verdict.assumptions = {"recompute not stated: full", "micro-batch not stated: 1"};
    const std::string text = records_text(summarized({verdict}));
    CHECK_THAT(text, ContainsSubstring("measured 2 s, predicted 2.5 s (2 to 3 s), error +25.0%"));
    CHECK_THAT(text, ContainsSubstring("recompute not stated: full; micro-batch not stated: 1"));
}

TEST_CASE("commas and quotes survive a CSV")
{
    RecordVerdict verdict = scored("a", 1, 1);
    verdict.id = "one, \"two\"";
    const std::string csv = to_csv(summarized({verdict}));
    CHECK_THAT(csv, ContainsSubstring("\"one, \"\"two\"\"\","));
}

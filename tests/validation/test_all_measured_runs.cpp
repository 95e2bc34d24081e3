// The whole of records/: minutes in an instrumented build, so these run with --all only.

#include "sim/study/validate.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

ValidationReport judged(const std::string& name)
{
    const Checked<RecordFile> file = read_records("tests/validation/records/" + name + ".json");
    REQUIRE(file.has_value());
    return validate({&*file, 1});
}

} // namespace

TEST_CASE("dense decoders of published runs are predicted within a tenth, source by source")
{
    const ValidationReport report = judged("training_dev");
    const auto scored_a = std::ranges::count_if(report.records, [](const RecordVerdict& verdict) {
        return verdict.quality == "A" && verdict.skipped.empty();
    });
    CHECK(scored_a >= 350);
    CHECK(report.dense_mean_of_sources < 0.08);
    CHECK(report.mean_of_sources < 0.08);
    // Intervals are to hold nine in ten of runs nobody has looked at: of these, at least as many.
    for (const ErrorSummary& group : report.by_class)
        if (group.name == "dense-decoder" || group.name == "moe-decoder" ||
            group.name == "encoder" || group.name == "cnn")
        {
            INFO(group.name);
            CHECK(group.covered >= 0.9);
        }
}

TEST_CASE("1440 small jobs inside an A100 node are predicted within a tenth on average")
{
    const ValidationReport report = judged("a100_megatron_single_node");
    CHECK(report.all.scored == 1440);
    CHECK(report.all.mape < 0.1);
    // 144 jobs by model, batch and GPUs, 8 of which were measured with two layouts only.
    CHECK(report.choice.choices.size() == 136);
    CHECK(report.choice.mean < 0.035);
    CHECK(report.choice.at_random > 0.25);
    CHECK(report.choice.among_three_best >= report.choice.more_than_three - 1);
}

TEST_CASE("a B200 node that no fit has seen has a bias below 12 %")
{
    const ValidationReport report = judged("b200_megatron_single_node");
    CHECK(report.all.scored == 22);
    CHECK(report.all.covered >= 0.9);
    CHECK(std::abs(report.all.bias) < 0.12);
    CHECK(report.choice.worst == 0); // all are off by about the same
}

TEST_CASE("runs of later releases that no fit has seen are predicted by class")
{
    const ValidationReport report = judged("training_dev_2026");
    for (const ErrorSummary& group : report.by_class) {
        INFO(group.name);
        if (group.name == "dense-decoder")
            CHECK(group.mape < 0.07);
        else if (group.name == "moe-decoder")
            CHECK(group.mape < 0.16);
        else if (group.name == "hybrid-mamba2-moe")
            CHECK(group.mape < 0.16);
    }
}

// What the fits reach on published sweeps, and that the shipped files are made of them.

#include "calibrate/fit/fit_report.h"
#include "calibrate/fit/reference.h"
#include "calibrate/fit/shipped_fabrics.h"
#include "calibrate/fit/shipped_knots.h"
#include "calibrate/fit/table_text.h"
#include "calibrate/import/read_sweeps.h"
#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

std::vector<Sweep> sweeps_of_file(const char* name)
{
    const auto file = read_sweeps_file((data_dir() / "calibrate" / "sweeps" / name).string());
    REQUIRE(file);
    return file->sweeps;
}

std::vector<Sweep> all_sweeps()
{
    std::vector<Sweep> out = sweeps_of_file("published.json");
    for (Sweep& sweep : sweeps_of_file("published_logs.json"))
        out.push_back(std::move(sweep));
    return out;
}

KnotPlan plan()
{
    const auto out =
        read_knot_plan((data_dir() / "calibrate" / "sweeps" / "shipped.json").string());
    REQUIRE(out);
    return *out;
}

std::filesystem::path profiles()
{
    return data_dir() / "calibrate" / "profiles";
}

} // namespace

TEST_CASE("fits of published sweeps err by no more than the stated bars")
{
    const FitReport report = report_on(sweeps_of_file("published.json"));
    CHECK(report.summary.sweeps == 549);
    CHECK(report.summary.scored == 534);
    CHECK(report.summary.loo_median < 0.042);
    CHECK(report.summary.loo_p90 < 0.08);
    CHECK(report.summary.held_out_launch.mean() < 0.025); // the noise between launches
    CHECK(report.summary.compact_median < 0.05);
    REQUIRE(report.group_sizes.size() == 2);
    CHECK(report.group_sizes[0].median < 0.09); // 4 from 2 and 8
    CHECK(report.group_sizes[1].median < 0.18); // 8 from 2 and 4
    REQUIRE(report.prior.size() == 6);
    for (const PriorErrors& prior : report.prior) {
        CHECK(prior.median < 0.10);
        CHECK(prior.median < prior.raw_median);
    }
}

TEST_CASE("the shipped knots are made of the published sweeps, to the byte")
{
    const auto files = shipped_knots(plan(), all_sweeps());
    REQUIRE(files);
    CHECK(files->size() == 5);
    for (const auto& [name, json] : *files)
        CHECK(table_text(json) == read_file(profiles() / "knots" / (name + ".json")));
}

TEST_CASE("the shipped constants of fabrics are fitted to the published sweeps")
{
    const std::vector<Sweep> sweeps = all_sweeps();
    const KnotPlan rules = plan();
    REQUIRE(rules.fabrics.size() == 4);
    for (const FabricRule& rule : rules.fabrics) {
        const auto path = profiles() / "fabrics" / (rule.fabric + ".json");
        const auto file = read_json_file(path.string());
        REQUIRE(file);
        const auto again = remade_fabric(*file, rules, rule, sweeps);
        REQUIRE(again);
        CHECK(*again == *file);
    }
}

TEST_CASE("the shipped published figures are those of the published sweeps, to the byte")
{
    CHECK(table_text(to_json(reference_of(all_sweeps()))) ==
          read_file(data_dir() / "calibrate" / "reference" / "collectives.json"));
    CHECK(shipped_reference());
}

TEST_CASE("a plan that names a sweep that is not there is a problem")
{
    KnotPlan wrong = plan();
    wrong.across.front().source = "none";
    CHECK_FALSE(shipped_knots(wrong, all_sweeps()));
}

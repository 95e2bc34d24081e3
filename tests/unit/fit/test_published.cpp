// What the fits reach on published sweeps, and that the shipped files are made of them.

#include "calibrate/fit/fit_report.h"
#include "calibrate/fit/reference.h"
#include "calibrate/fit/shipped_constants.h"
#include "calibrate/fit/shipped_fabrics.h"
#include "calibrate/fit/shipped_knots.h"
#include "calibrate/fit/shipped_networks.h"
#include "calibrate/fit/table_text.h"
#include "calibrate/import/read_sweeps.h"
#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/cost/profile_library.h"
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

CollectiveForm shipped_form()
{
    const auto profile = load_profile("h100-sxm-ndr400");
    REQUIRE(profile);
    return profile->profile.hardware.collectives;
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

TEST_CASE("the shipped constants of networks are fitted to the published sweeps, to the byte")
{
    const auto files = shipped_networks(plan(), all_sweeps(), profiles());
    REQUIRE(files);
    CHECK(files->size() == 10);
    for (const auto& [name, json] : *files)
        CHECK(table_text(json) == read_file(profiles() / name));
}

TEST_CASE("the fit of networks beats its priors, and hardly loses without the sweep it is tried on")
{
    const std::vector<Sweep> sweeps = all_sweeps();
    const auto runs = network_sweeps(plan(), sweeps, profiles());
    REQUIRE(runs);
    REQUIRE(runs->size() == 14);
    const CollectiveForm form = prior_form(shipped_form());
    const NetworkFit all = fit_networks(*runs, form);
    double before = 0;
    double after = 0;
    double left_out = 0;
    for (std::size_t i = 0; i < runs->size(); ++i) {
        std::vector<NetworkSweep> others = *runs;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        before += network_error((*runs)[i], form);
        after += network_error((*runs)[i], all);
        left_out += network_error((*runs)[i], fit_networks(others, form));
    }
    CHECK(after < before);
    CHECK(left_out < before * 1.02); // the priors saw every sweep, the two of TCPX contradict
}

TEST_CASE("the shipped constants that nobody fits are the sourced ones")
{
    const auto constants =
        read_json_file((data_dir() / "calibrate" / "constants" / "sourced.json").string());
    REQUIRE(constants);
    const auto files = shipped_constants(*constants, profiles());
    REQUIRE(files);
    CHECK(files->size() > 35); // devices and networks
    for (const auto& [name, json] : *files) {
        const auto file = read_json_file((profiles() / name).string());
        REQUIRE(file);
        INFO(name);
        CHECK(*file == json);
    }
}

TEST_CASE("what is recalled is no published constant, and a constant of unknown kind is a problem")
{
    const auto written = [](const char* kind) {
        Json constant = Json::object();
        constant["value"] = "400 Gb/s";
        constant["kind"] = kind;
        constant["source"] = "a page";
        Json constants = Json::object();
        constants["files"]["networks/ib-ndr.json"]["line_rate"] = constant;
        return shipped_constants(constants, profiles());
    };
    const auto grade = [&](const char* kind) {
        const auto files = written(kind);
        REQUIRE(files);
        return files->at("networks/ib-ndr.json").find("line_rate")->find("grade")->as_string();
    };
    CHECK(grade("spec") == "published");
    CHECK(grade("recalled") == "datasheet");
    CHECK(grade("derived") == "datasheet");
    CHECK_FALSE(written("rumour"));
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

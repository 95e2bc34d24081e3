#include "calibrate/import/read_sweeps.h"
#include "calibrate/import/sweep_collection.h"
#include "tests/catch.h"
#include "tests/unit/import/logs.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

ImportedSweeps imported(const std::string& text, const std::string& file = "run")
{
    Checked<ImportedSweeps> out = read_sweeps(text, file);
    REQUIRE(out);
    return std::move(*out);
}

} // namespace

TEST_CASE("text and JSON of one run are the same sweep")
{
    for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                      CollectiveKind::all_to_all, CollectiveKind::broadcast})
    {
        const Sweep text =
            imported("NCCL_ALGO=Ring ./run\n" + log_of({.collective = kind})).sweeps.at(0);
        const Sweep json = imported(to_text(nccl_tests_json(text))).sweeps.at(0);
        CHECK(json.collective == text.collective);
        CHECK(json.ranks == text.ranks);
        CHECK(json.nodes == text.nodes);
        CHECK(json.variables == text.variables);
        CHECK(json.nccl_version == text.nccl_version);
        REQUIRE(json.rows.size() == text.rows.size());
        for (std::size_t i = 0; i < text.rows.size(); ++i) {
            CHECK(json.rows[i].size == text.rows[i].size);
            CHECK_THAT(json.rows[i].in_place->time.value(),
                       WithinRel(text.rows[i].in_place->time.value(), 1e-12));
        }
    }
}

TEST_CASE("the environment in JSON is dropped")
{
    const Sweep sweep = imported(log_of({})).sweeps.at(0);
    const ImportedSweeps back = imported(to_text(nccl_tests_json(sweep)));
    CHECK(describe(back.notes).find("hunter2") == std::string::npos);
    CHECK(describe(back.notes).find("SECRET") == std::string::npos);
    CHECK(back.sweeps.at(0).variables.empty());
    CHECK(describe(back.notes).find("1 environment variables") != std::string::npos);
}

TEST_CASE("a collection that was written reads back as it was")
{
    std::vector<Sweep> sweeps;
    for (const int ranks : {2, 8, 64})
        sweeps.push_back(imported("mpirun -np 2 -x NCCL_PROTO=LL128 all_reduce_perf\n" + heading +
                                  rows_of({.ranks = ranks}) + "# Avg bus bandwidth    : 157.333\n")
                             .sweeps.at(0));
    CHECK(imported(to_text(to_json(sweeps))).sweeps == sweeps);
}

TEST_CASE("a collection keeps the library of each sweep")
{
    std::vector<Sweep> sweeps;
    for (const auto& library : enum_names<Backend>()) {
        sweeps.push_back(imported(log_of({})).sweeps.at(0));
        sweeps.back().backend = library.value;
    }
    CHECK(imported(to_text(to_json(sweeps))).sweeps == sweeps);
}

TEST_CASE("a collection is checked as a log is")
{
    Sweep sweep = imported(log_of({})).sweeps.at(0);
    sweep.ranks = 16; // but the bus factor is that of 8
    CHECK_FALSE(read_sweeps(to_text(to_json(std::vector{sweep})), "edited.json"));
}

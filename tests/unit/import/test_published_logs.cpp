// The published logs in tests/golden/data: what must hold of every one.

#include "calibrate/import/bus_ratio.h"
#include "calibrate/import/read_sweeps.h"
#include "sim/base/files.h"
#include "tests/catch.h"
#include "tests/unit/import/logs.h"

#include <filesystem>

using namespace trainyard;

namespace {

std::vector<std::string> published_logs()
{
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator("tests/golden/data/nccl_logs"))
        if (entry.path().extension() == ".txt")
            out.push_back(entry.path().string());
    return out;
}

} // namespace

TEST_CASE("every published log gives one sweep whose rates and bus factor agree")
{
    const std::vector<std::string> files = published_logs();
    CHECK(files.size() == 38);
    for (const std::string& file : files) {
        INFO(file);
        const Checked<ImportedSweeps> imported = read_sweeps_file(file);
        REQUIRE(imported);
        REQUIRE(imported->sweeps.size() == 1);
        const Sweep& sweep = imported->sweeps.front();
        for (const SweepRow& row : sweep.rows)
            for (const auto& timing : {row.out_of_place, row.in_place})
                CHECK((timing && rate_agrees(row.size, *timing)));
        const BusRatio ratio = bus_ratio(sweep.rows);
        const auto ranks = ranks_within(sweep.collective, ratio.range);
        REQUIRE(ranks);
        CHECK(sweep.ranks >= ranks->first);
        CHECK(sweep.ranks <= ranks->second);
    }
}

TEST_CASE("text and JSON of every published log are the same sweep")
{
    for (const std::string& file : published_logs()) {
        INFO(file);
        const Sweep text = read_sweeps_file(file)->sweeps.at(0);
        SweepHints hints; // JSON of one process lists its first device only
        hints.ranks = text.ranks;
        hints.nodes = text.nodes;
        const Checked<ImportedSweeps> json =
            read_sweeps(to_text(testing::nccl_tests_json(text)), file, hints);
        REQUIRE(json);
        const Sweep& back = json->sweeps.at(0);
        CHECK(back.collective == text.collective);
        CHECK(back.data_type == text.data_type);
        CHECK(back.reduction == text.reduction);
        CHECK(back.variables == text.variables);
        REQUIRE(back.rows.size() == text.rows.size());
        for (std::size_t i = 0; i < text.rows.size(); ++i) {
            CHECK(back.rows[i].count == text.rows[i].count);
            CHECK_THAT(back.rows[i].out_of_place->time.value(),
                       WithinRel(text.rows[i].out_of_place->time.value(), 1e-12));
            CHECK(back.rows[i].in_place->wrong == text.rows[i].in_place->wrong);
        }
    }
}

// What a sweep has written is read again.

#include "sim/api/grid_sweep.h"
#include "sim/api/saved_sweep.h"
#include "sim/api/scenarios.h"
#include "sim/base/build_info.h"
#include "sim/base/files.h"
#include "sim/study/session.h"
#include "sim/study/store/plan_store.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <fmt/core.h>

#include <cmath>

using namespace trainyard;

namespace {

const std::string scenario_path = (data_dir() / "scenarios" / "llama3-8b-h100-8.json").string();

// Two points that can be, one that does not fit, and three whose batch is no multiple.
const GridAnswer& answer()
{
    static const GridAnswer found = [] {
        Session session;
        return sweep_grid(load_scenario(scenario_path).value(), scenario_path,
                          {{"strategy.zero=0,3", "training.global_batch=8,12,16"}}, 5, 1, session,
                          {})
            .value();
    }();
    return found;
}

std::string csv_of(const GridAnswer& of)
{
    const SweepGrid& grid = of.task.title.grid;
    std::string out = sweep_csv_head(grid);
    for (const PointRow& row : of.rows)
        out += sweep_csv_line(grid, row, usual_headroom);
    return out;
}

void check_rows(const SavedSweep& saved)
{
    REQUIRE(saved.title.grid.axes == answer().task.title.grid.axes);
    REQUIRE(saved.rows.size() == answer().rows.size());
    for (std::size_t i = 0; i < saved.rows.size(); ++i) {
        const PointRow& read = saved.rows[i];
        const PointRow& row = answer().rows[i];
        CHECK(read.index == row.index);
        CHECK(read.reason == row.reason);
        CHECK(read.hint == row.hint);
        CHECK(read.hindrance == row.hindrance);
        CHECK(read.peak_memory == row.peak_memory);
        CHECK(read.capacity == row.capacity);
        if (!row.feasible())
            continue;
        CHECK(read.gpus == row.gpus);
        CHECK(read.step_time.value == row.step_time.value);
        CHECK(read.step_time.low == row.step_time.low);
        CHECK(read.step_time.high == row.step_time.high);
        CHECK(read.tokens_per_s == row.tokens_per_s);
        CHECK(read.mfu == row.mfu);
        CHECK(read.communication_exposed_fraction == row.communication_exposed_fraction);
        CHECK(read.bubble_share == row.bubble_share);
        CHECK(read.global_batch == row.global_batch);
    }
}

std::string problem_of(const std::string& path)
{
    const Checked<SavedSweep> read = read_saved_sweep(path, {});
    REQUIRE_FALSE(read);
    return render(read.error(), "");
}

} // namespace

TEST_CASE("a sweep's JSON is read as it was found, with the scenario that was swept")
{
    const testing::Folder folder;
    const std::string file = (folder.path() / "swept.json").string();
    write_file(file, sweep_json_text(answer()));
    REQUIRE(is_saved_sweep(file));
    const SavedSweep saved = read_saved_sweep(file, {}).value();
    check_rows(saved);
    CHECK(saved.title.scenario == scenario_path);
    const std::optional<Checked<SweptScenario>> swept = swept_scenario(saved);
    REQUIRE((swept && *swept));
    CHECK((*swept)->own.json == load_scenario(scenario_path)->json);
    CHECK((*swept)->base.json == answer().task.base.json);
}

TEST_CASE("what followed from the axes follows again")
{
    Session session;
    const GridAnswer found =
        sweep_grid(load_scenario(scenario_path, std::vector<std::string>{"strategy.dp=8"}).value(),
                   scenario_path, {{"strategy.tp=1,2"}}, 5, 1, session, {})
            .value();
    const testing::Folder folder;
    const std::string file = (folder.path() / "swept.json").string();
    write_file(file, sweep_json_text(found));
    const auto swept = swept_scenario(read_saved_sweep(file, {}).value());
    REQUIRE((swept && *swept));
    REQUIRE((*swept)->following.size() == 1);
    CHECK((*swept)->following == found.task.title.following);
    CHECK((*swept)->base.json == found.task.base.json);
    CHECK((*swept)->own.scenario.strategy.dp == 8);
}

TEST_CASE("a sweep's CSV has its points and no scenario")
{
    const testing::Folder folder;
    const std::string file = (folder.path() / "swept.csv").string();
    write_file(file, csv_of(answer()));
    REQUIRE(is_saved_sweep(file));
    const SavedSweep saved = read_saved_sweep(file, {}).value();
    check_rows(saved);
    CHECK_FALSE(swept_scenario(saved).has_value());
    // Over a scenario of one's own the points are the same.
    const Checked<SweptScenario> own = swept_scenario(saved, load_scenario(scenario_path).value());
    REQUIRE(own);
    CHECK(own->base.json == answer().task.base.json);
}

TEST_CASE("rows that repeat settings are told, and the first of each is taken")
{
    const testing::Folder folder;
    const std::string file = (folder.path() / "twice.csv").string();
    const std::string csv = csv_of(answer());
    write_file(file, csv + csv.substr(csv.find('\n') + 1));
    const SavedSweep saved = read_saved_sweep(file, {}).value();
    check_rows(saved);
    REQUIRE(saved.notes.size() == 1);
    CHECK_THAT(saved.notes.front().message, Catch::Contains("6 of its 12 rows repeat"));
    CHECK_FALSE(saved.notes.front().hint.empty());
}

TEST_CASE("values of a CSV are in their order as numbers, words behind them")
{
    const testing::Folder folder;
    const std::string file = (folder.path() / "layers.csv").string();
    std::string csv = "point,training.recompute_layers,feasible,step_time_s,reason\n";
    for (const char* layers : {"10", "null", "2", "1"})
        csv += fmt::format("0,{},true,1,\n", layers);
    write_file(file, csv);
    const SavedSweep saved = read_saved_sweep(file, {}).value();
    CHECK(saved.title.grid.axes.front().values == std::vector<std::string>{"1", "2", "10", "null"});
    CHECK(saved.notes.empty());
}

TEST_CASE("a batch that was moved stands where it was asked for")
{
    Session session;
    const GridAnswer found = sweep_grid(load_scenario(scenario_path).value(), scenario_path,
                                        {{"training.global_batch=12,16"}, true}, 5, 1, session, {})
                                 .value();
    const testing::Folder folder;
    const std::string file = (folder.path() / "swept.csv").string();
    write_file(file, csv_of(found));
    const SavedSweep saved = read_saved_sweep(file, {}).value();
    CHECK(saved.title.grid.axes == found.task.title.grid.axes);
    REQUIRE(saved.rows.size() == 2); // both take 16
    CHECK(saved.rows[0].step_time.value == saved.rows[1].step_time.value);
}

TEST_CASE("a file that is none, or no whole one, is refused by its line")
{
    const testing::Folder folder;
    const std::string file = (folder.path() / "swept").string();
    const std::string json = sweep_json_text(answer());
    write_file(file, json.substr(0, json.size() / 2));
    CHECK(is_saved_sweep(file));
    CHECK_FALSE(problem_of(file).empty());
    std::string beyond = json;
    beyond.replace(beyond.find("\"point\":2"), 9, "\"point\":9");
    write_file(file, beyond);
    CHECK_THAT(problem_of(file), Catch::Contains("swept:4") && Catch::Contains("none of the 6"));
    std::string twice = json;
    twice.replace(twice.find("\"point\":2"), 9, "\"point\":1");
    write_file(file, twice);
    CHECK_THAT(problem_of(file), Catch::Contains("swept:4") && Catch::Contains("twice"));
    const std::string csv = csv_of(answer());
    write_file(file, csv.substr(0, csv.size() - 30));
    CHECK_THAT(problem_of(file), Catch::Contains("swept:7") && Catch::Contains("cells"));
    write_file(file, "point,strategy.tp,feasible,step_time_s,reason\n0,1,true,abc,\n");
    CHECK_THAT(problem_of(file), Catch::Contains("\"step_time_s\" is \"abc\", no number") &&
                                     Catch::Contains("mend the line"));
    for (const char* foreign : {"", "point,feasible\n", "a,b\n1,2\n", "{\"format\":\"other/1\"}"}) {
        write_file(file, foreign);
        CHECK_FALSE(is_saved_sweep(file));
    }
    CHECK_FALSE(is_saved_sweep((folder.path() / "absent").string()));
}

TEST_CASE("the points of a store of plans are a sweep over the sizes that its plans varied")
{
    const testing::Folder folder;
    const std::string file = (folder.path() / "plan.db").string();
    const ScenarioFile scenario = load_scenario(scenario_path).value();
    {
        PlanStore store(file, DatabaseAccess::write);
        store.keep_bounds({0, "question", 0, 1, {}},
                          {scenario_path, to_text(to_json(scenario.scenario)), "{}", 0.05}, {}, {});
        LayoutChoice choice = choice_of(scenario.scenario);
        PointFacts facts;
        facts.step_time = Seconds(2);
        facts.peak = Bytes(30);
        facts.capacity = Bytes(80);
        choice.tp = 1;
        store.put("a", choice, 8, facts);
        choice.tp = 2;
        facts.reserved = Bytes(40);
        store.put("b", choice, 4, facts);
        choice.tp = 4;
        facts.kind = PointFacts::Kind::too_large;
        store.put("c", choice, 2, facts);
        store.commit();
    }
    REQUIRE(is_saved_sweep(file));
    const SavedSweep saved = read_saved_sweep(file, {}).value();
    CHECK(saved.title.grid.axes == std::vector<SweepAxis>{{"strategy.tp", {"1", "2", "4"}}});
    REQUIRE(saved.rows.size() == 3);
    for (const PointRow& row : saved.rows) {
        CHECK(row.feasible() == (row.index < 2));
        CHECK(row.peak_memory == Bytes(row.index == 0 ? 30 : 40));
        if (!row.feasible()) {
            CHECK(row.hindrance.kind == Hindrance::Kind::memory);
            continue;
        }
        CHECK(row.gpus == 8);
        CHECK(row.samples_per_s ==
              static_cast<double>(scenario.scenario.training.global_batch) / 2);
        CHECK(std::isnan(row.mfu)); // a store does not have it
    }
    REQUIRE(saved.notes.size() == 1); // the allocator was not asked of one
    const auto swept = swept_scenario(saved);
    REQUIRE((swept && *swept));
    CHECK(!(*swept)->base.scenario.strategy.dp.has_value());
}

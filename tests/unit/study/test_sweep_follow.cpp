#include "tests/unit/study/swept.h"

#include <mutex>

using namespace trainyard;

namespace {

// The scenarios of all points; those that cannot be are left out.
std::vector<Scenario> settled(const ScenarioFile& own, SweepGrid grid)
{
    const Problems problems = grid_problems(grid, own);
    if (!problems.empty())
        FAIL(render(problems, ""));
    const ScenarioFile base = let_follow(own, following_fields(grid, own.scenario), grid).value();
    PointSettler points(base, grid);
    std::vector<Scenario> out;
    for (std::size_t index = 0; index < grid.points(); ++index)
        if (Checked<SettledPoint> point = points.at(index))
            out.push_back(std::move(point->file.scenario));
    return out;
}

} // namespace

TEST_CASE("a pipeline that follows takes the devices that the other sizes leave")
{
    const ScenarioFile base =
        shipped("llama3-70b-h100-64.json", {{"strategy.dp", "2"}, {"strategy.cp", "1"}});
    const std::vector<Scenario> points =
        settled(base, grid_of({"strategy.tp=2,3,4,8", "strategy.pp=auto"}));
    REQUIRE(points.size() == 3); // 3 x 2 does not divide 64
    for (const Scenario& point : points)
        CHECK(point.strategy.tp * point.strategy.pp * 2 == 64);
}

TEST_CASE("experts that follow spread over as many ranks as share them evenly")
{
    const ScenarioFile base = shipped("mixtral-8x7b-ep8-h100-64.json", {{"strategy.dp", "null"}});
    // 64 / pp ranks of a stage and 8 experts.
    for (const Scenario& point : settled(base, grid_of({"strategy.pp=1,8,32", "strategy.ep=auto"})))
        CHECK(point.strategy.ep == std::min(8, 64 / point.strategy.pp));
    // A model without experts has none to spread.
    for (const Scenario& point : settled(shipped("llama3-8b-h100-8.json"),
                                         grid_of({"strategy.zero=2,3", "strategy.ep=auto"})))
        CHECK(point.strategy.ep == 1);
}

TEST_CASE("two sizes cannot both follow from the number of devices")
{
    const ScenarioFile base = shipped("llama3-70b-h100-64.json", {{"strategy.dp", "null"}});
    CHECK(grid_problems(grid_of({"strategy.pp=auto"}), base).size() == 1); // dp follows already
    CHECK(grid_problems(grid_of({"strategy.pp=auto", "strategy.dp=1,null"}), base).size() == 1);
    CHECK(grid_problems(grid_of({"strategy.pp=auto", "strategy.tp=auto", "strategy.dp=2"}), base)
              .size() == 1);
    CHECK(grid_problems(grid_of({"strategy.pp=auto", "strategy.dp=1,2"}), base).empty());
    CHECK(grid_problems(grid_of({"strategy.dp=auto", "strategy.ep=auto"}), base).empty());
    // Where a size can follow is a matter of the field.
    CHECK(grid_problems(grid_of({"strategy.zero=auto"}), base).size() == 1);
}

TEST_CASE("sizes that the scenario fixed follow those that are swept")
{
    const ScenarioFile base =
        shipped("llama3-8b-h100-8.json", {{"strategy.dp", "8"}, {"strategy.zero", "1"}});
    const auto replicas = [&](const SweepGrid& grid) {
        std::vector<std::optional<int>> out;
        for (const Scenario& point : settled(base, grid))
            out.push_back(point.strategy.dp);
        return out;
    };
    using Replicas = std::vector<std::optional<int>>;
    CHECK(replicas(grid_of({"strategy.tp=1,2"})) == Replicas{std::nullopt, std::nullopt});
    CHECK(replicas(grid_of({"topology=h100-1x8"})) == Replicas{std::nullopt});
    CHECK(replicas(grid_of({"strategy.zero=1,2"})) == Replicas{8, 8});
    // An axis keeps it.
    CHECK(replicas(grid_of({"strategy.tp=1,2", "strategy.dp=4"})) == Replicas{4, 4});
}

TEST_CASE("a scenario's own sizes are a point of its sweep as they are")
{
    // 126 layers over 16 stages of 8 virtual ones: two of them have none.
    const ScenarioFile base = shipped("llama3-405b-h100-16k.json");
    const std::vector<Scenario> points =
        settled(base, grid_of({"strategy.vpp=4,8", "strategy.pp=16"}));
    REQUIRE(points.size() == 2);
    CHECK(points[0].strategy.stage_layers != base.scenario.strategy.stage_layers);
    CHECK(points[1].strategy.stage_layers == base.scenario.strategy.stage_layers);
}

TEST_CASE("layers of each stage hold for one number of stages, and follow where that is swept")
{
    const ScenarioFile base =
        shipped("llama2-7b-tp2-pp2-dp2.json", {{"strategy.stage_layers", "[15,17]"}});
    const std::vector<Scenario> points = settled(base, grid_of({"strategy.pp=2,3,4,40"}));
    REQUIRE(points.size() == 4);
    CHECK(points[0].strategy.stage_layers == std::vector<int>{15, 17}); // its own stages
    CHECK(points[1].strategy.stage_layers == std::vector<int>{11, 11, 10});
    CHECK(points[2].strategy.stage_layers.empty());
    CHECK(points[3].strategy.stage_layers.empty()); // refused: more stages than layers
    for (const Scenario& point : settled(base, grid_of({"strategy.zero=0,1"})))
        CHECK(point.strategy.stage_layers == std::vector<int>{15, 17});
    // Asked for as a value, over a scenario without any.
    const ScenarioFile even = shipped("llama2-7b-tp2-pp2-dp2.json");
    const std::vector<Scenario> asked =
        settled(even, grid_of({"strategy.pp=3", "strategy.stage_layers=null,auto"}));
    REQUIRE(asked.size() == 2);
    CHECK(asked[0].strategy.stage_layers.empty());
    CHECK(asked[1].strategy.stage_layers.size() == 3);
}

TEST_CASE("the nearest batch is a multiple of a pass, not zero, and of two the larger")
{
    CHECK(nearest_batch(128, 8) == 128);
    CHECK(nearest_batch(128, 12) == 132); // 120 is 8 off, 132 four
    CHECK(nearest_batch(100, 24) == 96);
    CHECK(nearest_batch(12, 8) == 16); // 8 and 16 are as near
    CHECK(nearest_batch(3, 100) == 100);
    for (std::int64_t batch = 1; batch < 60; ++batch)
        for (std::int64_t pass = 1; pass < 20; ++pass) {
            const std::int64_t taken = nearest_batch(batch, pass);
            CHECK(taken > 0);
            CHECK(taken % pass == 0);
            CHECK((2 * std::abs(taken - batch) <= pass || taken == pass));
        }
}

TEST_CASE("a batch is moved only where that was asked for, and said")
{
    const ScenarioFile base = shipped("llama3-8b-h100-8.json", {{"strategy.zero", "3"}});
    const auto found = [&](BatchRule rule) {
        Session session;
        std::mutex mutex;
        std::map<std::size_t, SweepPoint> points;
        sweep(base, grid_of({"training.global_batch=8,12"}, rule), session, {1, {}},
              [&](SweepPoint&& point) { points.emplace(point.index, std::move(point)); });
        return points;
    };
    const auto asked = found(BatchRule::as_asked);
    CHECK_FALSE(asked.at(1).feasible());
    CHECK(asked.at(1).hindrance() == Hindrance{Hindrance::Kind::input, "/training/global_batch"});
    const auto moved = found(BatchRule::nearest);
    CHECK_FALSE(moved.at(0).moved);
    CHECK(moved.at(1).moved == MovedBatch{12, 16});
    REQUIRE(moved.at(1).feasible());
    CHECK(moved.at(1).outcome->job.training.global_batch == 16);
}

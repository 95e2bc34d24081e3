// Axes of a sweep that are left to the search.

#include "sim/study/search/searched_grid.h"
#include "tests/unit/study/swept.h"

#include <algorithm>
#include <set>

using namespace trainyard;

namespace {

constexpr double room = 0.05;

SearchedGrid found_for(const ScenarioFile& base, const SweepGrid& grid)
{
    Checked<SearchedGrid> found = searched_grid(grid, base, room, {});
    if (!found)
        FAIL(render(found.error(), ""));
    return std::move(*found);
}

const std::vector<std::string>& values_of(const SweepGrid& grid, std::string_view field)
{
    return std::ranges::find(grid.axes, field, &SweepAxis::field)->values;
}

// The points of a grid that run and leave room, by their values.
std::set<std::string> possible_points(const ScenarioFile& base, SweepGrid grid,
                                      std::optional<std::vector<std::size_t>> points)
{
    const std::vector<FollowingField> following = following_fields(grid, base.scenario);
    const ScenarioFile freed = let_follow(base, following, grid).value();
    Session session;
    std::set<std::string> out;
    const auto take = [&](SweepPoint&& point) {
        if (!point.feasible() || point.memory->peak > scaled(point.memory->capacity, 1 - room))
            return;
        std::string text;
        for (const Override& change : point.changes)
            text += change.field + "=" + change.value + " ";
        out.insert(text);
    };
    sweep(freed, grid, session, {.threads = 1, .work = {}, .points = std::move(points)}, take);
    return out;
}

} // namespace

TEST_CASE("a sweep that leaves sizes to the search misses no point that runs")
{
    const ScenarioFile base = shipped("llama3-70b-h100-64.json", {{"training.global_batch", "64"}});
    const SearchedGrid found = found_for(
        base, grid_of({"strategy.tp=auto", "strategy.pp=auto", "training.micro_batch=1,2"}));
    // Brute force: every size from 1 to 16, those that nothing divides included; the search looks
    // at TP within a node only.
    SweepGrid all = grid_of({"strategy.tp=1..8", "strategy.pp=1..16", "training.micro_batch=1,2"});
    all.layers = LayerRule::spread;
    const std::set<std::string> brute = possible_points(base, all, std::nullopt);
    CHECK(brute.size() > 4);
    CHECK(possible_points(base, found.grid, found.points) == brute);
    CHECK(found.points.size() < found.combinations);
}

TEST_CASE("of values left to the search only those stay that a layout has")
{
    const ScenarioFile base = shipped("llama3-70b-h100-64.json");
    const SearchedGrid found =
        found_for(base, grid_of({"strategy.dp=2,4,5", "strategy.tp=4,8", "strategy.pp=auto"}));
    CHECK(values_of(found.grid, "strategy.pp") == std::vector<std::string>{"2", "4"});
    for (const std::size_t index : found.points) {
        const std::vector<Override> point = found.grid.point(index);
        CHECK(std::stoi(point[0].value) * std::stoi(point[1].value) * std::stoi(point[2].value) *
                  base.scenario.strategy.cp ==
              64);
    }
    CHECK(found.points.size() == 3);
}

TEST_CASE("a batch left to the search is the nearest that each layout divides")
{
    const ScenarioFile base =
        shipped("llama2-7b-tp2-pp2-dp2.json", {{"training.global_batch", "30"}});
    const SearchedGrid found =
        found_for(base, grid_of({"strategy.tp=auto", "training.micro_batch=1,2,4,16",
                                 "training.global_batch=auto"}));
    CHECK(found.grid.batch == BatchRule::nearest);
    CHECK(values_of(found.grid, "training.global_batch") == std::vector<std::string>{"30"});
    PointSettler points(base, found.grid);
    std::set<std::int64_t> taken;
    for (const std::size_t index : found.points) {
        const SettledPoint point = points.at(index).value();
        taken.insert(point.moved ? point.moved->taken : 30);
    }
    CHECK(taken.contains(32)); // of micro_batch x dp = 16
    CHECK(*taken.rbegin() <= 60);
    CHECK(*taken.begin() >= 15);
}

TEST_CASE("a sweep of what no layout has looks at the space of each value")
{
    const ScenarioFile base = shipped("llama3-70b-h100-64.json");
    const SearchedGrid found =
        found_for(base, grid_of({"topology.nodes=8,16", "strategy.pp=auto"}));
    std::set<std::string> nodes;
    for (const std::size_t index : found.points)
        nodes.insert(found.grid.point(index)[0].value);
    CHECK(nodes == std::set<std::string>{"8", "16"});
}

TEST_CASE("nothing that fits is said, with what would be needed")
{
    const ScenarioFile base = shipped("llama3-70b-h100-64.json", {{"strategy.tp", "1"}});
    const Checked<SearchedGrid> found =
        searched_grid(grid_of({"training.micro_batch=auto", "strategy.pp=1", "strategy.vpp=1",
                               "strategy.schedule=1f1b"}),
                      base, room, {});
    REQUIRE_FALSE(found);
    CHECK(found.error().front().hint.find("needs at least") != std::string::npos);
}

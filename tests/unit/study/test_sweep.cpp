#include "sim/base/build_info.h"
#include "sim/study/session.h"
#include "sim/study/sweep.h"
#include "tests/catch.h"

#include <atomic>
#include <map>
#include <mutex>

using namespace trainyard;

namespace {

SweepAxis axis(std::string_view text)
{
    const Checked<SweepAxis> parsed = parse_axis(text);
    if (!parsed)
        FAIL(render(parsed.error(), ""));
    return *parsed;
}

std::string refusal(std::string_view text)
{
    const Checked<SweepAxis> parsed = parse_axis(text);
    REQUIRE_FALSE(parsed);
    return parsed.error().front().message;
}

// A model of two small layers on one node.
ScenarioFile small_base()
{
    Scenario s;
    s.model = {"llama-2-7b", {}};
    s.topology = {"h100-1x8", {}};
    s.training.sequence_length = 1024;
    s.training.global_batch = 16;
    s.strategy.zero = 1;
    return scenario_in_memory(std::move(s), data_dir() / "scenarios", "test");
}

// What is found of each point, as one line.
std::map<std::size_t, std::string> found(const SweepGrid& grid, int threads)
{
    Session session;
    std::mutex mutex;
    std::map<std::size_t, std::string> lines;
    const auto keep = [&](SweepPoint&& point) {
        const std::lock_guard lock(mutex);
        lines[point.index] = point.feasible()
                                 ? std::to_string(point.outcome->result->step_time.value()) + " " +
                                       std::to_string(point.outcome->input_hash) + " " +
                                       std::to_string(point.outcome->memory.peak().value())
                                 : point.reason();
    };
    const SweepEnd end = sweep(small_base(), grid, session, {threads, {}}, keep);
    CHECK(end.done == grid.points());
    CHECK_FALSE(end.cancelled);
    return lines;
}

} // namespace

TEST_CASE("values of an axis stand between commas outside quotes and brackets")
{
    CHECK(axis("strategy.tp=1,2,4") == SweepAxis{"strategy.tp", {"1", "2", "4"}});
    CHECK(axis("strategy.stage_layers=[8,8],[7,9]").values ==
          std::vector<std::string>{"[8,8]", "[7,9]"});
    CHECK(axis(R"(topology="a,b.json",{"generator": "x", "n": 2})").values ==
          std::vector<std::string>{R"("a,b.json")", R"({"generator": "x", "n": 2})"});
    CHECK(axis(R"(description="say \"1,2\"",3)").values ==
          std::vector<std::string>{R"("say \"1,2\"")", "3"});
}

TEST_CASE("ranges of whole numbers hold both ends")
{
    CHECK(axis("a=1..4").values == std::vector<std::string>{"1", "2", "3", "4"});
    CHECK(axis("a=2..9+3").values == std::vector<std::string>{"2", "5", "8"});
    CHECK(axis("a=1..64*4").values == std::vector<std::string>{"1", "4", "16", "64"});
    CHECK(axis("a=3..3,7").values == std::vector<std::string>{"3", "7"});
    CHECK(axis("a=9223372036854775806..9223372036854775807+5").values.size() == 1);
    // Paths are no ranges.
    CHECK(axis("topology=../a.json,1..b").values == std::vector<std::string>{"../a.json", "1..b"});
}

TEST_CASE("an axis without values, with an empty one, twice the same or without end is refused")
{
    CHECK(refusal("strategy.tp") == "no field and values");
    CHECK(refusal("=1,2") == "no field and values");
    CHECK(refusal("strategy.tp=") == "an empty value");
    CHECK(refusal("strategy.tp=1,,2") == "an empty value");
    CHECK(refusal("strategy.tp=2,1,2") == "the value 2 is given twice");
    CHECK(axis("run.seed=9007199254740993,9007199254740992").values.size() == 2);
    CHECK(refusal("training.micro_batch=1,1.0") == "the value 1 is given twice");
    CHECK(refusal("strategy.schedule=1f1b,\"1f1b\"") == "the value \"1f1b\" is given twice");
    CHECK(refusal("strategy.tp=8..1") == "the range 8..1 is empty or has no end");
    CHECK(refusal("strategy.tp=1..8*1") == "the range 1..8*1 is empty or has no end");
    CHECK(refusal("strategy.tp=0..8*2") == "the range 0..8*2 is empty or has no end");
    CHECK(refusal("strategy.tp=1..1000000") == "more than 100000 values");
}

TEST_CASE("a grid holds every combination once, the last axis fastest")
{
    const SweepGrid grid{{axis("a=1,2"), axis("b=x,y,z")}};
    REQUIRE(grid.points() == 6);
    std::string order;
    for (std::size_t i = 0; i < grid.points(); ++i)
        order += grid.point(i)[0].value + grid.point(i)[1].value + " ";
    CHECK(order == "1x 1y 1z 2x 2y 2z ");
    CHECK(SweepGrid{}.points() == 1);
}

TEST_CASE("fields and values that a scenario does not take are found before anything runs")
{
    const ScenarioFile base = small_base();
    CHECK(grid_problems({{axis("strategy.tp=1,2")}}, base).empty());
    const Problems unknown = grid_problems({{axis("strategy.tpp=1,2,4")}}, base);
    REQUIRE(unknown.size() == 1); // not once per value
    CHECK(unknown.front().hint == "did you mean \"tp\"?");
    const Problems bad = grid_problems({{axis("strategy.tp=1,many,-3")}}, base);
    REQUIRE(bad.size() == 2);
    CHECK(bad[0].file == "--grid strategy.tp=many");
    CHECK(bad[1].file == "--grid strategy.tp=-3");
    CHECK(grid_problems({{axis("strategy.tp=1,2"), axis("strategy.tp=4")}}, base).size() == 1);
    const SweepGrid huge{{axis("strategy.tp=1..3000"), axis("strategy.pp=1..4000")}};
    CHECK(grid_problems(huge, base).size() == 1); // 12 million points
}

TEST_CASE("a sweep finds the same on one thread and on many")
{
    const SweepGrid grid{{axis("strategy.tp=1,2,3,4,8"), axis("strategy.pp=1,2"),
                          axis("training.micro_batch=1,2,64")}};
    const auto alone = found(grid, 1);
    CHECK(alone.size() == 30);
    CHECK(found(grid, 4) == alone);
}

TEST_CASE("points that cannot be say why: sizes that do not divide, too little memory")
{
    // 3 ranks do not divide 8 GPUs; 7 B parameters in full take 112 GB of states on each GPU.
    const auto lines = found({{axis("strategy.tp=3,1"), axis("strategy.zero=0")}}, 2);
    CHECK(lines.at(0).find("at /strategy/") != std::string::npos);
    CHECK(lines.at(1).starts_with("does not fit: stage 0 needs "));
}

TEST_CASE("points share the stages that do not differ, also when they run at once")
{
    Session session;
    const SweepGrid grid{
        {axis("run.steps=2,3,4,5"), axis("perturbations=[],[{\"device\":1,\"slowdown\":1.1}]")}};
    std::atomic<int> feasible = 0;
    sweep(small_base(), grid, session, {4, {}},
          [&](SweepPoint&& point) { feasible += point.feasible(); });
    CHECK(feasible == 8);
    const Session::StageCounts counts = session.counts();
    CHECK(counts.topology == 1);
    CHECK(counts.model == 1);
    CHECK(counts.profile == 1);
    CHECK(counts.plan == 1);
    CHECK(counts.memory == 2);      // what lives at once, and what the allocator makes of it
    CHECK(counts.binding == 1 + 4); // conditions may name steps: one for each count of steps
    CHECK(counts.run == 8);
}

TEST_CASE("a cancelled sweep keeps what is done")
{
    Session session;
    CancelFlag cancel;
    std::vector<std::size_t> done;
    SweepOptions options{1, {}};
    options.work.cancel = &cancel;
    const SweepEnd end = sweep(small_base(), {{axis("training.global_batch=8..80+8")}}, session,
                               options, [&](SweepPoint&& point) {
                                   done.push_back(point.index);
                                   if (done.size() == 3)
                                       cancel.cancel();
                               });
    CHECK(end.cancelled);
    CHECK(end.points == 10);
    CHECK(end.done == 3);
    CHECK(done == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("a sweep reports every point it has done")
{
    Session session;
    std::vector<std::pair<double, double>> seen;
    SweepOptions options{2, {}};
    options.work.progress = [&](std::string_view, double done, double total) {
        seen.emplace_back(done, total);
    };
    sweep(small_base(), {{axis("strategy.tp=1,2,4,8")}}, session, options, [](SweepPoint&&) {});
    CHECK(seen == std::vector<std::pair<double, double>>{{1, 4}, {2, 4}, {3, 4}, {4, 4}});
}

TEST_CASE("points that fail for one field fail for one reason, whatever the words")
{
    Session session;
    std::map<Hindrance, int> counts;
    sweep(small_base(), {{axis("strategy.tp=3,5,7"), axis("training.micro_batch=1,2")}}, session,
          {1, {}}, [&](SweepPoint&& point) { ++counts[point.hindrance()]; });
    REQUIRE(counts.size() == 1);
    CHECK(counts.begin()->first.kind == Hindrance::Kind::input);
    CHECK(counts.begin()->second == 6);
}

// What lies behind the explorer's screen, without a window.

#include "gui/explore/nothing_fits.h"
#include "gui/explore/pareto.h"
#include "gui/explore/ranges.h"
#include "gui/explore/row_filter.h"
#include "gui/explore/saved_points.h"
#include "gui/explore/sweep_plan.h"
#include "gui/tests/found_points.h"
#include "sim/base/random.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

std::vector<std::uint32_t> accepted(const PointStore& store, const QString& text)
{
    const auto metrics = metrics_of(store.grid(), WorkUnit::tokens, {});
    RowFilter filter(text, metrics);
    CHECK(filter.problem().isEmpty());
    filter.prepare(store);
    std::vector<std::uint32_t> out;
    for (std::uint32_t point = 0; point < store.size(); ++point)
        if (filter.accepts(store, point))
            out.push_back(point);
    return out;
}

std::size_t axis_of(const std::vector<AxisRange>& ranges, const std::string& field)
{
    const auto at = std::ranges::find(ranges, field, &AxisRange::field);
    REQUIRE(at != ranges.end());
    return static_cast<std::size_t>(at - ranges.begin());
}

} // namespace

TEST_CASE("the front is what no other point beats")
{
    const auto [x_better, y_better] =
        GENERATE(std::pair(Better::lower, Better::lower), std::pair(Better::lower, Better::higher),
                 std::pair(Better::higher, Better::lower));
    const auto beats = [](double a, double b, Better better) {
        return better == Better::lower ? a < b : a > b;
    };
    Random random(3);
    std::vector<FrontPoint> points;
    ParetoFront front(x_better, y_better);
    for (std::uint32_t i = 0; i < 400; ++i) {
        // Few values, so that many are equal in one of them or both.
        FrontPoint point{static_cast<double>(random.integer(0, 30)),
                         static_cast<double>(random.integer(0, 30)), i};
        if (i % 17 == 0)
            point.x = no_number;
        points.push_back(point);
        front.add(point);
    }
    std::vector<FrontPoint> expected;
    for (const FrontPoint& one : points) {
        const bool beaten = std::ranges::any_of(points, [&](const FrontPoint& other) {
            const bool no_worse = !beats(one.x, other.x, x_better) &&
                                  !beats(one.y, other.y, y_better) && !std::isnan(other.x);
            const bool better = beats(other.x, one.x, x_better) || beats(other.y, one.y, y_better);
            const bool first = other.x == one.x && other.y == one.y && other.point < one.point;
            return no_worse && (better || first);
        });
        if (!beaten && !std::isnan(one.x))
            expected.push_back(one);
    }
    std::vector<FrontPoint> found = front.points();
    std::ranges::sort(found, {}, &FrontPoint::point);
    CHECK(found == expected);
    CHECK_FALSE(ParetoFront(Better::lower, Better::neither).drawn());
}

TEST_CASE("values of a point follow from its place in the grid")
{
    const SweepGrid grid = some_grid(3);
    const PointStore store = store_of_some_points(grid);
    REQUIRE(store.size() == grid.points());
    for (std::uint32_t point = 0; point < store.size(); ++point) {
        const std::vector<Override> changes = grid.point(point);
        for (std::size_t axis = 0; axis < grid.axes.size(); ++axis)
            CHECK(store.value_name(point, axis) == changes[axis].value);
    }
}

TEST_CASE("points that fail for one field are counted together, those without memory too")
{
    const PointStore store = store_of_some_points(some_grid(20));
    REQUIRE(store.kinds().size() == 3); // none, memory, heads
    std::size_t unfit = 0;
    std::size_t others = 0;
    std::uint32_t nearest = 0;
    double least = 1e18;
    for (std::uint32_t point = 0; point < store.size(); ++point) {
        if (store.feasible(point))
            continue;
        const bool memory = store.kinds()[store.kind(point)].memory;
        ++(memory ? unfit : others);
        if (memory && missing_memory(store, point) < least) {
            least = missing_memory(store, point);
            nearest = point;
        }
    }
    CHECK(unfit + others + store.feasible_count() == store.size());
    CHECK(store.nearest() == nearest);
    for (const ReasonKind& kind : store.kinds())
        if (kind.count > 0)
            CHECK(kind.count == (kind.memory ? unfit : others));
}

TEST_CASE("comparisons and words of a filter must all hold")
{
    const PointStore store = store_of_some_points(some_grid(5));
    const auto expect = [&](const QString& text, auto holds) {
        std::vector<std::uint32_t> expected;
        for (std::uint32_t point = 0; point < store.size(); ++point)
            if (holds(point))
                expected.push_back(point);
        CHECK(accepted(store, text) == expected);
        CHECK_FALSE(expected.empty());
    };
    expect("", [](std::uint32_t) { return true; });
    expect("tp=4", [&](std::uint32_t p) { return store.value_name(p, 0) == "4"; });
    expect("tp>=4 pp!=1", [&](std::uint32_t p) {
        return store.value(p, 0) >= 2 && store.value_name(p, 1) != "1";
    });
    expect("recompute=FULL mfu<50", [&](std::uint32_t p) {
        return store.value_name(p, 2) == "full" && store.figure(p, "mfu") < 0.5;
    });
    expect("heads",
           [&](std::uint32_t p) { return store.reason(p).find("heads") != std::string::npos; });
    expect("select step<3", [&](std::uint32_t p) {
        return store.value_name(p, 2) == "selective" && store.figure(p, "step_time_s") < 3;
    });
}

TEST_CASE("a filter that means nothing says so")
{
    const auto metrics = metrics_of(some_grid(), WorkUnit::tokens, {});
    CHECK(RowFilter("tq=4", metrics).problem().contains("tq"));
    CHECK(RowFilter("mfu=much", metrics).problem().contains("mfu=much"));
    CHECK(RowFilter("recompute=much", metrics).problem().isEmpty());
}

TEST_CASE("what can be swept fits model and cluster, and holds the scenario's own values")
{
    Document document;
    REQUIRE(document.open("scenarios/llama3-70b-h100-64.json").empty());
    const SweepFacts facts = sweep_facts(document.read().value()).value();
    std::vector<AxisRange> ranges = ranges_of(facts, document);
    for (const AxisRange& range : ranges) {
        CHECK(range.values.size() >= 2);
        CHECK(range.own < range.values.size());
    }
    const AxisRange& tp = ranges[axis_of(ranges, "strategy.tp")];
    CHECK(tp.values == std::vector<std::string>{"1", "2", "4", "8", "16", "32"});
    CHECK(tp.values[tp.own] == "4");
    const AxisRange& dp = ranges[axis_of(ranges, "strategy.dp")];
    CHECK(dp.values[dp.own] == "null");
    // A dense model has no experts to spread.
    CHECK(std::ranges::none_of(
        ranges, [](const AxisRange& range) { return range.field == "strategy.ep"; }));
    for (const Preset preset : {Preset::parallel, Preset::memory, Preset::everything}) {
        choose(ranges, preset, facts);
        for (const AxisRange& range : ranges)
            CHECK(range.chosen[range.own]);
    }
}

TEST_CASE("images have no sequences to sweep, and micro-batches up to a device's part")
{
    Document document;
    REQUIRE(document.open("scenarios/resnet50-ddp-8.json").empty());
    REQUIRE_FALSE(document.set("training.global_batch", "1536"));
    REQUIRE_FALSE(document.set("training.micro_batch", "192"));
    const SweepFacts facts = sweep_facts(document.read().value()).value();
    REQUIRE(facts.devices == 8);
    std::vector<AxisRange> ranges = ranges_of(facts, document);
    for (const AxisRange& range : ranges) {
        CHECK(range.field != "strategy.cp");
        CHECK(range.field != "training.sequence_length");
    }
    choose(ranges, Preset::parallel, facts);
    const AxisRange& micro_batch = ranges[axis_of(ranges, "training.micro_batch")];
    CHECK(micro_batch.values ==
          std::vector<std::string>{"1", "2", "4", "8", "16", "32", "64", "128", "192"});
    CHECK(micro_batch.chosen_values() == micro_batch.values);
}

TEST_CASE("every preset can be swept on every job, and names what it leaves out")
{
    const auto file = GENERATE(
        as<std::string>(), "scenarios/llama3-8b-h100-8.json", "scenarios/llama3-70b-h100-64.json",
        "scenarios/mixtral-8x7b-ep8-h100-64.json", "scenarios/resnet50-ddp-8.json");
    CAPTURE(file);
    Document document;
    REQUIRE(document.open(file).empty());
    const SweepFacts facts = sweep_facts(document.read().value()).value();
    std::vector<AxisRange> ranges = ranges_of(facts, document);
    for (const Preset preset : {Preset::parallel, Preset::memory, Preset::everything}) {
        const QStringList left_out = choose(ranges, preset, facts);
        const auto plan = plan_sweep(ranges, facts, document);
        REQUIRE(plan);
        CHECK(plan->points > 0);
        CHECK(plan->grid.points() <= most_points);
        if (preset != Preset::everything) {
            CHECK(left_out.isEmpty());
            continue;
        }
        for (const AxisRange& range : ranges)
            CHECK(range.swept != left_out.contains(range.name));
        // What is left out would be too much.
        for (AxisRange range : ranges)
            if (!range.swept)
                CHECK(plan->grid.points() * range.chosen_values().size() > most_points);
    }
}

TEST_CASE("where steps differ in their work, the best point has the best rate")
{
    const auto metrics = [](const char* field) {
        SweepGrid grid;
        grid.axes = {{field, {"1", "2"}}};
        return metrics_of(grid, WorkUnit::tokens, {});
    };
    CHECK(best_metric(metrics("strategy.tp")).key == "step_time");
    CHECK(best_metric(metrics("training.global_batch")).key == "rate");
    CHECK(best_metric(metrics("training.sequence_length")).key == "rate");
}

TEST_CASE("a plan leaves replicas and schedule to what is swept, and can be opened and undone")
{
    Document document;
    REQUIRE(document.open("scenarios/llama3-70b-h100-64.json").empty());
    REQUIRE_FALSE(document.set("strategy.dp", "2"));
    const SweepFacts facts = sweep_facts(document.read().value()).value();
    std::vector<AxisRange> ranges = ranges_of(facts, document);
    CHECK_FALSE(plan_sweep(ranges, facts, document)); // nothing is swept
    choose(ranges, Preset::parallel, facts);
    const SweepPlan plan = plan_sweep(ranges, facts, document).value();
    CHECK(plan.freed == std::vector<std::string>{"strategy.dp", "strategy.schedule"});
    CHECK(plan.points + plan.dropped() == plan.grid.points());
    CHECK(plan.dropped() > 0);
    CHECK(plan.points > 0);
    const Json before = document.json();
    const auto apart = [&] {
        return at_first_point(document.json(), document.file(), plan.grid, plan.freed);
    };
    const std::optional<Scenario> own = apart();
    REQUIRE(own.has_value());
    REQUIRE_FALSE(document.edit(plan.edits(plan.grid.points() - 1)));
    CHECK(document.find("strategy.dp") == nullptr);
    CHECK(apart() == own);
    document.undo_stack().undo();
    CHECK(document.json() == before);
    REQUIRE_FALSE(document.set("training.global_batch", "256"));
    CHECK_FALSE(apart() == own);
}

TEST_CASE("a field without a value, and too many points, are refused")
{
    Document document;
    REQUIRE(document.open("scenarios/llama3-70b-h100-64.json").empty());
    const SweepFacts facts = sweep_facts(document.read().value()).value();
    std::vector<AxisRange> ranges = ranges_of(facts, document);
    ranges[0].swept = true;
    ranges[0].chosen.assign(ranges[0].values.size(), false);
    CHECK_FALSE(plan_sweep(ranges, facts, document));
    for (AxisRange& range : ranges) {
        range.swept = true;
        range.chosen.assign(range.values.size(), true);
    }
    CHECK_FALSE(plan_sweep(ranges, facts, document));
}

TEST_CASE("a sweep in which nothing fits tells reasons, the nearest, and what would help")
{
    Document document;
    REQUIRE(document.open("scenarios/llama3-8b-h100-8.json").empty());
    SweepPlan plan;
    plan.grid = some_grid(4);
    PointStore store;
    store.reset(plan.grid);
    std::vector<FoundPoint> points = some_points(plan.grid);
    std::erase_if(points, [](const FoundPoint& point) { return point.reason.empty(); });
    store.add(points);
    REQUIRE(store.feasible_count() == 0);
    const QString text = nothing_fits_text(store, plan);
    CHECK(text.contains(QString::number(store.size())));
    CHECK(text.contains("does not divide the 32 heads"));
    CHECK(text.contains("1, 2 or 4 do"));
    CHECK(text.contains(plan.point_name(store.index(*store.nearest()))));
    CHECK(counts_text(store).startsWith("0 of"));
}

TEST_CASE("points that are written are read as they were, over the same scenario")
{
    Document document;
    REQUIRE(document.open("scenarios/llama3-70b-h100-64.json").empty());
    const SweepFacts facts = sweep_facts(document.read().value()).value();
    std::vector<AxisRange> ranges = ranges_of(facts, document);
    for (AxisRange& range : ranges)
        range.swept = range.field == "strategy.tp" || range.field == "training.micro_batch";
    const SweepPlan plan = plan_sweep(ranges, facts, document).value();
    PointStore store;
    store.reset(plan.grid);
    std::vector<FoundPoint> found;
    for (std::size_t index = plan.grid.points(); index-- > 0;)
        found.push_back(some_point(index));
    store.add(found);
    const testing::Folder folder;
    const std::string file = (folder.path() / "mine.sweep.json").string();
    write_sweep(file, plan, store, {});
    REQUIRE(is_saved_sweep(file));
    const SavedSweep saved = read_saved_sweep(file, {}).value();
    const SavedPoints points = points_of(saved, document.read()).value();
    CHECK_FALSE(points.of_another);
    CHECK(points.plan.grid == plan.grid);
    CHECK(points.plan.freed == plan.freed);
    CHECK(points.plan.base->json == plan.base->json);
    REQUIRE(points.found.size() == found.size());
    std::size_t feasible = 0;
    for (const FoundPoint& point : points.found) {
        const FoundPoint expected = some_point(point.index);
        CHECK(point.reason == expected.reason);
        CHECK(point.hindrance == expected.hindrance);
        feasible += expected.reason.empty();
        for (std::size_t column = 0; column < expected.figures.size(); ++column) {
            const double was = expected.figures[column];
            const double is = point.figures[column];
            const bool close = is == was || std::abs(is - was) <= 1e-12 * std::abs(was);
            CHECK((std::isnan(was) ? std::isnan(is) : close)); // also where both are without end
        }
    }
    CHECK(feasible > 2);
    // Whatever differs beside what is swept makes it another's.
    REQUIRE_FALSE(document.set("strategy.tp", "2"));
    CHECK_FALSE(points_of(saved, document.read())->of_another);
    REQUIRE_FALSE(document.set("training.sequence_length", "4096"));
    CHECK(points_of(saved, document.read())->of_another);
}

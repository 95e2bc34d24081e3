// Colours, parallel axes, importance and the open scenario's place, without a window.

#include "gui/explore/here.h"
#include "gui/explore/importance.h"
#include "gui/explore/line_cloud.h"
#include "gui/explore/parallel_model.h"
#include "gui/explore/point_colours.h"
#include "gui/explore/ranges.h"
#include "gui/tests/contrast.h"
#include "gui/tests/found_points.h"
#include "gui/widgets/theme.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::gui;
using namespace trainyard::gui::test;

namespace {

std::vector<Metric> metrics(const PointStore& store)
{
    return metrics_of(store.grid(), WorkUnit::tokens, {});
}

Metric metric(const PointStore& store, const char* key)
{
    return *find_metric(metrics(store), QString::fromLatin1(key));
}

} // namespace

TEST_CASE("a scale's lightness runs one way, off the paper, so that it reads without hues")
{
    for (const Theme theme : {Theme::light, Theme::dark}) {
        const QPalette palette = palette_of(theme);
        const QColor paper = palette.color(QPalette::Base);
        double before = 0;
        for (int step = 0; step <= 20; ++step) {
            const double off = contrast(scale_colour(palette, step / 20.0), paper);
            CHECK(off > before); // further off with every step
            CHECK(off > 1.5);
            before = off;
        }
        CHECK(before > 7);
    }
}

TEST_CASE("a figure colours by a scale that reaches as far as the points that can be")
{
    PointStore store;
    store.reset(some_grid(4));
    PointColours colours(store, metric(store, "mfu"));
    CHECK(colours.scaled());
    std::vector<FoundPoint> points = some_points(store.grid());
    const std::vector<FoundPoint> first(points.begin(), points.begin() + 40);
    store.add(first);
    CHECK(colours.follow(store));
    CHECK_FALSE(colours.follow(store)); // nothing came
    store.add({points.begin() + 40, points.end()});
    colours.follow(store);
    double low = 100;
    double high = 0;
    for (std::uint32_t point = 0; point < store.size(); ++point)
        if (store.feasible(point)) {
            const double value = value_of(store, point, metric(store, "mfu"));
            low = std::min(low, value);
            high = std::max(high, value);
        }
    CHECK(colours.low() == low);
    CHECK(colours.high() == high);
    CHECK(colours.place_of(low) == 0);
    CHECK(colours.place_of(high) == 1);
    for (std::uint32_t point = 0; point < store.size(); ++point) {
        const double value = value_of(store, point, metric(store, "mfu"));
        const std::uint8_t style = colours.style_of(store, point);
        CHECK((style == PointColours::unknown_style) == std::isnan(value));
        CHECK(style < colours.styles(palette_of(Theme::dark)).size());
    }
}

TEST_CASE("a field of few values has a colour and a shape for each, one of many numbers a scale")
{
    PointStore store = store_of_some_points(some_grid(20));
    const PointColours tp(store, metric(store, "strategy.tp"));
    CHECK_FALSE(tp.scaled());
    CHECK(tp.values() == 4);
    const std::vector<PointStyle> styles = tp.styles(palette_of(Theme::light));
    for (std::size_t i = 0; i < styles.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            CHECK(styles[i].shape != styles[j].shape);
    for (std::uint32_t point = 0; point < store.size(); ++point)
        CHECK(tp.style_of(store, point) == store.value(point, 0));
    const PointColours seed(store, metric(store, "run.seed"));
    CHECK(seed.scaled());
    CHECK(PointColours(store, std::nullopt).style_of(store, 3) == 0);
}

TEST_CASE("values of an axis have their places, and places their values")
{
    PointStore store = store_of_some_points(some_grid(3));
    ParallelModel model(store);
    model.restart(metrics(store));
    REQUIRE(model.axes().size() == model.usual_axes().size());
    REQUIRE(model.axes().size() > 5);
    for (std::size_t i = 0; i < model.axes().size(); ++i)
        for (const bool flipped : {false, true}) {
            if (model.axes()[i].flipped != flipped)
                model.flip_axis(i);
            const ParallelAxis& axis = model.axes()[i];
            for (std::uint32_t point = 0; point < store.size(); ++point) {
                const double value = value_of(store, point, axis.metric);
                const float place = model.place(i, point);
                if (!store.feasible(point)) {
                    CHECK(std::isnan(place));
                    continue;
                }
                CHECK(place >= 0);
                CHECK(place <= 1);
                if (axis.metric.axis) // spread, but nearer to its own value than to others
                    CHECK(std::round(axis.value(place)) == value);
                else
                    CHECK(std::abs(axis.value(axis.place(value)) - value) <=
                          1e-9 * std::abs(value));
            }
        }
}

TEST_CASE("a figure that no point has is no axis, and a point that lacks one has its place")
{
    PointStore store;
    store.reset(some_grid());
    std::vector<FoundPoint> points = some_points(store.grid());
    const auto mfu = static_cast<std::size_t>(std::ranges::find(kept_figures(), &figure_of("mfu")) -
                                              kept_figures().begin());
    std::vector<FoundPoint> without = points;
    for (FoundPoint& point : without)
        point.figures[mfu] = no_number;
    ParallelModel model(store);
    model.restart(metrics(store));
    const auto axis = [&]() -> const ParallelAxis* {
        for (const ParallelAxis& one : model.axes())
            if (one.metric.key == QStringLiteral("mfu"))
                return &one;
        return nullptr;
    };
    CHECK(axis() != nullptr); // nothing is known yet
    const auto half = static_cast<std::ptrdiff_t>(without.size() / 2);
    store.add({without.begin(), without.begin() + half});
    CHECK(model.follow());
    CHECK(axis() == nullptr);
    for (std::size_t i = 0; i < model.axes().size(); ++i)
        for (std::uint32_t point = 0; point < store.size(); ++point)
            CHECK(std::isnan(model.place(i, point)) == !store.feasible(point));
    // Others have it: it is an axis again, and those without stand at its foot.
    store.add({points.begin() + half, points.end()});
    CHECK(model.follow());
    REQUIRE(axis() != nullptr);
    CHECK(axis()->lacking);
    const auto at = static_cast<std::size_t>(axis() - model.axes().data());
    for (std::uint32_t point = 0; point < store.size(); ++point)
        if (store.feasible(point))
            CHECK((model.place(at, point) == 0) == (point < half));
}

TEST_CASE("memory of a point that was refused is a lower bound")
{
    const PointStore store = store_of_some_points(some_grid());
    const Metric memory = metric(store, "memory");
    std::size_t bounds = 0;
    for (std::uint32_t point = 0; point < store.size(); ++point) {
        const bool refused = store.kinds()[store.kind(point)].memory;
        CHECK(text_of(store, point, memory).startsWith(QStringLiteral("at least ")) == refused);
        bounds += refused ? 1 : 0;
    }
    CHECK(bounds > 0);
}

TEST_CASE("brushes hold what is within all of them")
{
    PointStore store = store_of_some_points(some_grid(6));
    ParallelModel model(store);
    model.restart(metrics(store));
    const std::vector<QString> keys = model.keys();
    const auto axis = [&](const char* key) {
        return static_cast<std::size_t>(std::ranges::find(keys, QString::fromLatin1(key)) -
                                        keys.begin());
    };
    model.set_brush(axis("strategy.tp"), Brush{1, 2}); // tp 2 and 4
    model.set_brush(axis("mfu"), Brush{20, 70});
    std::vector<std::uint32_t> expected;
    for (std::uint32_t point = 0; point < store.size(); ++point) {
        const double mfu = 100 * store.figure(point, "mfu");
        if (store.feasible(point) && store.value(point, 0) >= 1 && store.value(point, 0) <= 2 &&
            mfu >= 20 && mfu <= 70)
            expected.push_back(point);
    }
    CHECK_FALSE(expected.empty());
    CHECK(model.within_brushes() == expected);
    // Of the point: its value alone; of a figure as good or better.
    const std::uint32_t point = expected.front();
    const Brush tp = model.brush_at(axis("strategy.tp"), point).value();
    CHECK(tp == Brush{static_cast<double>(store.value(point, 0)),
                      static_cast<double>(store.value(point, 0))});
    const Brush mfu = model.brush_at(axis("mfu"), point).value();
    CHECK(mfu.holds(100 * store.figure(point, "mfu")));
    CHECK(mfu.holds(1e9));
    CHECK_FALSE(mfu.holds(0));
    // An axis that goes takes its brush along.
    model.show_axis(QStringLiteral("mfu"), false);
    CHECK(model.brushed());
    CHECK(model.within_brushes().size() > expected.size());
    model.clear_brushes();
    CHECK_FALSE(model.brushed());
}

TEST_CASE("axes are moved, taken away and put back, and are two at least")
{
    PointStore store = store_of_some_points(some_grid());
    ParallelModel model(store);
    model.restart(metrics(store));
    const std::vector<QString> usual = model.keys();
    model.move_axis(0, 2);
    CHECK(model.keys()[2] == usual[0]);
    model.move_axis(0, -1); // there is none before it
    CHECK(model.keys()[0] == usual[1]);
    for (const QString& key : usual)
        model.show_axis(key, false);
    CHECK(model.keys().size() == 2);
    model.show_axis(QStringLiteral("exposed"), true);
    CHECK(model.keys().back() == QStringLiteral("exposed"));
    const ParallelChoice kept = model.choice();
    ParallelModel other(store);
    other.set_choice(kept);
    other.restart(metrics(store));
    CHECK(other.keys() == model.keys());
    other.set_choice({});
    CHECK(other.keys() == usual);
}

TEST_CASE("the next point along an axis is the one with the next value")
{
    PointStore store = store_of_some_points(some_grid(5));
    ParallelModel model(store);
    model.restart(metrics(store));
    const std::size_t axis = model.axes().size() - 2; // MFU
    std::uint32_t at = model.neighbour(axis, std::numeric_limits<std::uint32_t>::max(), 1).value();
    std::size_t steps = 1;
    for (auto next = model.neighbour(axis, at, 1); next; next = model.neighbour(axis, at, 1)) {
        CHECK(model.place(axis, *next) >= model.place(axis, at));
        at = *next;
        ++steps;
    }
    CHECK(steps == store.feasible_count()); // each once
}

TEST_CASE("lines are stamped once in each colour, at once or in slices")
{
    const auto lines_of = [](std::size_t count) {
        return LineCloud::Lines{
            count,
            [](std::size_t axis, std::size_t line) {
                return static_cast<float>((axis * 7 + line) % 10) / 10;
            },
            [](std::size_t line) { return static_cast<std::uint8_t>(line % 2); }};
    };
    const auto cloud = [] {
        LineCloud out;
        out.set_frame({200, 100}, {0, 100, 199});
        out.set_colours({Qt::red, Qt::blue});
        return out;
    };
    LineCloud whole = cloud();
    CHECK(whole.go_on(lines_of(20'000)));
    LineCloud sliced = cloud();
    int slices = 1;
    while (!sliced.go_on(lines_of(20'000), std::chrono::microseconds(1)))
        ++slices;
    CHECK(slices > 10);
    CHECK(sliced.picture() == whole.picture());
    // What comes later is drawn over what is there.
    LineCloud grown = cloud();
    CHECK(grown.go_on(lines_of(10'000)));
    CHECK(grown.go_on(lines_of(20'000)));
    CHECK(grown.picture() == whole.picture());
    CHECK(grown.drawn() == 20'000);
    CHECK(grown.go_on(lines_of(10))); // others, fewer: anew
    CHECK(grown.drawn() == 10);
}

TEST_CASE("the field that decides a figure explains it, and says which of its values is best")
{
    PointStore store;
    store.reset(some_grid(2));
    std::vector<FoundPoint> points;
    for (std::size_t index = 0; index < store.grid().points(); ++index) {
        PointRow row;
        row.index = index;
        row.gpus = 8;
        row.tokens_per_s = 100;
        // pp is the second of four fields: 4 x 3 x 2 points of each value lie beside each other.
        row.step_time.value = Seconds(1 + static_cast<double>((index / 6 % 4 + 1) % 4));
        points.push_back(found_point(row));
    }
    store.add(points);
    const Importance found = importance_of(importance_question(store, metric(store, "step_time")));
    REQUIRE(found.bars.size() == 5); // four fields, and together
    CHECK(found.bars[0].key == QStringLiteral("strategy.pp"));
    CHECK(found.bars[0].share > 0.999);
    CHECK(found.bars[0].best.contains(QStringLiteral("8"))); // the last of its values
    CHECK(found.bars[1].share < 1e-9);
    CHECK(found.bars.back().key.isEmpty());
    CHECK(found.bars.back().share < 1e-9);
    CHECK(found.table().rows.size() == found.bars.size());
    store.reset(some_grid(2));
    store.add({points[0], points[5], points[9]});
    CHECK(importance_of(importance_question(store, metric(store, "step_time"))).effects.few);
    // Fields that go together explain the same: more than all, which is said.
    std::vector<FoundPoint> diagonal;
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 6; ++j)
            diagonal.push_back(points[(i * 4 + i) * 6 + j]);
    store.reset(some_grid(2));
    store.add(diagonal);
    const Importance overlapping =
        importance_of(importance_question(store, metric(store, "step_time")));
    CHECK(overlapping.bars[0].share + overlapping.bars[1].share > 1.9);
    CHECK(overlapping.note.contains(QStringLiteral("shares overlap, together 200 %")));
}

TEST_CASE("the open scenario is a point of the grid where it says the same, else beside it")
{
    Document document;
    REQUIRE(document.open("scenarios/llama3-70b-h100-64.json").empty());
    REQUIRE_FALSE(document.set("strategy.dp", "2"));
    const SweepFacts facts = sweep_facts(document.read().value()).value();
    std::vector<AxisRange> ranges = ranges_of(facts, document);
    for (AxisRange& range : ranges) {
        range.swept = range.field == "strategy.tp" || range.field == "training.micro_batch";
        if (range.field == "strategy.tp")
            for (std::size_t i = 0; i < range.values.size(); ++i)
                range.chosen[i] = range.values[i] != "2"; // 1, 4, 8
    }
    const SweepPlan plan = plan_sweep(ranges, facts, document).value();
    CHECK(index_of(plan, document, nullptr)); // as it was
    document.reset("strategy.dp");
    for (const char* tp : {"1", "4", "8"}) {
        REQUIRE_FALSE(document.set("strategy.tp", tp));
        const auto index = index_of(plan, document, nullptr);
        REQUIRE(index);
        CHECK(plan.grid.point(*index)[0].value == tp);
        CHECK(plan.grid.point(*index)[1].value == "1");
    }
    // What follows is what the point has: 64 devices over 8 x 2 x 4 leave one replica.
    REQUIRE_FALSE(document.set("strategy.dp", "1"));
    CHECK(index_of(plan, document, nullptr));
    REQUIRE_FALSE(document.set("strategy.tp", "4"));
    CHECK_FALSE(index_of(plan, document, nullptr)); // half the devices idle: no point does that
    document.reset("strategy.dp");
    REQUIRE_FALSE(document.set("strategy.tp", "2"));
    CHECK_FALSE(index_of(plan, document, nullptr));
    // The scenario's interleaved schedule is what 1f1b is with virtual stages.
    Document own;
    REQUIRE(own.open("scenarios/llama3-70b-h100-64.json").empty());
    std::vector<AxisRange> stages = ranges_of(facts, own);
    for (AxisRange& range : stages)
        range.swept = range.field == "strategy.pp";
    const SweepPlan of_stages = plan_sweep(stages, facts, own).value();
    CHECK(of_stages.freed == std::vector<std::string>{"strategy.schedule"});
    CHECK(index_of(of_stages, own, nullptr));
    REQUIRE_FALSE(own.set("strategy.schedule", "zb-v"));
    CHECK_FALSE(index_of(of_stages, own, nullptr));
    const Guest guest = guest_of(plan, document, nullptr, nullptr);
    CHECK(guest.names == std::vector<std::string>{"2", "1"});
    CHECK(std::abs(guest.places[0] - 1.0 / 3) < 1e-12); // a third of the way from 1 to 4
    CHECK(guest.places[1] == 0);
    PointStore store;
    store.reset(plan.grid);
    CHECK_FALSE(store.has(PointStore::guest));
    store.set_guest(guest);
    CHECK(store.has(PointStore::guest));
    CHECK(text_of(store, PointStore::guest, metric(store, "strategy.tp")) == QStringLiteral("2"));
    CHECK(std::isnan(value_of(store, PointStore::guest, metric(store, "step_time"))));
}

TEST_CASE("fields of a generated cluster can be swept, and points keep its file's other figures")
{
    Document document;
    REQUIRE(document.open("scenarios/llama3-70b-h100-64.json").empty());
    const ScenarioFile file = document.read().value();
    const SweepFacts facts = sweep_facts(file).value();
    const std::optional<ClusterDraft> cluster = cluster_of(file);
    REQUIRE(cluster);
    std::vector<AxisRange> ranges = ranges_of(facts, document, &*cluster);
    choose(ranges, Preset::cluster, facts);
    std::map<std::string, AxisRange> swept;
    for (const AxisRange& range : ranges)
        if (range.swept)
            swept[range.field] = range;
    REQUIRE(swept.size() == 3);
    CHECK(swept.at("topology.nodes").values ==
          std::vector<std::string>{"1", "2", "4", "8", "16", "32", "64"});
    CHECK(swept.at("topology.nodes").own == 3);
    CHECK(swept.at("topology.node.nic_rate").values.size() == 5);
    CHECK(swept.at("topology.fabric.oversubscription").own == 0);
    const SweepPlan plan = plan_sweep(ranges, facts, document).value();
    CHECK(plan.grid.points() == 7 * 5 * 4);
    // On one and two nodes tp x pp x cp = 32 has no room; on four there is one replica.
    CHECK(plan.points == 5 * 5 * 4);
    const auto own = at_first_point(document.json(), document.file(), plan.grid, plan.freed);
    CHECK(index_of(plan, document, &*cluster).has_value());
    REQUIRE_FALSE(document.edit(plan.edits(plan.grid.points() - 1)));
    CHECK(at_first_point(document.json(), document.file(), plan.grid, plan.freed) == own);
    const SweepFacts larger = sweep_facts(document.read().value()).value();
    CHECK(larger.devices == 64 * 8);
    CHECK(*document.find("topology.node.preset") == Json("dgx-h100"));
    CHECK(*document.find("topology.fabric.network") == Json("ib_ndr"));
    // In whole racks, where NVLink joins several nodes.
    REQUIRE(document.open("scenarios/llama3-405b-gb200-nvl72.json").empty());
    const std::optional<ClusterDraft> racks = cluster_of(document.read().value());
    REQUIRE(racks);
    const SweepFacts of_racks = sweep_facts(document.read().value()).value();
    for (const AxisRange& range : ranges_of(of_racks, document, &*racks))
        if (range.field == "topology.nodes")
            for (const std::string& nodes : range.values)
                CHECK(std::stoi(nodes) % 18 == 0);
    // Of devices listed one by one there is nothing to vary.
    REQUIRE_FALSE(document.set("topology", "explicit-2x2"));
    CHECK_FALSE(cluster_of(document.read().value()));
}

// What lies behind the breakdown's charts.

#include "gui/breakdown/memory_columns.h"
#include "gui/breakdown/time_bars.h"
#include "sim/base/build_info.h"
#include "tests/catch.h"
#include "tests/support/shipped_outcome.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

using namespace trainyard;
using namespace trainyard::test;
using namespace trainyard::gui;

namespace {

std::size_t count_of(const std::vector<TimeBar>& bars, BarOf of)
{
    return static_cast<std::size_t>(std::ranges::count(bars, of, &TimeBar::of));
}

// The same step in which every rank waits for a time of its own.
Outcome with_different_ranks(Outcome outcome)
{
    StepResult result = *outcome.result;
    for (std::size_t i = 0; i < result.lanes.size(); ++i) {
        const SimTime moved(static_cast<std::int64_t>(i) * 1'000'000);
        result.lanes[i].time[index_of(TimeKind::forward)] -= moved;
        result.lanes[i].time[index_of(TimeKind::waiting)] += moved;
    }
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    return outcome;
}

HeldBytes held(std::int64_t time, std::int64_t bytes)
{
    HeldBytes point;
    point.time = SimTime(time);
    point.bytes = bytes;
    point.kinds[static_cast<std::size_t>(MemoryKind::activations)] = bytes;
    return point;
}

MemoryCurve random_curve(std::mt19937& random, std::size_t size)
{
    MemoryCurve curve;
    std::int64_t time = 0;
    for (std::size_t i = 0; i < size; ++i) {
        time += std::uniform_int_distribution<std::int64_t>(0, 40)(random);
        curve.points.push_back(
            held(time, std::uniform_int_distribution<std::int64_t>(0, 1000)(random)));
    }
    return curve;
}

} // namespace

TEST_CASE("bars begin with the critical rank and the mean, the baseline's after them")
{
    const Outcome outcome = outcome_of("llama3-8b-h100-8.json");
    const std::vector<TimeBar> alone = time_bars(outcome, nullptr, 20);
    REQUIRE(alone.size() >= 2);
    CHECK(alone[0].of == BarOf::critical);
    CHECK(alone[0].name == fmt::format("rank {}, critical", alone[0].rank.value().value));
    CHECK(alone[1].of == BarOf::mean);
    CHECK(count_of(alone, BarOf::baseline) == 0);
    const std::vector<TimeBar> both = time_bars(outcome, &outcome, 20);
    CHECK(both[2].of == BarOf::baseline);
    CHECK(both[2].shares == alone[0].shares);
    CHECK(both[3].shares == alone[1].shares);
    CHECK(time_bars(outcome, &outcome, 2).size() == 2);
}

TEST_CASE("every stage of a pipeline has a bar where there is room, else stages evenly apart")
{
    const Outcome outcome = outcome_of("llama2-7b-tp2-pp2-dp2.json");
    const std::vector<TimeBar> bars = time_bars(outcome, nullptr, 20);
    REQUIRE(count_of(bars, BarOf::stage) == 2);
    // Stages of as many ranks each: their mean is the mean.
    TimeShares mean{};
    for (const TimeBar& bar : bars)
        if (bar.of == BarOf::stage)
            for (std::size_t k = 0; k < mean.size(); ++k)
                mean[k] += bar.shares[k] * 0.5;
    for (std::size_t k = 0; k < mean.size(); ++k)
        CHECK(std::abs((mean[k] - bars[1].shares[k]).value()) < 1e-9);

    const Outcome deep = outcome_of("llama3-405b-h100-16k.json");
    const std::vector<TimeBar> few = time_bars(deep, nullptr, 6);
    REQUIRE(few.size() == 6);
    CHECK(few[2].name == "stage 0");
    CHECK(few[2].note == "mean over its ranks; 4 of 16 stages are shown, the table has all");
    CHECK(few[5].name == "stage " + std::to_string(deep.plan->program.roles.size() - 1));
}

TEST_CASE("of many ranks that differ the furthest from the mean and quantiles are shown")
{
    const Outcome outcome =
        with_different_ranks(outcome_of("llama3-70b-h100-64.json", {{"run.fold", "false"}}));
    REQUIRE(outcome.result->lanes.size() == 64);
    for (const std::size_t most : {4U, 6U, 9U, 12U}) {
        const std::vector<TimeBar> bars = time_bars(outcome, nullptr, most);
        CHECK(bars.size() <= most);
        CHECK(count_of(bars, BarOf::rank) >= 1);
        std::set<std::uint32_t> ranks;
        for (const TimeBar& bar : bars)
            if (bar.of == BarOf::rank || bar.of == BarOf::critical)
                CHECK(ranks.insert(bar.rank->value).second); // none twice
    }
    // With room for all, all.
    CHECK(count_of(time_bars(outcome, nullptr, 1000), BarOf::rank) == 63); // and the critical one
}

TEST_CASE("pieces of a bar touch each other and end at the step time, or at one")
{
    const Outcome outcome = outcome_of("llama2-7b-tp2-pp2-dp2.json");
    const std::vector<TimeBar> bars = time_bars(outcome, nullptr, 10);
    for (const BarUnit unit : {BarUnit::seconds, BarUnit::share}) {
        std::vector<double> ends(bars.size(), 0);
        for (const BarPiece& piece : pieces_of(bars, unit)) {
            CHECK_THAT(piece.from, WithinAbs(ends[piece.bar], 1e-12));
            CHECK(piece.to > piece.from);
            ends[piece.bar] = piece.to;
        }
        for (std::size_t bar = 0; bar < bars.size(); ++bar)
            CHECK_THAT(
                ends[bar],
                WithinRel(unit == BarUnit::share ? 1.0 : sum_of(bars[bar].shares).value(), 1e-9));
    }
}

TEST_CASE("a column shows the most that is held in it, as a search of every point finds it")
{
    std::mt19937 random(20261122);
    for (int round = 0; round < 200; ++round) {
        const MemoryCurve curve = random_curve(random, 1 + static_cast<std::size_t>(round) % 60);
        std::uniform_int_distribution<std::int64_t> times(curve.points.front().time.value(),
                                                          curve.points.back().time.value());
        std::int64_t from = times(random);
        std::int64_t to = times(random);
        if (from > to)
            std::swap(from, to);
        to = std::max(to, from + 1);
        // One column: the most of all points inside and of the last before.
        std::int64_t most = 0;
        for (const HeldBytes& point : curve.points) {
            if (point.time < SimTime(from))
                most = point.bytes;
            else if (point.time <= SimTime(to))
                most = std::max(most, point.bytes);
        }
        const auto one = columns_of(curve, SimTime(from), SimTime(to), 1);
        REQUIRE(one.size() == 1);
        CHECK(one[0].bytes == most);
        // However many columns: none loses the peak.
        const auto many = columns_of(curve, SimTime(from), SimTime(to), 37);
        REQUIRE(many.size() == 37);
        CHECK(std::ranges::max(many, {}, &HeldBytes::bytes).bytes == most);
    }
}

TEST_CASE("what is there longest lies lowest, what is never there is left out")
{
    MemoryCurve curve;
    for (const auto& [parameters, activations] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{100, 0}, {100, 900}, {100, 50}})
    {
        HeldBytes point;
        point.kinds[static_cast<std::size_t>(MemoryKind::activations)] = activations;
        point.kinds[static_cast<std::size_t>(MemoryKind::parameters)] = parameters;
        point.kinds[static_cast<std::size_t>(MemoryKind::pinned_host)] = 7;
        curve.points.push_back(point);
    }
    CHECK(stacking_order(curve) == std::vector{MemoryKind::parameters, MemoryKind::activations});
    CHECK(stacking_order({}).empty());
}

TEST_CASE("at a time, what the last point before it says is held")
{
    MemoryCurve curve;
    curve.points = {held(10, 1), held(20, 2), held(20, 3), held(30, 4)};
    CHECK(held_at(curve, SimTime(9)) == nullptr);
    CHECK(held_at(curve, SimTime(10))->bytes == 1);
    CHECK(held_at(curve, SimTime(20))->bytes == 3);
    CHECK(held_at(curve, SimTime(99))->bytes == 4);
    CHECK(columns_of({}, SimTime(0), SimTime(1), 4).empty());
}

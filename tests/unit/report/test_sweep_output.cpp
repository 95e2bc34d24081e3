#include "sim/report/sweep/sweep_output.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

PointRow feasible(std::size_t index, double tokens_per_s, double step = 1.0, int gpus = 8)
{
    PointRow row;
    row.index = index;
    row.values = {std::to_string(index)};
    row.gpus = gpus;
    row.tokens_per_s = tokens_per_s;
    row.step_time.value = Seconds(step);
    row.peak_memory = Bytes(40);
    row.capacity = Bytes(80);
    return row;
}

PointRow infeasible(std::size_t index)
{
    PointRow row;
    row.index = index;
    row.values = {std::to_string(index)};
    row.reason = "3, \"three\", does not divide 8";
    row.hint = "2 or 4 do";
    row.hindrance = {Hindrance::Kind::input, "/strategy/tp"};
    return row;
}

// Lacks `missing` bytes of 80.
PointRow unfit(std::size_t index, std::uint64_t missing)
{
    PointRow row = infeasible(index);
    row.reason = "lacks " + std::to_string(missing);
    row.hindrance = {Hindrance::Kind::memory, {}};
    row.peak_memory = Bytes(80 + missing);
    row.capacity = Bytes(80);
    return row;
}

// What a point needs of a device's 1000 bytes.
PointRow full(std::size_t index, std::uint64_t bytes, double tokens_per_s)
{
    PointRow row = feasible(index, tokens_per_s);
    row.peak_memory = Bytes(bytes);
    row.capacity = Bytes(1000);
    return row;
}

std::vector<std::size_t> indices(const std::vector<PointRow>& rows)
{
    std::vector<std::size_t> out;
    for (const PointRow& row : rows)
        out.push_back(row.index);
    return out;
}

const SweepGrid grid{{{"strategy.tp", {"0", "1", "2", "3", "4"}}}};

SweepTitle title_of(SweepEnd end, SweepGrid of = grid)
{
    return {"job.json", std::move(of), {}, SweepMeasure::throughput, end};
}

} // namespace

TEST_CASE("the best rows come first whatever the order in which points finish")
{
    const std::vector<PointRow> rows{feasible(0, 10), infeasible(1), feasible(2, 30),
                                     feasible(3, 30), infeasible(4)};
    SweepBest forward(SweepMeasure::throughput, 2);
    SweepBest backward(SweepMeasure::throughput, 2);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        forward.add(rows[i]);
        backward.add(rows[rows.size() - 1 - i]);
    }
    CHECK(indices(forward.best()) == std::vector<std::size_t>{2, 3}); // equals in grid order
    CHECK(forward.best() == backward.best());
    REQUIRE(forward.reasons().size() == 1);
    CHECK(forward.reasons().front().example == backward.reasons().front().example);
    CHECK(forward.feasible_count() == 3);
    CHECK(forward.infeasible_count() == 2);
}

TEST_CASE("what is best depends on the measure")
{
    // Twice the GPUs, 1.5 times the tokens: faster, and less per GPU.
    const PointRow small = feasible(0, 100, 2.0, 8);
    const PointRow large = feasible(1, 150, 3.0, 16);
    CHECK(is_better(large, small, SweepMeasure::throughput));
    CHECK(is_better(small, large, SweepMeasure::throughput_per_gpu));
    CHECK(is_better(small, large, SweepMeasure::step_time));
}

TEST_CASE("rows are written in grid order, and all of those done when a sweep ends early")
{
    std::vector<std::size_t> written;
    GridOrder order([&](const PointRow& row) { written.push_back(row.index); });
    order.add(feasible(1, 1));
    order.add(feasible(3, 1));
    CHECK(written.empty());
    order.add(feasible(0, 1));
    CHECK(written == std::vector<std::size_t>{0, 1});
    order.finish(); // 2 was never done
    CHECK(written == std::vector<std::size_t>{0, 1, 3});
}

TEST_CASE("every line of a sweep's CSV has as many fields as its head")
{
    const auto fields = [](const std::string& line) {
        std::size_t count = 1;
        bool quoted = false;
        for (const char c : line) {
            quoted ^= c == '"';
            count += c == ',' && !quoted;
        }
        return count;
    };
    const std::size_t head = fields(sweep_csv_head(grid));
    CHECK(fields(sweep_csv_line(grid, feasible(0, 1), 0.05)) == head);
    CHECK(fields(sweep_csv_line(grid, infeasible(1), 0.05)) == head);
}

TEST_CASE("a sweep's JSON is one document, points or none")
{
    SweepBest best(SweepMeasure::throughput, 5);
    best.add(feasible(2, 7));
    const SweepTitle title = title_of({5, 1, true});
    const Checked<Json> document =
        parse_json(sweep_json_head(title, 0.05) + to_text(to_json(grid, feasible(2, 7), 0.05)) +
                       sweep_json_tail(title, best),
                   "test");
    REQUIRE(document);
    CHECK(document->find("best")->find("set")->find("strategy.tp")->as_integer() == 2);
    CHECK_FALSE(document->find("complete")->as_bool());
    const Checked<Json> empty = parse_json(
        sweep_json_head(title, 0.05) + sweep_json_tail(title, SweepBest(SweepMeasure::mfu, 5)),
        "test");
    REQUIRE(empty);
    CHECK(empty->find("best")->is_null());
}

TEST_CASE("a sweep's best point can be pasted into a shell")
{
    const SweepGrid lists{{{"strategy.stage_layers", {"[1, 2]"}}}};
    PointRow row = feasible(0, 7);
    row.values = {"[1, 2]"};
    SweepBest best(SweepMeasure::throughput, 5);
    best.add(row);
    const std::string text = sweep_text(title_of({1, 1, false}, lists), best, Paint(Colour::none));
    CHECK(text.find("--set 'strategy.stage_layers=[1, 2]'") != std::string::npos);
}

TEST_CASE("a point that cannot be comes with what would help")
{
    SweepBest best(SweepMeasure::throughput, 5);
    best.add(infeasible(1));
    const SweepTitle title = title_of({1, 1, false});
    const std::string text = sweep_text(title, best, Paint(Colour::none));
    CHECK(text.find("does not divide 8 (2 or 4 do)") != std::string::npos);
    CHECK(to_json(grid, infeasible(1), 0.05).find("hint")->as_string() == "2 or 4 do");
}

TEST_CASE("a sweep that was interrupted says after how many points")
{
    SweepBest best(SweepMeasure::throughput, 5);
    best.add(feasible(0, 7));
    best.add(infeasible(1));
    const std::string text = sweep_text(title_of({5, 2, true}), best, Paint(Colour::none));
    CHECK(text.starts_with("job.json: interrupted after 2 of 5 points, 1 of them possible\n"));
}

TEST_CASE("how fast points came is said of several, in what reads best")
{
    CHECK(speed_text(0, Seconds(0.002)) == "0 points in 2.00 ms");
    CHECK(speed_text(1, Seconds(4.2)) == "1 point in 4.20 s");
    CHECK(speed_text(12, Seconds(0.35)) == "12 points in 350 ms (34.3 points/s)");
    CHECK(speed_text(3, Seconds(300)) == "3 points in 300 s (100 s per point)");
}

TEST_CASE("a grid of one point is told as one")
{
    SweepBest best(SweepMeasure::throughput, 20);
    best.add(feasible(0, 10));
    const SweepTitle title = title_of({1, 1, false});
    CHECK_THAT(sweep_text(title, best, Paint(Colour::none)),
               StartsWith("job.json: 1 of 1 point possible\n"));
}

TEST_CASE("what leaves less than the headroom free is shown after the rest, and not recommended")
{
    SweepBest best(SweepMeasure::throughput, 5, 0.05);
    best.add(full(0, 1000, 40));
    best.add(full(1, 951, 30));
    best.add(full(2, 950, 20)); // five per cent free
    best.add(full(3, 500, 10));
    CHECK(indices(best.best()) == std::vector<std::size_t>{2, 3, 0, 1});
    REQUIRE(best.recommended() != nullptr);
    CHECK(best.recommended()->index == 2);
    CHECK(best.roomy_count() == 2);
    const std::string text = sweep_text(title_of({4, 4, false}), best, Paint(Colour::none));
    CHECK_THAT(text, StartsWith("job.json: 4 of 4 points possible, 2 with 5 % of memory to spare"));
    CHECK_THAT(text,
               ContainsSubstring("Best with 5 % of memory to spare, by the highest throughput"));
    CHECK_THAT(text, ContainsSubstring("--set strategy.tp=2"));
    CHECK_THAT(text, ContainsSubstring("* 100 %"));
    CHECK_FALSE(to_json(grid, full(1, 951, 30), 0.05).find("leaves_room")->as_bool());
}

TEST_CASE("no point without the headroom is recommended, and every point where none is asked for")
{
    for (const double headroom : {0.05, 0.0}) {
        SweepBest best(SweepMeasure::throughput, 5, headroom);
        best.add(full(0, 1000, 40));
        CHECK((best.recommended() == nullptr) == (headroom > 0));
        const SweepTitle title = title_of({1, 1, false});
        const Checked<Json> document =
            parse_json(sweep_json_head(title, headroom) + sweep_json_tail(title, best), "test");
        REQUIRE(document);
        CHECK(document->find("best")->is_null() == (headroom > 0));
        CHECK(document->find("memory_headroom")->as_double() == headroom);
    }
}

TEST_CASE("a reason is told once, with how many points it keeps from being")
{
    SweepBest best(SweepMeasure::throughput, 5);
    for (const std::size_t index : {4U, 2U, 3U})
        best.add(infeasible(index));
    best.add(unfit(0, 30));
    best.add(unfit(1, 9));
    const std::vector<ReasonCount> reasons = best.reasons();
    REQUIRE(reasons.size() == 2);
    CHECK(reasons[0].count == 3); // the most frequent first
    CHECK(reasons[0].example.index == 2);
    CHECK(reasons[1].count == 2);
    CHECK(reasons[1].example.index == 1); // lacks least
    const std::string text = sweep_text(title_of({5, 5, false}), best, Paint(Colour::none));
    CHECK_THAT(text,
               ContainsSubstring("3 points, the first tp=2: 3, \"three\", does not divide 8"));
    CHECK_THAT(text, ContainsSubstring("2 points, the nearest to fitting tp=1: lacks 9"));
    CHECK(text.find("lacks 30") == std::string::npos);
}

TEST_CASE("a batch that was moved stands in its row, in what to paste and in the data")
{
    SweepBest best(SweepMeasure::throughput, 5);
    PointRow row = feasible(2, 7);
    row.moved = MovedBatch{128, 126};
    row.global_batch = 126;
    row.beside = {{"training.global_batch", "126"}};
    best.add(row);
    const std::string text = sweep_text(title_of({1, 1, false}), best, Paint(Colour::none));
    CHECK_THAT(text, ContainsSubstring("126 for 128"));
    CHECK_THAT(text, ContainsSubstring("--set strategy.tp=2 --set training.global_batch=126"));
    const Json data = to_json(grid, row, 0.05);
    CHECK(data.find("set")->find("training.global_batch")->as_integer() == 126);
    CHECK(data.find("global_batch_asked")->as_integer() == 128);
}

TEST_CASE("fields left to follow are named, with what keeps them and what to paste")
{
    SweepBest best(SweepMeasure::throughput, 5);
    best.add(feasible(2, 7));
    SweepTitle title = title_of({1, 1, false});
    title.following = {{{"strategy.dp", "null"}, "8"}};
    const std::string text = sweep_text(title, best, Paint(Colour::none));
    CHECK_THAT(text, ContainsSubstring("--set strategy.dp=null --set strategy.tp=2"));
    CHECK_THAT(text, ContainsSubstring("strategy.dp follows from the swept fields here (--grid "
                                       "strategy.dp=8 keeps it)"));
}

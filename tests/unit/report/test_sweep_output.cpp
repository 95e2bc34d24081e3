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
    CHECK(forward.infeasible() == backward.infeasible());
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
    CHECK(fields(sweep_csv_line(feasible(0, 1))) == head);
    CHECK(fields(sweep_csv_line(infeasible(1))) == head);
}

TEST_CASE("a sweep's JSON is one document, points or none")
{
    SweepBest best(SweepMeasure::throughput, 5);
    best.add(feasible(2, 7));
    const SweepTitle title{"job.json", grid, SweepMeasure::throughput, {5, 1, true}};
    const Checked<Json> document =
        parse_json(sweep_json_head("job.json", grid) + to_text(to_json(grid, feasible(2, 7))) +
                       sweep_json_tail(title, best),
                   "test");
    REQUIRE(document);
    CHECK(document->find("best")->find("set")->find("strategy.tp")->as_integer() == 2);
    CHECK_FALSE(document->find("complete")->as_bool());
    const Checked<Json> empty = parse_json(
        sweep_json_head("job.json", grid) + sweep_json_tail(title, SweepBest(SweepMeasure::mfu, 5)),
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
    const std::string text = sweep_text(
        {"job.json", lists, SweepMeasure::throughput, {1, 1, false}}, best, Paint(Colour::none));
    CHECK(text.find("--set 'strategy.stage_layers=[1, 2]'") != std::string::npos);
}

TEST_CASE("a point that cannot be comes with what would help")
{
    SweepBest best(SweepMeasure::throughput, 5);
    best.add(infeasible(1));
    const SweepTitle title{"job.json", grid, SweepMeasure::throughput, {1, 1, false}};
    const std::string text = sweep_text(title, best, Paint(Colour::none));
    CHECK(text.find("does not divide 8 (2 or 4 do)") != std::string::npos);
    CHECK(to_json(grid, infeasible(1)).find("hint")->as_string() == "2 or 4 do");
}

TEST_CASE("a sweep that was interrupted says after how many points")
{
    SweepBest best(SweepMeasure::throughput, 5);
    best.add(feasible(0, 7));
    best.add(infeasible(1));
    const std::string text = sweep_text({"job.json", grid, SweepMeasure::throughput, {5, 2, true}},
                                        best, Paint(Colour::none));
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
    const SweepTitle title{"mine.json", grid, SweepMeasure::throughput, {1, 1, false}};
    CHECK_THAT(sweep_text(title, best, Paint(Colour::none)),
               StartsWith("mine.json: 1 of 1 point possible\n"));
}

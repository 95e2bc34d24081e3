#include "sim/report/timeline/recorded.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("records find their ops by their order in a stream")
{
    const Outcome outcome = recorded_outcome();
    const auto& records = outcome.result->records;
    const auto placed = place_records(*outcome.plan, *outcome.binding, records);
    REQUIRE(placed.size() == records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        REQUIRE(placed[i].op != nullptr);
        CHECK(placed[i].op->label == records[i].label);
        CHECK(placed[i].op->kind == records[i].kind);
    }
}

TEST_CASE("records that are not the whole step of a stream are not placed")
{
    Outcome outcome = recorded_outcome();
    StepResult result = *outcome.result;
    result.records.erase(result.records.begin()); // the first compute op of lane 0
    const auto placed = place_records(*outcome.plan, *outcome.binding, result.records);
    for (std::size_t i = 0; i < result.records.size(); ++i) {
        const OpRecord& record = result.records[i];
        const bool broken = record.lane == LaneId{0} && record.kind == OpKind::compute;
        CHECK((placed[i].op == nullptr) == broken);
    }
}

TEST_CASE("every message has one send and one receive, on two lanes, the send not later")
{
    const Outcome outcome = recorded_outcome();
    const auto& records = outcome.result->records;
    const auto placed = place_records(*outcome.plan, *outcome.binding, records);
    const auto found = messages(*outcome.binding, records, placed);
    // Two micro-batches, activations and gradients, two pairs of ranks.
    REQUIRE(found.size() == 8);
    for (const RecordedMessage& message : found) {
        const OpRecord& send = records[message.send];
        const OpRecord& receive = records[message.receive];
        CHECK(send.lane != receive.lane);
        CHECK(send.micro_batch == receive.micro_batch);
        CHECK(send.start <= receive.end);
    }
}

TEST_CASE("a message to a lane without records is left out")
{
    Outcome outcome = recorded_outcome();
    StepResult result = *outcome.result;
    std::erase_if(result.records, [](const OpRecord& r) { return r.lane.value >= 2; });
    const auto placed = place_records(*outcome.plan, *outcome.binding, result.records);
    CHECK(messages(*outcome.binding, result.records, placed).empty());
}

TEST_CASE("memory rises with each forward and falls back to what is always held")
{
    const Outcome outcome = recorded_outcome();
    const auto placed = place_records(*outcome.plan, *outcome.binding, outcome.result->records);
    const auto points = memory_over_time(outcome, placed, LaneId{0}, 1);
    REQUIRE_FALSE(points.empty());
    // 5000 bytes always, 1000 per micro-batch in flight: two of them.
    std::int64_t most = 0;
    for (const MemoryPoint& point : points)
        most = std::max(most, point.bytes);
    CHECK(most == 7000);
    CHECK(points.back().bytes == 5000);
    CHECK(std::is_sorted(points.begin(), points.end(),
                         [](const auto& a, const auto& b) { return a.time < b.time; }));
}

TEST_CASE("the lanes shown by default are the first of each stage and the critical one")
{
    Outcome outcome = small_outcome();
    StepResult result = *outcome.result;
    result.critical_lane = LaneId{3};
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    const RecordRequest request = default_trace_lanes(outcome);
    CHECK(request.lane(LaneId{0}));
    CHECK_FALSE(request.lane(LaneId{1}));
    CHECK(request.lane(LaneId{2}));
    CHECK(request.lane(LaneId{3}));
    CHECK(request.first_step == 1);
}

TEST_CASE("a small trace shows the critical rank and then the lowest, at least one")
{
    // Ten device ops per rank.
    Outcome outcome = recorded_outcome();
    StepResult result = *outcome.result;
    result.critical_lane = LaneId{2};
    outcome.result = std::make_shared<const StepResult>(std::move(result));
    CHECK(representative_ranks(outcome, 40) ==
          std::vector{RankId{2}, RankId{0}, RankId{1}, RankId{3}});
    CHECK(representative_ranks(outcome, 29) == std::vector{RankId{2}, RankId{0}});
    CHECK(representative_ranks(outcome, 3) == std::vector{RankId{2}});
    CHECK(representative_ranks(small_outcome()).empty());
}

TEST_CASE("a small job is recorded whole for pictures, a large one as for a trace")
{
    const Outcome outcome = small_outcome();
    // 36 ops a step; lanes 0 and 1 do the same, lane 0 sets the pace.
    CHECK(picture_lanes(outcome, 36).lane(LaneId{1}));
    const RecordRequest few = picture_lanes(outcome, 35);
    CHECK(few.lane(LaneId{0}));
    CHECK_FALSE(few.lane(LaneId{1}));
    CHECK(few.lane(LaneId{2}));
    CHECK(few.first_step == 1);
}

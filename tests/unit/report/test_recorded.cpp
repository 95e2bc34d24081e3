#include "sim/report/timeline/recorded.h"
#include "sim/study/recorded/record_graph.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"

#include <algorithm>
#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("records say which op of their lane's step they are of")
{
    const Outcome outcome = recorded_outcome();
    const auto& records = outcome.result->records;
    const RecordGraph graph(outcome.plan->program, *outcome.binding, records);
    for (RecordIndex i = 0; i < records.size(); ++i) {
        CHECK(graph.op_of(i).label == records[i].label);
        CHECK(graph.op_of(i).kind == records[i].kind);
        CHECK(graph.op_of(i).micro_batch == records[i].micro_batch);
    }
}

TEST_CASE("every message has one send and one receive, on two lanes, the send not later")
{
    const Outcome outcome = recorded_outcome();
    const auto& records = outcome.result->records;
    const RecordGraph graph(outcome.plan->program, *outcome.binding, records);
    const auto found = graph.messages();
    // Two micro-batches, activations and gradients, two pairs of ranks.
    REQUIRE(found.size() == 8);
    for (const RecordGraph::Message& message : found) {
        const OpRecord& send = records[message.send];
        const OpRecord& receive = records[message.receive];
        CHECK(send.lane != receive.lane);
        CHECK(send.micro_batch == receive.micro_batch);
        CHECK(send.start <= receive.end);
    }
}

TEST_CASE("a message to a lane without records is left out")
{
    const Outcome outcome = recorded_outcome();
    std::vector<OpRecord> records = outcome.result->records;
    std::erase_if(records, [](const OpRecord& r) { return r.lane.value >= 2; });
    CHECK(RecordGraph(outcome.plan->program, *outcome.binding, records).messages().empty());
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

TEST_CASE("the lanes that are recorded can be chosen, as many as there may be ops of")
{
    const Outcome outcome = small_outcome();
    const auto recorded = [&](const LaneChoice& choice, std::uint64_t most = 1'000'000) {
        const RecordRequest request = chosen_lanes(outcome, choice, most);
        std::vector<std::uint32_t> lanes;
        for (std::size_t i = 0; i < outcome.binding->lanes.size(); ++i)
            if (request.lane(make_id<LaneId>(i)))
                lanes.push_back(static_cast<std::uint32_t>(i));
        return lanes;
    };
    std::vector<std::uint32_t> all(outcome.binding->lanes.size());
    std::iota(all.begin(), all.end(), 0U);
    CHECK(recorded({LanesOf::all}) == all);
    CHECK(recorded({LanesOf::all}, 1) == std::vector{0U});
    CHECK(recorded({LanesOf::ranks, {RankId{1}, RankId{2}}}) == std::vector{1U, 2U});
    // No such rank: the critical one.
    CHECK(recorded({LanesOf::ranks, {RankId{4000}}}) ==
          std::vector{outcome.result->critical_lane.value});
    CHECK(recorded({LanesOf::stages}) != all);
    const std::vector<std::uint32_t> group = recorded({LanesOf::dp_group});
    CHECK(std::ranges::count(group, outcome.result->critical_lane.value) == 1);
}

TEST_CASE("ranks are read as numbers and ranges of them")
{
    CHECK(parse_ranks("0-2, 8,1") == std::vector{RankId{0}, RankId{1}, RankId{2}, RankId{8}});
    CHECK(parse_ranks(" 7 ") == std::vector{RankId{7}});
    for (const char* const wrong : {"", "a", "3-1", "1-", "1,", "1 2", "-1", "0-4000000000"})
        CHECK_FALSE(parse_ranks(wrong));
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

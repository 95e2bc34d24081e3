// Laws of pipeline schedules, checked on the passes themselves and on a list scheduler that knows
// nothing of how they were made.

#include "sim/strategy/schedule.h"
#include "tests/catch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

using namespace trainyard;

namespace {

const std::vector<PipelineShape> plain_shapes = {{1, 1, 1}, {1, 1, 5}, {2, 1, 1}, {2, 1, 7},
                                                 {3, 1, 3}, {3, 1, 8}, {5, 1, 2}, {5, 1, 11},
                                                 {7, 1, 7}, {8, 1, 64}};
const std::vector<PipelineShape> interleaved_shapes = {
    {2, 2, 2}, {2, 3, 8}, {3, 2, 3}, {3, 4, 9}, {5, 3, 10}, {7, 2, 14}, {4, 5, 32}, {8, 6, 8}};

struct Case {
    const PipelineSchedule* schedule;
    PipelineShape shape;
};

std::vector<Case> all_cases()
{
    std::vector<Case> cases;
    for (const PipelineShape& shape : plain_shapes)
        for (const char* name : {"gpipe", "1f1b"})
            cases.push_back({find_schedule(name), shape});
    for (const PipelineShape& shape : interleaved_shapes)
        cases.push_back({find_schedule("interleaved-1f1b"), shape});
    return cases;
}

// Most (micro-batch, chunk) pairs between forward and backward on a stage at once.
int most_in_flight(const std::vector<Pass>& passes)
{
    int now = 0;
    int most = 0;
    for (const Pass& pass : passes) {
        now += pass.kind == PassKind::forward ? 1 : -1;
        most = std::max(most, now);
    }
    return most;
}

// Runs every stage's passes as early as order and data allow: forward takes 1 per pass, backward 2,
// messages nothing. Empty when the stages wait for each other for ever.
std::optional<int> finish_time(const PipelineSchedule& schedule, const PipelineShape& shape)
{
    const int last = shape.stages * shape.chunks - 1;
    std::vector<std::vector<Pass>> todo;
    for (int stage = 0; stage < shape.stages; ++stage)
        todo.push_back(schedule.passes(shape, stage));
    std::vector<std::size_t> next(todo.size(), 0);
    std::vector<int> free(todo.size(), 0);
    std::map<std::tuple<PassKind, int, int>, int> done; // kind, micro-batch, virtual stage -> time

    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t stage = 0; stage < todo.size(); ++stage) {
            if (next[stage] == todo[stage].size())
                continue;
            const Pass& pass = todo[stage][next[stage]];
            const int place = pass.chunk * shape.stages + static_cast<int>(stage);
            const bool forward = pass.kind == PassKind::forward;
            // A backward pass of the last virtual stage needs its own forward pass.
            auto needs = forward ? std::tuple(PassKind::forward, pass.micro_batch, place - 1)
                                 : std::tuple(PassKind::backward, pass.micro_batch, place + 1);
            if (!forward && place == last)
                needs = {PassKind::forward, pass.micro_batch, place};
            int start = free[stage];
            if (!(forward && place == 0)) {
                const auto found = done.find(needs);
                if (found == done.end())
                    continue;
                start = std::max(start, found->second);
            }
            free[stage] = start + (forward ? 1 : 2);
            done[{pass.kind, pass.micro_batch, place}] = free[stage];
            ++next[stage];
            moved = true;
        }
    }
    for (std::size_t stage = 0; stage < todo.size(); ++stage)
        if (next[stage] != todo[stage].size())
            return std::nullopt;
    return *std::max_element(free.begin(), free.end());
}

} // namespace

TEST_CASE("every micro-batch goes once forward and then once backward through every chunk")
{
    for (const auto& [schedule, shape] : all_cases()) {
        REQUIRE(schedule->refusal(shape).empty());
        for (int stage = 0; stage < shape.stages; ++stage) {
            CAPTURE(schedule->name(), shape.stages, shape.chunks, shape.micro_batches, stage);
            std::map<std::pair<int, int>, int> passed;
            for (const Pass& pass : schedule->passes(shape, stage)) {
                REQUIRE(pass.micro_batch >= 0);
                REQUIRE(pass.micro_batch < shape.micro_batches);
                REQUIRE(pass.chunk >= 0);
                REQUIRE(pass.chunk < shape.chunks);
                int& count = passed[{pass.micro_batch, pass.chunk}];
                REQUIRE(count == (pass.kind == PassKind::forward ? 0 : 1));
                ++count;
            }
            REQUIRE(passed.size() == static_cast<std::size_t>(shape.micro_batches * shape.chunks));
            for (const auto& [pair, count] : passed)
                REQUIRE(count == 2);
        }
    }
}

TEST_CASE("GPipe holds every micro-batch, 1F1B as many as stages are left")
{
    for (const PipelineShape& shape : plain_shapes)
        for (int stage = 0; stage < shape.stages; ++stage) {
            CAPTURE(shape.stages, shape.micro_batches, stage);
            CHECK(most_in_flight(find_schedule("gpipe")->passes(shape, stage)) ==
                  shape.micro_batches);
            CHECK(most_in_flight(find_schedule("1f1b")->passes(shape, stage)) ==
                  std::min(shape.micro_batches, shape.stages - stage));
        }
}

TEST_CASE("interleaved 1F1B holds p v + p - 2 i - 1 chunks of a micro-batch, at most m v")
{
    for (const PipelineShape& shape : interleaved_shapes)
        for (int stage = 0; stage < shape.stages; ++stage) {
            CAPTURE(shape.stages, shape.chunks, shape.micro_batches, stage);
            const int p = shape.stages;
            CHECK(
                most_in_flight(find_schedule("interleaved-1f1b")->passes(shape, stage)) ==
                std::min(p * shape.chunks + p - 2 * stage - 1, shape.micro_batches * shape.chunks));
        }
}

TEST_CASE("the bubble is (p - 1) / m of the ideal time, interleaving divides it by v")
{
    // Ideal: m v passes of 1 + 2. Bubble: (p - 1) / (m v) of it, so p - 1 chunk passes each way.
    for (const auto& [schedule, shape] : all_cases()) {
        CAPTURE(schedule->name(), shape.stages, shape.chunks, shape.micro_batches);
        const std::optional<int> time = finish_time(*schedule, shape);
        REQUIRE(time);
        CHECK(*time == 3 * (shape.micro_batches * shape.chunks + shape.stages - 1));
    }
}

TEST_CASE("interleaving takes micro-batches in groups of one per stage, chunk after chunk")
{
    // Narayanan 2021, figure 4 (bottom): 4 devices, 2 chunks, 8 micro-batches, first device.
    const auto passes = find_schedule("interleaved-1f1b")->passes({4, 2, 8}, 0);
    std::vector<std::pair<int, int>> forward;
    std::vector<std::pair<int, int>> backward;
    for (const Pass& pass : passes)
        (pass.kind == PassKind::forward ? forward : backward)
            .emplace_back(pass.micro_batch, pass.chunk);
    using Pairs = std::vector<std::pair<int, int>>;
    CHECK(forward == Pairs{{0, 0},
                           {1, 0},
                           {2, 0},
                           {3, 0},
                           {0, 1},
                           {1, 1},
                           {2, 1},
                           {3, 1},
                           {4, 0},
                           {5, 0},
                           {6, 0},
                           {7, 0},
                           {4, 1},
                           {5, 1},
                           {6, 1},
                           {7, 1}});
    CHECK(backward == Pairs{{0, 1},
                            {1, 1},
                            {2, 1},
                            {3, 1},
                            {0, 0},
                            {1, 0},
                            {2, 0},
                            {3, 0},
                            {4, 1},
                            {5, 1},
                            {6, 1},
                            {7, 1},
                            {4, 0},
                            {5, 0},
                            {6, 0},
                            {7, 0}});
}

TEST_CASE("a schedule refuses shapes it cannot run and says what would work")
{
    CHECK_THAT(find_schedule("1f1b")->refusal({4, 2, 8}), ContainsSubstring("vpp = 1"));
    CHECK_THAT(find_schedule("gpipe")->refusal({4, 2, 8}), ContainsSubstring("interleaved-1f1b"));
    const PipelineSchedule& interleaved = *find_schedule("interleaved-1f1b");
    CHECK_THAT(interleaved.refusal({4, 1, 8}), ContainsSubstring("vpp >= 2"));
    CHECK_THAT(interleaved.refusal({1, 2, 8}), ContainsSubstring("pp >= 2"));
    CHECK_THAT(interleaved.refusal({4, 2, 6}), ContainsSubstring("multiple of 4"));
    CHECK(interleaved.refusal({4, 2, 8}).empty());
}

TEST_CASE("schedules are found by name and by no other")
{
    for (const std::string& name : schedule_names())
        CHECK(find_schedule(name)->name() == name);
    CHECK(find_schedule("dualpipe") == nullptr);
}

// Every schedule, any shape it allows, any times: it ends, in an order that respects what passes
// need of each other.

#include "tests/catch.h"
#include "tests/support/pick.h"
#include "tests/unit/strategy/pipelines.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

struct Span {
    SimTime start;
    SimTime end;
};

// By phase, micro-batch and virtual stage (the layer's number): its ops in order.
using Spans = std::map<std::tuple<Phase, int, int>, std::vector<Span>>;

Spans spans_of(const PipelineRun& ran)
{
    Spans spans;
    for (const OpRecord& record : ran.result.records) {
        const Phase phase = ran.program.labels[record.label.value].phase;
        if (record.kind == OpKind::compute && record.layer != BlockUse::no_index)
            spans[{phase, record.micro_batch, record.layer}].push_back({record.start, record.end});
    }
    for (auto& [key, list] : spans)
        std::ranges::sort(list, {}, &Span::start);
    return spans;
}

// Forward after the stage before, backward after the stage behind and its own forward pass.
void check_order(const Spans& spans, int micro_batches, int stages)
{
    for (int m = 0; m < micro_batches; ++m)
        for (int k = 0; k < stages; ++k) {
            CAPTURE(m, k);
            const std::vector<Span>& forward = spans.at({Phase::forward, m, k});
            const std::vector<Span>& backward = spans.at({Phase::backward, m, k});
            REQUIRE(forward.size() == 1);
            REQUIRE(backward.size() <= 2);
            if (k > 0)
                REQUIRE(forward[0].start >= spans.at({Phase::forward, m, k - 1})[0].end);
            if (k + 1 < stages)
                REQUIRE(backward[0].start >= spans.at({Phase::backward, m, k + 1})[0].end);
            REQUIRE(backward[0].start >= forward[0].end);
            if (backward.size() == 2)
                REQUIRE(backward[1].start >= backward[0].end);
        }
}

PassTimes random_times(Random& random)
{
    const auto time = [&](int least, int most) {
        return Seconds(1e-4 * static_cast<double>(random.integer(least, most)));
    };
    return {time(1, 30), time(1, 30), time(1, 30), time(0, 10)};
}

PipelineShape random_shape(Random& random)
{
    PipelineShape shape;
    shape.stages = static_cast<int>(random.integer(1, 9));
    shape.chunks = static_cast<int>(random.integer(1, 4));
    shape.micro_batches = static_cast<int>(random.integer(1, 4 * shape.stages));
    if (random.integer(0, 2) == 0)
        shape.group = static_cast<int>(random.integer(1, shape.micro_batches));
    return shape;
}

// The shape, else the next one that the schedule runs. Groups of micro-batches are interleaving's.
PipelineShape allowed(PipelineShape shape, const PipelineSchedule& schedule, Random& random)
{
    for (int attempt = 0; attempt < 500; ++attempt) {
        if (schedule.name() != "interleaved-1f1b")
            shape.group = 0;
        if (schedule.refusal(shape).empty())
            return shape;
        shape = random_shape(random);
    }
    FAIL("no shape works");
    return shape;
}

} // namespace

TEST_CASE("every schedule ends in an order that passes allow, whatever they take")
{
    Random random(20240708);
    for (const PipelineSchedule* schedule : schedules())
        for (int round = 0; round < 30; ++round) {
            const PipelineShape shape = allowed(random_shape(random), *schedule, random);
            const Pipeline pipeline{std::string(schedule->name()), shape,
                                    random.integer(0, 1) == 1};
            const PassTimes times = random_times(random);
            CAPTURE(pipeline.schedule, shape.stages, shape.chunks, shape.micro_batches, shape.group,
                    pipeline.overlap);
            const PipelineRun ran = run(pipeline, times, 2);
            check_order(spans_of(ran), shape.micro_batches, shape.stages * shape.chunks);
            const Seconds work = (times.forward + times.input + times.weights) *
                                 static_cast<double>(shape.micro_batches * shape.chunks);
            CHECK(to_seconds(ran.result.step_time).value() >= work.value() * (1 - 1e-9));
        }
}

TEST_CASE("faster messages, and messages beside compute, never make a schedule slower")
{
    // The order of every stream is fixed, so a step is a longest path: it falls with each time on
    // it, and with each wait that is asked for earlier.
    Random random(77);
    for (const PipelineSchedule* schedule : schedules())
        for (int round = 0; round < 10; ++round) {
            const PipelineShape shape = allowed(random_shape(random), *schedule, random);
            PassTimes times = random_times(random);
            const auto step = [&](bool overlap) {
                return run({std::string(schedule->name()), shape, overlap}, times, 2)
                    .result.step_time;
            };
            CAPTURE(schedule->name(), shape.stages, shape.chunks, shape.micro_batches, shape.group);
            const SimTime exposed = step(false);
            const SimTime overlapped = step(true);
            CHECK(overlapped <= exposed);
            times.message = times.message * 0.5;
            CHECK(step(false) <= exposed);
            CHECK(step(true) <= overlapped);
        }
}

// Only few of its repetitions are run.
TEST_CASE("a long pipeline takes what the reference engine says")
{
    Random random(1907);
    for (const PipelineSchedule* schedule : schedules())
        for (int round = 0; round < 12; ++round) {
            PipelineShape shape = allowed(random_shape(random), *schedule, random);
            shape.micro_batches *= static_cast<int>(random.integer(4, 12));
            if (!schedule->refusal(shape).empty())
                continue;
            const Pipeline pipeline{std::string(schedule->name()), shape,
                                    random.integer(0, 1) == 1};
            CAPTURE(pipeline.schedule, shape.stages, shape.chunks, shape.micro_batches, shape.group,
                    pipeline.overlap);
            const BoundPipeline job = bound(pipeline, random_times(random));
            RunControl control;
            control.steps = static_cast<int>(random.integer(1, 3));
            auto fastest = run(job.program, job.binding, control);
            const auto reference = run_reference(job.program, job.binding, control);
            REQUIRE(fastest.has_value());
            fastest->result.events = reference->events;
            const bool equal = fastest->result == *reference;
            CHECK(equal);
        }
}

TEST_CASE("a refused shape names what would work")
{
    Random random(11);
    for (const PipelineSchedule* schedule : schedules())
        for (int round = 0; round < 100; ++round)
            if (const std::string why = schedule->refusal(random_shape(random)); !why.empty())
                CHECK_THAT(why, ContainsSubstring("; use "));
}

// Bubbles and memory of pipeline schedules as their papers state them, through the engine with free
// messages. F forward, B gradients of inputs, W gradients of weights; a whole backward is B + W.

#include "tests/catch.h"
#include "tests/unit/strategy/pipelines.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

constexpr PassTimes equal{1.0_ms, 1.0_ms, 1.0_ms};
constexpr PassTimes unequal{1.0_ms, 1.2_ms, 0.7_ms}; // W < F < B, as in transformers

double milliseconds(Seconds time)
{
    return time.value() * 1e3;
}

struct Law {
    const char* schedule;
    std::vector<PipelineShape> shapes;
    // Milliseconds, of stages p and virtual stages v.
    double (*bubble)(const PipelineShape& shape, double f, double b, double w);
};

double whole_idle(const PipelineShape& s, double f, double b, double w)
{
    return (s.stages - 1) * (f + b + w); // chunk passes are 1/v as long
}

const std::vector<PipelineShape> one_chunk = {{1, 1, 3}, {2, 1, 2}, {2, 1, 7}, {3, 1, 3},
                                              {4, 1, 8}, {5, 1, 5}, {7, 1, 9}, {8, 1, 16}};

const std::vector<Law> laws = {
    // Huang 2019; Narayanan 2021, sections 2.2.1 and 2.2.2; Lamy-Poirier 2023, table 3.1.
    {"gpipe", one_chunk, whole_idle},
    {"1f1b", one_chunk, whole_idle},
    {"interleaved-1f1b", {{2, 2, 4}, {4, 2, 4}, {4, 3, 8}, {3, 4, 9}, {5, 3, 10}}, whole_idle},
    {"interleaved-1f1b", {{4, 2, 10, 5}, {4, 2, 9, 5}, {3, 3, 8, 5}, {2, 3, 5, 3}}, whole_idle},
    {"interleaved-1f1b", {{2, 2, 4, 0, true}, {4, 2, 8, 0, true}, {3, 3, 8, 5, true}}, whole_idle},
    {"breadth-first", {{2, 1, 2}, {2, 2, 4}, {4, 2, 4}, {4, 3, 9}, {3, 4, 3}}, whole_idle},
    // Qi 2023, table 1: with m >= p, and for ZB-H2 m >= 2p - 1.
    {"zb-h1",
     {{2, 1, 2}, {3, 1, 3}, {4, 1, 8}, {5, 1, 11}, {8, 1, 16}},
     [](const PipelineShape& s, double f, double b, double w) {
         return (s.stages - 1) * (f + b - w);
     }},
    {"zb-h2",
     {{2, 1, 3}, {3, 1, 5}, {4, 1, 8}, {5, 1, 11}, {8, 1, 16}},
     [](const PipelineShape& s, double f, double b, double w) {
         return (s.stages - 1) * (f + b - 2 * w);
     }},
    // DeepSeek-V3, table 2: (p/2 - 1)(F&B + B - 3W) with their B = ours + W and F&B = F + B here.
    {"dualpipe",
     {{2, 1, 4}, {4, 1, 8}, {4, 1, 12}, {6, 1, 20}, {8, 1, 16}},
     [](const PipelineShape& s, double f, double b, double w) {
         return (s.stages / 2 - 1) * (f + 2 * (b + w) - 3 * w);
     }},
    // DeepSeek's table for DualPipeV: as DualPipe over the 2p stages that p devices hold.
    {"dualpipev",
     {{1, 2, 2}, {2, 2, 4}, {3, 2, 6}, {4, 2, 11}, {5, 2, 10}, {8, 2, 16}},
     [](const PipelineShape& s, double f, double b, double w) {
         return (s.stages - 1) * (f + 2 * (b + w) - 3 * w);
     }},
};

} // namespace

TEST_CASE("a schedule idles as long as its paper says")
{
    for (const Law& law : laws)
        for (const PipelineShape& shape : law.shapes)
            for (const bool overlap : {false, true}) {
                CAPTURE(law.schedule, shape.stages, shape.chunks, shape.micro_batches, shape.group,
                        overlap);
                CHECK_THAT(milliseconds(bubble({law.schedule, shape, overlap}, equal)),
                           WithinAbs(law.bubble(shape, 1, 1, 1), 1e-6));
            }
}

TEST_CASE("bubbles follow the times of the passes")
{
    for (const Law& law : laws)
        for (const PipelineShape& shape : law.shapes) {
            if (std::string_view(law.schedule).starts_with("dualpipe"))
                continue; // the formula takes F = B
            CAPTURE(law.schedule, shape.stages, shape.chunks, shape.micro_batches);
            CHECK_THAT(milliseconds(bubble({law.schedule, shape, true}, unequal)),
                       WithinAbs(law.bubble(shape, 1.0, 1.2, 0.7), 1e-6));
        }
}

TEST_CASE("DualPipe's bubble shrinks with the gradients of weights")
{
    // F = B = 1, W = 0.8: (p/2 - 1)(F + 2 (B + W) - 3 W) = (p/2 - 1)(3 - W).
    const PassTimes times{1.0_ms, 1.0_ms, 0.8_ms};
    for (const PipelineShape& shape : {PipelineShape{4, 1, 8}, {6, 1, 12}, {8, 1, 20}})
        CHECK_THAT(milliseconds(bubble({"dualpipe", shape}, times)),
                   WithinAbs((shape.stages / 2 - 1) * 2.2, 1e-6));
}

TEST_CASE("ZB-V has no bubble when forward, input and weight gradients take as long")
{
    // Qi 2023, section 6; with as many micro-batches as fill the pipeline, 2p - 1.
    for (const PipelineShape& shape :
         {PipelineShape{2, 2, 3}, {3, 2, 5}, {4, 2, 8}, {5, 2, 9}, {6, 2, 24}})
        CHECK_THAT(milliseconds(bubble({"zb-v", shape}, equal)), WithinAbs(0, 1e-6));
}

TEST_CASE("stages that must agree on the norm lose what handing it on saves")
{
    // ZB-H2's stages begin and end F after each other: waiting for all costs (p - 1) F a step.
    const PipelineShape shape{4, 1, 8};
    Pipeline pipeline{"zb-h2", shape};
    pipeline.norm_in_turn = false;
    CHECK_THAT(milliseconds(bubble(pipeline, equal)), WithinAbs(3, 1e-6));
}

TEST_CASE("GPipe and breadth-first hold every micro-batch, 1F1B as many as stages are left")
{
    for (const PipelineShape& shape : one_chunk)
        for (int stage = 0; stage < shape.stages; ++stage) {
            CAPTURE(shape.stages, shape.micro_batches, stage);
            const auto s = static_cast<std::size_t>(stage);
            CHECK(most_in_flight(passes_of({"gpipe", shape})[s]) == shape.micro_batches);
            CHECK(most_in_flight(passes_of({"1f1b", shape})[s]) ==
                  std::min(shape.micro_batches, shape.stages - stage));
        }
    for (const auto& passes : passes_of({"breadth-first", {4, 3, 7}}))
        CHECK(most_in_flight(passes) == 3 * 7);
}

TEST_CASE("interleaved 1F1B holds 2 (p - i - 1) + (v - 1) n + 1 chunks, at most m v")
{
    // n = p: p v + p - 2 i - 1.
    for (const PipelineShape& shape : {PipelineShape{2, 2, 2},
                                       {2, 3, 8},
                                       {3, 4, 9},
                                       {5, 3, 10},
                                       {4, 5, 32},
                                       {4, 2, 10, 5},
                                       {3, 3, 8, 5}})
        for (int stage = 0; stage < shape.stages; ++stage) {
            CAPTURE(shape.stages, shape.chunks, shape.micro_batches, shape.group, stage);
            const int n = shape.group > 0 ? shape.group : shape.stages;
            const int held = 2 * (shape.stages - stage - 1) + (shape.chunks - 1) * n + 1;
            CHECK(most_in_flight(
                      passes_of({"interleaved-1f1b", shape})[static_cast<std::size_t>(stage)]) ==
                  std::min(held, shape.micro_batches * shape.chunks));
        }
}

TEST_CASE("split schedules hold as much on every stage: p, 2p - 1, and 2p halves of a stage")
{
    // Qi 2023, table 1 and section 6; 1F1B's first stage holds p.
    for (const int p : {2, 3, 4, 7, 8})
        for (const int m : {1, 2, p, 2 * p, 4 * p}) {
            CAPTURE(p, m);
            for (const auto& passes : passes_of({"zb-h1", {p, 1, m}}))
                CHECK(most_in_flight(passes) <= std::min(m, p));
            for (const auto& passes : passes_of({"zb-h2", {p, 1, m}}))
                CHECK(most_in_flight(passes) <= std::min(m, 2 * p - 1));
            for (const auto& passes : passes_of({"zb-v", {p, 2, m}}))
                CHECK(most_in_flight(passes) <= std::min(2 * m, 2 * p));
        }
    for (const auto& passes : passes_of({"zb-h1", {4, 1, 8}}))
        CHECK(most_in_flight(passes) == 4);
    for (const auto& passes : passes_of({"zb-h2", {4, 1, 8}}))
        CHECK(most_in_flight(passes) == 7);
    for (const auto& passes : passes_of({"zb-v", {4, 2, 8}}))
        CHECK(most_in_flight(passes) == 8);
}

TEST_CASE("DualPipe holds p + 1 stages' activations")
{
    // DeepSeek-V3, table 2.
    for (const int p : {2, 4, 6, 8})
        for (const int m : {2 * p, 4 * p}) {
            CAPTURE(p, m);
            int most = 0;
            for (const auto& passes : passes_of({"dualpipe", {p, 1, m}}))
                most = std::max(most, most_in_flight(passes));
            CHECK(most == p + 1);
        }
}

TEST_CASE("DualPipeV's bubble shrinks with the gradients of weights, and it holds 2p + 1 chunks")
{
    // F = B = 1, W = 0.8: (p - 1)(F + 2 (B + W) - 3 W) = (p - 1)(3 - W). DualPipe's p + 1 stages in
    // flight are those of twice as many devices.
    const PassTimes times{1.0_ms, 1.0_ms, 0.8_ms};
    for (const PipelineShape& shape : {PipelineShape{2, 2, 5}, {3, 2, 6}, {4, 2, 13}}) {
        CHECK_THAT(milliseconds(bubble({"dualpipev", shape}, times)),
                   WithinAbs((shape.stages - 1) * 2.2, 1e-6));
        int most = 0;
        for (const auto& passes : passes_of({"dualpipev", shape}))
            most = std::max(most, most_in_flight(passes));
        CHECK(most == 2 * shape.stages + 1);
    }
}

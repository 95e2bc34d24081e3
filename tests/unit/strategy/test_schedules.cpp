// What every pipeline schedule keeps to, checked on the passes themselves.

#include "tests/catch.h"
#include "tests/unit/strategy/pipelines.h"

#include <map>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

// Each schedule with shapes it runs.
std::vector<Pipeline> all_cases()
{
    std::vector<Pipeline> cases;
    for (const PipelineSchedule* schedule : schedules())
        for (const int p : {1, 2, 3, 4, 5, 8})
            for (const int v : {1, 2, 3})
                for (const int m : {1, 2, p, 2 * p, 3 * p, 4 * p + 1})
                    if (const PipelineShape shape{p, v, m}; schedule->refusal(shape).empty())
                        cases.push_back({std::string(schedule->name()), shape});
    return cases;
}

// Whole and split passes alike: what must not come twice.
enum class Part { forward, input, weights };

std::vector<Part> parts_of(PassKind kind)
{
    switch (kind) {
    case PassKind::forward:
        return {Part::forward};
    case PassKind::backward:
        return {Part::input, Part::weights};
    case PassKind::backward_input:
        return {Part::input};
    case PassKind::backward_weight:
        return {Part::weights};
    }
    return {};
}

} // namespace

TEST_CASE("every schedule runs some shapes of each number of stages")
{
    std::map<std::string, int> count;
    for (const Pipeline& pipeline : all_cases())
        ++count[pipeline.schedule];
    for (const std::string& name : schedule_names()) {
        CAPTURE(name);
        CHECK(count[name] >= 6);
    }
}

TEST_CASE("every micro-batch goes forward, back and into the weights once through every chunk")
{
    for (const Pipeline& pipeline : all_cases()) {
        const StagePlacement placement =
            find_schedule(pipeline.schedule)->placement(pipeline.shape);
        const int pipes = static_cast<int>(placement.pipes.size());
        const auto all = passes_of(pipeline);
        for (std::size_t stage = 0; stage < all.size(); ++stage) {
            CAPTURE(pipeline.schedule, pipeline.shape.stages, pipeline.shape.chunks,
                    pipeline.shape.micro_batches, stage);
            const auto chunks = chunks_of(placement, static_cast<int>(stage));
            std::map<std::pair<int, int>, std::vector<Part>> passed;
            for (const Pass& pass : all[stage]) {
                REQUIRE(pass.micro_batch >= 0);
                REQUIRE(pass.micro_batch < pipeline.shape.micro_batches);
                REQUIRE(pass.chunk >= 0);
                REQUIRE(pass.chunk < static_cast<int>(chunks.size()));
                for (const Part part : parts_of(pass.kind))
                    passed[{pass.micro_batch, pass.chunk}].push_back(part);
            }
            // With two pipes a micro-batch takes one of them.
            REQUIRE(passed.size() * static_cast<std::size_t>(pipes) ==
                    static_cast<std::size_t>(pipeline.shape.micro_batches) * chunks.size());
            for (const auto& [pair, parts] : passed)
                REQUIRE(parts == std::vector{Part::forward, Part::input, Part::weights});
        }
    }
}

TEST_CASE("a forward pass takes turns only with the backward pass of another micro-batch or chunk")
{
    for (const Pipeline& pipeline : all_cases())
        for (const auto& passes : passes_of(pipeline))
            for (std::size_t i = 0; i < passes.size(); ++i) {
                if (!passes[i].with_next)
                    continue;
                CAPTURE(pipeline.schedule, pipeline.shape.stages, i);
                REQUIRE(i + 1 < passes.size());
                REQUIRE(passes[i].kind == PassKind::forward);
                REQUIRE(passes[i + 1].kind == PassKind::backward);
                const auto place = [](const Pass& pass) {
                    return std::pair(pass.micro_batch, pass.chunk);
                };
                REQUIRE(place(passes[i]) != place(passes[i + 1]));
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

TEST_CASE("groups of more micro-batches than stages stay longer on a chunk")
{
    // Megatron-Core's get_schedule_table: p = 2, v = 2, m = 7 in groups of 3: 3, then the 4 that
    // are left come as 3 and 1 if 1 were enough for 2 stages; 5 leave 2.
    CHECK_FALSE(find_schedule("interleaved-1f1b")->refusal({2, 2, 7, 3}).empty());
    const auto passes = passes_of({"interleaved-1f1b", {2, 2, 7, 5}}).front();
    std::vector<std::pair<int, int>> forward;
    for (const Pass& pass : passes)
        if (pass.kind == PassKind::forward)
            forward.emplace_back(pass.micro_batch, pass.chunk);
    using Pairs = std::vector<std::pair<int, int>>;
    CHECK(forward == Pairs{{0, 0},
                           {1, 0},
                           {2, 0},
                           {3, 0},
                           {4, 0},
                           {0, 1},
                           {1, 1},
                           {2, 1},
                           {3, 1},
                           {4, 1},
                           {5, 0},
                           {6, 0},
                           {5, 1},
                           {6, 1}});
}

TEST_CASE("DualPipe's first device runs the published steps")
{
    // Figure 5 of DeepSeek-V3: 8 devices, 20 micro-batches, 10 from each end. Device 0 begins with
    // 7 forward passes of its own direction, the first of which come back as the other's.
    const auto passes = passes_of({"dualpipe", {8, 1, 20}}).front();
    for (int i = 0; i < 7; ++i)
        CHECK(passes[static_cast<std::size_t>(i)] == Pass{PassKind::forward, i, 0});
    CHECK(passes[7] == Pass{PassKind::forward, 10, 1});
    CHECK(passes[8] == Pass{PassKind::backward_input, 10, 1});
    CHECK(passes[9] == Pass{PassKind::backward_weight, 10, 1});
    CHECK(passes[10] == Pass{PassKind::forward, 11, 1});
}

TEST_CASE("a schedule refuses shapes it cannot run and says what would work")
{
    CHECK_THAT(find_schedule("1f1b")->refusal({4, 2, 8}), ContainsSubstring("vpp = 1"));
    CHECK_THAT(find_schedule("gpipe")->refusal({4, 2, 8}), ContainsSubstring("interleaved-1f1b"));
    const PipelineSchedule& interleaved = *find_schedule("interleaved-1f1b");
    CHECK_THAT(interleaved.refusal({4, 1, 8}), ContainsSubstring("vpp >= 2"));
    CHECK_THAT(interleaved.refusal({1, 2, 8}), ContainsSubstring("pp >= 2"));
    CHECK_THAT(interleaved.refusal({4, 2, 6}), ContainsSubstring("multiple of 4"));
    CHECK_THAT(interleaved.refusal({4, 2, 6}), ContainsSubstring("micro_batch_group = 6"));
    CHECK_THAT(interleaved.refusal({4, 2, 3}), !ContainsSubstring("micro_batch_group"));
    CHECK_THAT(interleaved.refusal({4, 2, 10, 7}), ContainsSubstring("micro_batch_group = 5"));
    CHECK(interleaved.refusal({4, 2, 8}).empty());
    CHECK_THAT(find_schedule("breadth-first")->refusal({1, 2, 4}), ContainsSubstring("pp >= 2"));
    CHECK_THAT(find_schedule("zb-h1")->refusal({4, 2, 8}), ContainsSubstring("zb-v"));
    CHECK_THAT(find_schedule("zb-h2")->refusal({1, 1, 8}), ContainsSubstring("pp >= 2"));
    CHECK_THAT(find_schedule("zb-v")->refusal({4, 1, 8}), ContainsSubstring("vpp = 2"));
    CHECK_THAT(find_schedule("dualpipe")->refusal({5, 1, 10}), ContainsSubstring("pp = 6"));
    CHECK_THAT(find_schedule("dualpipe")->refusal({4, 1, 6}), ContainsSubstring("with 8"));
    CHECK_THAT(find_schedule("dualpipe")->refusal({4, 1, 9}), ContainsSubstring("with 10"));
    CHECK_THAT(find_schedule("dualpipe")->refusal({4, 2, 8}), ContainsSubstring("vpp = 1"));
    CHECK_THAT(find_schedule("dualpipev")->refusal({4, 1, 8}), ContainsSubstring("vpp = 2"));
    CHECK_THAT(find_schedule("dualpipev")->refusal({4, 2, 7}), ContainsSubstring("with 8"));
}

TEST_CASE("schedules are found by name and by no other")
{
    for (const std::string& name : schedule_names())
        CHECK(find_schedule(name)->name() == name);
    CHECK(find_schedule("2f2b") == nullptr);
}

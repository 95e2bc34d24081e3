// The longest sequences of a cluster.

#include "sim/study/capacity/longest_context.h"
#include "sim/study/inputs.h"
#include "tests/unit/study/swept.h"

#include <algorithm>

using namespace trainyard;

namespace {

// Few layouts, so that a length takes some hundredths of a second.
ContextRequest small_request()
{
    ContextRequest request{
        shipped("llama3-8b-h100-8.json", {{"training.global_batch", "512"}}), {}, {}, {}};
    for (const char* axis : {"strategy.schedule=1f1b", "strategy.pp=1,2", "strategy.vpp=1",
                             "strategy.zero=1,3", "strategy.tp=1,2,8", "strategy.cp=1,4,8",
                             "training.micro_batch=1", "training.recompute=none,full"})
        request.axes.push_back(parse_axis(axis).value());
    request.search.top = 1;
    request.search.threads = 1;
    return request;
}

LongestContext found_for(const ContextRequest& request)
{
    Session session;
    Checked<LongestContext> found = longest_context(request, session);
    if (!found)
        FAIL(render(found.error(), ""));
    return std::move(*found);
}

// Whether any of the layouts runs with sequences of so many tokens, each simulated.
bool any_runs(const ContextRequest& request, std::int64_t tokens, std::int64_t batch)
{
    Session session;
    for (const int tp : {1, 2, 8})
        for (const int cp : {1, 4, 8})
            for (const int pp : {1, 2})
                for (const int zero : {1, 3})
                    for (const char* recompute : {"none", "full"}) {
                        const Checked<ScenarioFile> file = scenario_from(
                            request.file.json, request.file.file,
                            std::vector<Override>{
                                {"strategy.tp", std::to_string(tp)},
                                {"strategy.cp", std::to_string(cp)},
                                {"strategy.pp", std::to_string(pp)},
                                {"strategy.dp", "null"},
                                {"strategy.zero", std::to_string(zero)},
                                {"training.recompute", recompute},
                                {"training.micro_batch", "1"},
                                {"training.global_batch", std::to_string(batch)},
                                {"training.sequence_length", std::to_string(tokens)}});
                        if (!file || has_errors(session.check_job(*file)))
                            continue;
                        const Checked<MemoryEstimate> memory =
                            session.memory(*file, {.view = AllocatorView::every_stage});
                        if (memory && memory->peak() <= scaled(memory->capacity, 0.95))
                            return true;
                    }
    return false;
}

} // namespace

TEST_CASE("the longest sequences run, and no layout has room for the next longer ones")
{
    const ContextRequest request = small_request();
    const LongestContext found = found_for(request);
    REQUIRE(found.answer);
    REQUIRE(found.first_beyond() != nullptr);
    const std::int64_t longest = found.longest();
    const std::int64_t next = found.first_beyond()->tokens;
    CHECK(found.step == 1024);
    CHECK(next - longest <= found.step);
    const RankedLayout& best = found.answer->result.best.front();
    CHECK(any_runs(request, longest, best.choice.global_batch));
    for (const std::int64_t batch : {1, 2, 4, 8, 16})
        CHECK_FALSE(any_runs(request, next, batch));
}

TEST_CASE("a step keeps the scenario's tokens as sequences grow")
{
    const ContextRequest request = small_request();
    const Training& own = request.file.scenario.training;
    const auto tokens = static_cast<double>(own.global_batch * own.sequence_length);
    const LongestContext found = found_for(request);
    REQUIRE(found.answer);
    const double step = static_cast<double>(found.longest()) *
                        static_cast<double>(found.answer->result.best.front().choice.global_batch);
    CHECK(step <= 2.5 * tokens); // the nearest number of sequences, at most twice
    CHECK(step >= 0.4 * tokens);
}

TEST_CASE("a deadline shortens the sequences")
{
    ContextRequest request = small_request();
    const std::int64_t without = found_for(request).longest();
    request.training.tokens = 50e9;
    request.training.deadline = Seconds(20 * 86'400.0);
    const LongestContext found = found_for(request);
    REQUIRE(found.answer);
    CHECK(found.longest() < without);
    REQUIRE(found.first_beyond() != nullptr);
    CHECK(found.first_beyond()->fits); // and takes too long
    CHECK_FALSE(found.first_beyond()->meets);
}

TEST_CASE("a model of images has no longest sequence")
{
    ContextRequest request = small_request();
    request.file = shipped("resnet50-ddp-8.json");
    request.axes.clear();
    Session session;
    CHECK_FALSE(longest_context(request, session));
}

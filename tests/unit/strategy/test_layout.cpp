// Explicit layouts of pipelines.

#include "sim/strategy/pipeline/layout.h"
#include "sim/strategy/stages.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

#include <numeric>

using namespace trainyard;
using namespace trainyard::testing;

namespace {

JobRequest request_for(const std::string& layout, int pp, int vpp = 1)
{
    JobRequest request;
    request.model = small_decoder(); // 8 layers
    request.training = training_of(8);
    request.strategy.pp = pp;
    request.strategy.vpp = vpp;
    request.strategy.dp = 1;
    request.strategy.pipeline.layout = layout;
    request.devices = pp;
    return request;
}

std::string why_not(const JobRequest& request)
{
    const Checked<Job> job = resolve(request);
    return job ? std::string() : render(job.error(), "");
}

std::string flaw_of(const char* text)
{
    const auto stages = parse_layout(text);
    REQUIRE_FALSE(stages);
    return stages.error();
}

std::vector<std::size_t> stage_sizes(const Job& job)
{
    std::vector<std::size_t> sizes;
    for (const auto& stage : cut_into_stages(job))
        sizes.push_back(stage.size());
    return sizes;
}

} // namespace

TEST_CASE("a layout says what each stage holds, repetitions written short")
{
    const auto stages = parse_layout("Et*2 | (tt|)*2, mL");
    REQUIRE(stages);
    CHECK(*stages == std::vector<StageLetters>{{true, 2, 0, false},
                                               {false, 2, 0, false},
                                               {false, 2, 0, false},
                                               {false, 0, 1, true}});
    // Groups in groups: 2 x (3 stages of one layer and one of two).
    const auto nested = parse_layout("E|((t|)*3tt|)*2L");
    REQUIRE(nested);
    CHECK(nested->size() == 10);
    CHECK(std::accumulate(nested->begin(), nested->end(), 0,
                          [](int sum, const StageLetters& s) { return sum + s.layers; }) == 10);
}

TEST_CASE("what is no layout is refused with the reason")
{
    CHECK_THAT(flaw_of("Etx|tL"), ContainsSubstring("\"x\" is none of"));
    CHECK_THAT(flaw_of("E(t|tL"), ContainsSubstring("never closed"));
    CHECK_THAT(flaw_of("Et)|tL"), ContainsSubstring("closes nothing"));
    CHECK_THAT(flaw_of("Et*|tL"), ContainsSubstring("no number"));
    CHECK_THAT(flaw_of("t|tL"), ContainsSubstring("begin with the one embedding"));
    CHECK_THAT(flaw_of("Et|LtL"), ContainsSubstring("end with the one loss"));
    CHECK_THAT(flaw_of("Et||tL"), ContainsSubstring("stage 1 holds nothing"));
    CHECK_THAT(flaw_of("Et|mt|L"), ContainsSubstring("after a prediction layer"));
    CHECK_THAT(flaw_of("Et|m|L"), ContainsSubstring("apart from the loss"));
    CHECK_THAT(flaw_of(""), ContainsSubstring("empty"));
    CHECK_THAT(flaw_of("E(((t*999999)*999999)*999999)*999999|L"), ContainsSubstring("without end"));
}

TEST_CASE("layers lie where the layout puts them, embedding and head with them")
{
    const Checked<Job> job = resolve(request_for("Et|ttt|tttt|L", 4));
    REQUIRE(job);
    CHECK(stage_sizes(*job) == std::vector<std::size_t>{2, 3, 4, 1});
    const Checked<Job> chunks = resolve(request_for("E|ttt|ttt|ttL", 2, 2));
    REQUIRE(chunks);
    CHECK(stage_sizes(*chunks) == std::vector<std::size_t>{1, 3, 3, 3});
}

TEST_CASE("a layout that does not fit the job is refused with what would")
{
    CHECK_THAT(why_not(request_for("Ettt|tttttL", 4)),
               ContainsSubstring("2 stages for 4") && ContainsSubstring("3 bars"));
    CHECK_THAT(why_not(request_for("Ettt|ttttL", 2)),
               ContainsSubstring("7 layers") && ContainsSubstring("give 8 t"));
    CHECK_THAT(why_not(request_for("Ettt|", 2)), ContainsSubstring("(tt|)*4 repeats"));
    JobRequest twice = request_for("Ettt|tttttL", 2);
    twice.strategy.stage_layers = {3, 5};
    CHECK_THAT(why_not(twice), ContainsSubstring("more than once"));
}

TEST_CASE("embedding and loss may count as a layer each")
{
    // Megatron-Core's account_for_embedding_in_pipeline_split: 8 layers and 2 ends over 5 stages.
    JobRequest request = request_for("", 5);
    request.strategy.pipeline.account_for_embedding = true;
    request.strategy.pipeline.account_for_loss = true;
    const Checked<Job> job = resolve(request);
    REQUIRE(job);
    CHECK(job->strategy.stage_layers == std::vector<int>{1, 2, 2, 2, 1});
    CHECK(stage_sizes(*job) == std::vector<std::size_t>(5, 2));
    request.strategy.pp = request.devices = 4;
    CHECK_THAT(why_not(request), ContainsSubstring("work here: 1, 2, 5, 10"));
}

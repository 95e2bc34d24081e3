#include "sim/base/build_info.h"
#include "sim/report/summary.h"
#include "sim/report/text/advice_text.h"
#include "sim/report/text/paste.h"
#include "sim/study/session.h"
#include "tests/catch.h"

using namespace trainyard;

namespace {

struct Advised {
    ScenarioFile file;
    Session session;
    Outcome outcome;

    explicit Advised(const std::string& scenario, const std::vector<Override>& changes = {})
    {
        Checked<ScenarioFile> read =
            read_scenario_file((data_dir() / "scenarios" / scenario).string(), changes);
        REQUIRE(read);
        file = std::move(*read);
        Checked<Outcome> simulated = session.simulate(file);
        if (!simulated)
            FAIL(render(simulated.error(), ""));
        outcome = std::move(*simulated);
    }
};

bool proposes(const std::vector<Candidate>& candidates, const std::string& field)
{
    return std::ranges::any_of(candidates, [&](const Candidate& candidate) {
        return std::ranges::any_of(candidate.set,
                                   [&](const Override& change) { return change.field == field; });
    });
}

} // namespace

TEST_CASE("what pasted advice gives is what it says")
{
    Advised job("llama3-70b-h100-64.json");
    const AdviceReport report = advise(job.outcome, job.file, job.session);
    REQUIRE_FALSE(report.best.empty());
    for (const Advice& advice : report.best) {
        const Advised changed("llama3-70b-h100-64.json", advice.set);
        CHECK(to_seconds(changed.outcome.result->step_time) == advice.step_time);
        CHECK(changed.outcome.memory.fits());
        CHECK(changed.outcome.job.world() == job.outcome.job.world());
        CHECK(changed.outcome.job.training.global_batch == job.outcome.job.training.global_batch);
        CHECK(advice.gain > 0);
    }
}

TEST_CASE("advice goes for what the breakdown says is lost")
{
    const Advised exposed("ddp-no-overlap.json");
    const std::vector<Candidate> candidates = candidates_for(exposed.outcome);
    REQUIRE_FALSE(candidates.empty());
    CHECK(candidates.front().set == std::vector<Override>{{"strategy.overlap.dp", "true"}});
    CHECK_FALSE(proposes(candidates, "strategy.vpp")); // there is no pipeline
    CHECK_FALSE(proposes(candidates, "data.workers")); // nothing is loaded
    const Advised loader("resnet50-naive-loader.json");
    CHECK(candidates_for(loader.outcome).front().set.front().field.starts_with("data."));
}

TEST_CASE("advice names the number of workers that makes most, and what gives up an offload")
{
    Advised loader("resnet50-naive-loader.json");
    const AdviceReport workers = advise(loader.outcome, loader.file, loader.session);
    REQUIRE_FALSE(workers.best.empty());
    REQUIRE(workers.best.front().set.front().field == "data.workers");
    const int named = std::stoi(workers.best.front().set.front().value);
    for (const int others : {named / 2, named * 2}) {
        const Advised changed("resnet50-naive-loader.json",
                              {{"data.workers", std::to_string(others)}});
        CHECK(to_seconds(changed.outcome.result->step_time) >= workers.best.front().step_time);
    }
    Advised offloaded("llama2-7b-offload-a100-4.json");
    const AdviceReport back = advise(offloaded.outcome, offloaded.file, offloaded.session);
    REQUIRE_FALSE(back.best.empty());
    CHECK(back.best.front().set == std::vector<Override>{{"strategy.offload.optimizer", "none"}});
}

TEST_CASE("layers that were laid over the stages by hand are laid over virtual ones")
{
    const std::string scenario = "llama3-405b-gb200-nvl72.json"; // 18 stages of 7 layers, by hand
    const Advised job(scenario);
    for (const Candidate& candidate : candidates_for(job.outcome))
        if (candidate.set.front() == Override{"strategy.vpp", "7"}) {
            const Advised changed(scenario, candidate.set);
            CHECK(changed.outcome.result->step_time < job.outcome.result->step_time);
            return;
        }
    FAIL("no virtual stages of one layer are proposed");
}

TEST_CASE("a change of the arithmetic says so")
{
    const Advised job("llama3-70b-h100-64.json");
    for (const Candidate& candidate : candidates_for(job.outcome))
        if (candidate.set.front().field == "training.precision")
            CHECK(candidate.note == "computes products in 8 bit");
}

TEST_CASE("a job that does not fit is told what does")
{
    Advised job("llama3-70b-h100-64.json", {{"strategy.tp", "2"}, {"strategy.dp", "4"}});
    REQUIRE_FALSE(job.outcome.memory.fits());
    const AdviceReport report = advise(job.outcome, job.file, job.session);
    REQUIRE_FALSE(report.best.empty());
    for (const Advice& advice : report.best) {
        std::vector<Override> changes{{"strategy.tp", "2"}, {"strategy.dp", "4"}};
        changes.insert(changes.end(), advice.set.begin(), advice.set.end());
        CHECK(Advised("llama3-70b-h100-64.json", changes).outcome.memory.fits());
    }
    const std::string text = advice_text(report, false, Paint(Colour::none));
    CHECK(text.starts_with("What would make it fit"));
}

TEST_CASE("as many settings are tried as were asked for, and the rest is counted")
{
    Advised job("llama2-7b-tp2-pp2-dp2.json");
    const AdviceReport none =
        advise(job.outcome, job.file, job.session, {.most = 0, .threads = 0, .work = {}});
    CHECK(none == AdviceReport{});
    const AdviceReport two =
        advise(job.outcome, job.file, job.session, {.most = 2, .threads = 0, .work = {}});
    CHECK(two.tried == 2);
    CHECK(two.left_out > 0);
}

TEST_CASE("the advice does not hang on how a job is run: folded or not, by which engine")
{
    Advised usual("llama2-7b-tp2-pp2-dp2.json");
    const AdviceReport report = advise(usual.outcome, usual.file, usual.session);
    CHECK(report.tried > 0);
    for (const Override& way : {Override{"run.fold", "false"}, Override{"run.engine", "event"}}) {
        INFO(way.field);
        Advised other("llama2-7b-tp2-pp2-dp2.json", {way});
        CHECK(advise(other.outcome, other.file, other.session) == report);
    }
}

TEST_CASE("what is said against recomputation is a setting that was tried, however few are")
{
    Advised job("llama2-7b-tp2-pp2-dp2.json", {{"strategy.tp", "1"}, {"strategy.dp", "4"}});
    const Summary plain = summarize(job.outcome);
    REQUIRE(plain.bottleneck.kind == BottleneckClass::memory);
    const AdviceOptions most_one{1, 1, {}, plain.bottleneck.kind};
    const Summary one = summarize(
        job.outcome, sensitivity_of(job.session, job.file, job.outcome, {false, most_one}).value());
    REQUIRE(one.advice.answer);
    CHECK(one.advice.tried == 1);
    CHECK(one.advice.answer->set.front().field.starts_with("training.recompute"));
    CHECK(one.bottleneck.advice.find(paste_text(one.advice.answer->set)) != std::string::npos);
    // Where nothing was tried nothing is promised.
    CHECK(plain.bottleneck.advice.find("where that fits") != std::string::npos);
}

TEST_CASE("advice is the same on one thread and on many")
{
    Advised job("llama2-7b-tp2-pp2-dp2.json");
    const AdviceReport one =
        advise(job.outcome, job.file, job.session, {.most = 6, .threads = 1, .work = {}});
    Session fresh;
    CHECK(advise(job.outcome, job.file, fresh, {.most = 6, .threads = 4, .work = {}}) == one);
}

// Rates from somebody's own steps: a machine whose rates are known is found again.

#include "sim/cost/profile_library.h"
#include "sim/study/inputs.h"
#include "sim/study/own_steps/own_profile.h"
#include "sim/study/own_steps/step_findings.h"
#include "tests/catch.h"
#include "tests/support/folder.h"
#include "tests/unit/study/measured_llama.h"

#include <cmath>
#include <limits>

using namespace trainyard;
using namespace trainyard::test;
using Catch::Matchers::Contains;
using Catch::Matchers::WithinAbs;

namespace {

std::size_t rate_named(const std::string& name)
{
    for (std::size_t k = 0; k < own_rates().size(); ++k)
        if (own_rates()[k].name == name)
            return k;
    FAIL("no rate " << name);
    return 0;
}

// A step of a small model on one node of eight H100.
MeasuredRecord small_llama(int tp, int micro_batch)
{
    MeasuredRecord record = llama_on_64_h100();
    record.id = "tp" + std::to_string(tp) + "-mb" + std::to_string(micro_batch);
    record.gpus = 8;
    record.model.layers = 2;
    record.global_batch = 16;
    record.micro_batch = micro_batch;
    record.parallel.tp = tp;
    record.parallel.pp = 1;
    record.parallel.vpp.reset();
    record.recompute = "none";
    return record;
}

MeasuredRecord across_nodes()
{
    MeasuredRecord record = small_llama(4, 1);
    record.id = "two-nodes";
    record.gpus = 16;
    return record;
}

RecordFile file_of_steps(std::vector<MeasuredRecord> records)
{
    RecordFile file;
    file.file = "mine.json";
    file.records = std::move(records);
    return file;
}

// The steps as a machine with other rates would have measured them.
MeasuredSteps measured_on(const std::vector<MeasuredRecord>& records,
                          const std::vector<std::pair<std::string, double>>& truth,
                          Session& session)
{
    const std::vector<RecordFile> files{file_of_steps(records)};
    MeasuredSteps steps = measured_steps(files, {}, session).value();
    std::vector<double> rates(own_rates().size(), 0.0);
    for (const auto& [name, change] : truth)
        rates[rate_named(name)] = change;
    RateTrials trials(session, steps.base);
    for (MeasuredStep& step : steps.steps)
        step.measured = Seconds(trials.time(step.question, rates).value());
    return steps;
}

RateFitOptions exact()
{
    RateFitOptions options;
    options.step_noise = 0.001;
    options.unexplained = 0.001;
    return options;
}

} // namespace

TEST_CASE("steps that feel two rates differently tell both of them")
{
    Session session;
    const MeasuredSteps steps = measured_on({small_llama(1, 1), small_llama(8, 1)},
                                            {{"gemm_16", -0.15}, {"inside", -0.3}}, session);
    RateTrials trials(session, steps.base);
    const RateFit fit = fit_rates(steps, trials, exact()).value();
    // Attention and memory have priors of their own and take a little of what GEMMs lost.
    CHECK_THAT(fit.changes[rate_named("gemm_16")], WithinAbs(-0.15, 0.05));
    CHECK_THAT(fit.changes[rate_named("inside")], WithinAbs(-0.3, 0.08));
    for (const double residual : fit.residuals)
        CHECK_THAT(residual, WithinAbs(0, 0.002));
    CHECK(fit.learnt(rate_named("gemm_16")) > 0.5);
    // One node feels no network, and bf16 no fp8.
    CHECK(fit.learnt(rate_named("across")) == 0);
    CHECK(fit.changes[rate_named("gemm_8")] == 0);
}

TEST_CASE("the written profile predicts the steps that it was fitted to, and names them")
{
    Session session;
    const MeasuredSteps steps = measured_on({small_llama(1, 1)}, {{"gemm_16", -0.2}}, session);
    RateTrials trials(session, steps.base);
    const RateFit fit = fit_rates(steps, trials, exact()).value();
    const Json profile = own_profile(steps, fit, "mine");
    RateTrials again(session, profile);
    const std::vector<double> none(own_rates().size(), 0.0);
    const double fitted = again.time(steps.steps[0].question, none).value();
    CHECK_THAT(fitted / steps.steps[0].measured.value(), WithinAbs(1, 0.005));
    CHECK(profile.find("own_steps")->find("ids")->items()[0] == Json("tp1-mb1"));
}

TEST_CASE("steps quicker than the device can be hold its rates at their limits, and no further")
{
    Session session;
    const std::vector<RecordFile> files{file_of_steps({small_llama(1, 1), small_llama(8, 1)})};
    const MeasuredSteps stated = measured_steps(files, {}, session).value();
    std::vector<double> before(stated.steps.size(), std::numeric_limits<double>::infinity());
    bool bound = false;
    for (const double scale : {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2}) {
        MeasuredSteps steps = stated;
        for (MeasuredStep& step : steps.steps)
            step.measured = step.predicted * scale;
        RateTrials trials(session, steps.base);
        const RateFit fit = fit_rates(steps, trials).value();
        RateTrials written(session, own_profile(steps, fit, "mine"));
        for (std::size_t i = 0; i < steps.steps.size(); ++i) {
            INFO(scale << " of " << steps.steps[i].id);
            const double fitted = steps.steps[i].measured.value() * std::exp(-fit.residuals[i]);
            const std::vector<double> none(own_rates().size(), 0.0);
            CHECK_THAT(written.time(steps.steps[i].question, none).value() / fitted,
                       WithinAbs(1, 1e-6));
            CHECK(fitted <= before[i] * 1.001);
            before[i] = fitted;
        }
        for (std::size_t k = 0; k < own_rates().size(); ++k) {
            CHECK(fit.changes[k] <= fit.limits.highest[k]);
            bound = bound || fit.at_limit(k);
        }
    }
    CHECK(bound);
}

TEST_CASE("a rate that may go no further leaves the rest to the others")
{
    // One step, half of it of each of two rates that are believed alike.
    const std::vector<StepResponse> steps{{.log_time = 0, .shares = {0.5, 0.5}}};
    const std::vector<double> measured{std::log(0.8)};
    const std::vector<double> prior{0.2, 0.2};
    const double far = std::numeric_limits<double>::infinity();
    const RateFit free = fit_rates(steps, measured, prior, {{-far, -far}, {far, far}}, exact());
    const RateFit held = fit_rates(steps, measured, prior, {{-far, -far}, {0.1, far}}, exact());
    CHECK_THAT(free.changes[0], WithinAbs(free.changes[1], 1e-6));
    CHECK(free.changes[0] > 0.15);
    CHECK(held.changes[0] == 0.1);
    CHECK(held.changes[1] > free.changes[1]);
    CHECK(held.at_limit(0));
    CHECK_FALSE(held.at_limit(1));
    CHECK_THAT(held.residuals[0], WithinAbs(0, 0.002));
}

TEST_CASE("a network fourteen times slower than stated is named as what one step needs")
{
    Session session;
    MeasuredSteps steps =
        measured_on({small_llama(1, 1), small_llama(4, 1), across_nodes()}, {}, session);
    RateTrials trials(session, steps.base);
    std::vector<double> rates(own_rates().size(), 0.0);
    rates[rate_named("across")] = -std::log(14.0);
    steps.steps[2].measured = Seconds(trials.time(steps.steps[2].question, rates).value());
    const RateFitOptions options;
    const RateFit fit = fit_rates(steps, trials, options).value();
    const StepAgreement agreement = step_agreement(steps, fit, trials, options).value();
    const std::vector<StepContradiction>& found = agreement.contradictions;
    for (const StepContradiction& one : found)
        UNSCOPED_INFO(one.step << ": " << one.error << ", " << own_rates()[one.rate].title << " "
                               << one.slower << " times slower");
    REQUIRE(found.size() == 1);
    CHECK(found[0].step == "two-nodes");
    REQUIRE(found[0].explained);
    CHECK(found[0].rate == rate_named("across"));
    CHECK_THAT(found[0].slower, WithinAbs(14, 1.0));
    CHECK_FALSE(found[0].alone);
    CHECK(agreement.agreeing == std::vector<std::size_t>{0, 1});
}

TEST_CASE("no rate explains a step that takes forty times too long")
{
    Session session;
    MeasuredSteps steps = measured_on({small_llama(1, 1), small_llama(4, 1)}, {}, session);
    steps.steps[1].measured = steps.steps[1].measured * 40.0;
    RateTrials trials(session, steps.base);
    const RateFitOptions options;
    const RateFit fit = fit_rates(steps, trials, options).value();
    const StepAgreement agreement = step_agreement(steps, fit, trials, options).value();
    REQUIRE(agreement.contradictions.size() == 1);
    CHECK(agreement.contradictions[0].step == "tp4-mb1");
    CHECK_FALSE(agreement.contradictions[0].explained);
    CHECK(agreement.agreeing == std::vector<std::size_t>{0});
}

TEST_CASE("a single step that no likely rates explain agrees with nothing")
{
    Session session;
    MeasuredSteps steps = measured_on({small_llama(1, 1)}, {}, session);
    const RateFitOptions options;
    const auto agreement_with = [&](double times) {
        steps.steps[0].measured = steps.steps[0].predicted * times;
        RateTrials trials(session, steps.base);
        const RateFit fit = fit_rates(steps, trials, options).value();
        return step_agreement(steps, fit, trials, options).value();
    };
    CHECK(agreement_with(1.1).agreeing == std::vector<std::size_t>{0});
    const StepAgreement far = agreement_with(40);
    CHECK(far.agreeing.empty());
    REQUIRE(far.contradictions.size() == 1);
    CHECK(far.contradictions[0].alone);
    CHECK_FALSE(far.contradictions[0].explained);
}

TEST_CASE("one measurement does not count twice, in a file or on a profile that knows it")
{
    Session session;
    const std::vector<RecordFile> twice{file_of_steps({small_llama(1, 1)}),
                                        file_of_steps({small_llama(1, 1)})};
    const auto refused = measured_steps(twice, {}, session);
    REQUIRE_FALSE(refused);
    CHECK(refused.error()[0].pointer == "/0/id");

    const MeasuredSteps steps = measured_on({small_llama(1, 1)}, {{"gemm_16", -0.2}}, session);
    RateTrials trials(session, steps.base);
    const Json mine = own_profile(steps, fit_rates(steps, trials).value(), "mine");
    const testing::Folder folder;
    const std::string path = folder.file("mine.json", to_text(mine));
    const auto known =
        measured_steps(std::vector{file_of_steps({small_llama(1, 1)})}, path, session);
    REQUIRE_FALSE(known);
    CHECK_THAT(known.error()[0].message, Contains("was fitted to \"tp1-mb1\" already"));

    // A further step adds to what the first one told.
    const MeasuredSteps more =
        measured_steps(std::vector{file_of_steps({small_llama(4, 1)})}, path, session).value();
    RateTrials later(session, more.base);
    const RateFit fit = fit_rates(more, later).value();
    CHECK(fit.prior[rate_named("gemm_16")] < 0.10);
    const Profile both =
        profile_of_json(own_profile(more, fit, "both"), "both.json").value().profile;
    REQUIRE(both.own_steps);
    CHECK(both.own_steps->ids == std::vector<std::string>{"tp1-mb1", "tp4-mb1"});
}

TEST_CASE("steps as the profile has them contradict nothing")
{
    Session session;
    const MeasuredSteps steps = measured_on({small_llama(1, 1), across_nodes()}, {}, session);
    RateTrials trials(session, steps.base);
    const RateFitOptions options;
    const RateFit fit = fit_rates(steps, trials, options).value();
    CHECK(step_agreement(steps, fit, trials, options).value().contradictions.empty());
}

TEST_CASE("only like jobs get the narrower interval")
{
    const JobClass own{.model = "llama",
                       .framework = "megatron-core",
                       .precision = "bf16",
                       .devices = 64,
                       .sequence_length = 4096,
                       .recipe = "",
                       .software = "mcore-2024",
                       .parameters = 8.03e9,
                       .layers = 32,
                       .hidden = 4096,
                       .layout = "tp, recompute none"};
    OwnStepsMark mark;
    mark.ids = {"a"};
    mark.jobs = {own};
    mark.reach = 0.1;
    JobClass larger = own;
    larger.devices = 256;
    CHECK(own_evidence(mark, larger) == OwnEvidence{1, 0.1});
    JobClass too_large = own;
    too_large.devices = 512;
    CHECK_FALSE(own_evidence(mark, too_large));
    JobClass other_format = own;
    other_format.precision = "fp8";
    CHECK_FALSE(own_evidence(mark, other_format));
    JobClass other_words = own;
    other_words.model = "my-llama.json";
    other_words.framework = "mcore";
    CHECK(own_evidence(mark, other_words));
    JobClass other_class = own;
    other_class.software = "fsdp-eager";
    CHECK_FALSE(own_evidence(mark, other_class));
    JobClass other_sizes = own;
    other_sizes.hidden = 2048;
    CHECK_FALSE(own_evidence(mark, other_sizes));
    JobClass other_layout = own;
    other_layout.layout = "tp, pp, recompute none";
    CHECK_FALSE(own_evidence(mark, other_layout));
}

TEST_CASE("jobs of older profiles are known by their names")
{
    OwnStepsMark mark;
    mark.ids = {"a"};
    JobClass now;
    now.model = "llama";
    now.framework = "mcore";
    now.precision = "bf16";
    now.devices = 8;
    mark.jobs = {now};
    now.software = "mcore-2024";
    now.parameters = 8.03e9;
    now.layers = 32;
    now.hidden = 4096;
    now.layout = "tp, recompute none";
    CHECK(own_evidence(mark, now));
    now.model = "my-llama";
    CHECK_FALSE(own_evidence(mark, now));
}

TEST_CASE("a scenario of a measured job is alike whatever it calls model and framework")
{
    Session session;
    const MeasuredSteps steps = measured_on({small_llama(1, 1)}, {}, session);
    RateTrials trials(session, steps.base);
    const std::vector<double> none(own_rates().size(), 0.0);
    const auto class_with = [&](const std::vector<Override>& changes) {
        Json json = steps.steps[0].question.json;
        const ScenarioFile file = scenario_from(std::move(json), "mine.json", changes).value();
        const Outcome outcome = trials.outcome(file, none).value();
        return job_class(outcome.scenario, outcome.job);
    };
    const JobClass own = steps.steps[0].job;
    const JobClass same =
        class_with({{"software.framework", own.software}, {"model.name", "mine"}});
    CHECK(alike(own, same));
    CHECK_FALSE(alike(own, class_with({{"strategy.tp", "8"}, {"strategy.dp", "1"}})));
    CHECK_FALSE(alike(own, class_with({{"training.recompute", "full"}})));
}

TEST_CASE("steps of two devices, without a time, or none at all are refused with their place")
{
    Session session;
    MeasuredRecord other = small_llama(1, 1);
    other.id = "a100";
    other.hardware.gpu = "A100-SXM4-80GB";
    other.hardware.gpu_family = "A100";
    MeasuredRecord untimed = small_llama(1, 1);
    untimed.id = "untimed";
    untimed.step_time.reset();
    const std::vector<RecordFile> files{file_of_steps({small_llama(1, 1), other, untimed})};
    const auto refused = measured_steps(files, {}, session);
    REQUIRE_FALSE(refused);
    REQUIRE(refused.error().size() == 2);
    CHECK(refused.error()[0].pointer == "/1/hardware");
    CHECK(refused.error()[1].pointer == "/2/measured");
    const std::vector<RecordFile> empty{file_of_steps({})};
    CHECK_FALSE(measured_steps(empty, {}, session));
}

TEST_CASE("encoders leave more unexplained than decoders, and a mark of both as much")
{
    MeasuredSteps steps;
    steps.steps.resize(2);
    CHECK(fit_options(steps).unexplained == RateFitOptions{}.unexplained);
    steps.steps[1].model_class = ModelClass::other;
    CHECK(fit_options(steps).unexplained == 2 * RateFitOptions{}.unexplained);
    CHECK(fit_options(ModelClass::mixture).unexplained == RateFitOptions{}.unexplained);
}

// Rates from a recorded step: a machine whose rates are known is found again.

#include "sim/cost/profile_library.h"
#include "sim/study/cost_part.h"
#include "sim/study/traced/expected_rates.h"
#include "sim/study/traced/other_job.h"
#include "sim/study/traced/trace_rates.h"
#include "tests/catch.h"
#include "tests/support/folder.h"

#include <cmath>

using namespace trainyard;
using Catch::Matchers::WithinAbs;

namespace {

std::size_t place_of(const std::string& rate)
{
    for (std::size_t k = 0; k < own_rates().size(); ++k)
        if (own_rates()[k].name == rate)
            return k;
    FAIL("no rate " << rate);
    return 0;
}

struct TracedJob {
    TracedJob()
        : file(*read_scenario_file(folder.file("job.json", R"({
            "topology": "h100-1x8", "model": "llama-3.2-1b",
            "training": {"sequence_length": 4096, "micro_batch": 1, "global_batch": 32},
            "strategy": {"dp": 8, "zero": 3}})")))
    {
        const Checked<Outcome> outcome = session.simulate(file);
        if (!outcome)
            FAIL(render(outcome.error(), ""));
        base = to_json(*stated_constants(file, outcome->cost->profile()));
    }

    Outcome with(const std::vector<double>& rates)
    {
        ChangedProfiles profiles(base);
        ScenarioFile asked = file;
        asked.constants = *profiles.with(rates);
        const Checked<Outcome> outcome = session.simulate(asked);
        REQUIRE(outcome);
        return *outcome;
    }

    testing::Folder folder;
    Session session;
    ScenarioFile file;
    Json base;
};

// What a profiler would have recorded of the outcome: its classes of kernels, and one gather of
// 100 MB among all ranks.
RunSummary recording_of(const Outcome& outcome)
{
    RunSummary run;
    run.world = 8;
    run.device = "NVIDIA H100 80GB HBM3";
    RankSummary rank;
    const SideBySide sides = side_by_side(run, outcome);
    const auto set = [&](DeviceWork to, ComparedWork from) {
        rank.work[static_cast<std::size_t>(to)] = sides.of(from).simulated;
        rank.ops[static_cast<std::size_t>(to)] = sides.of(from).simulated_ops;
    };
    set(DeviceWork::gemm, ComparedWork::products);
    set(DeviceWork::attention, ComparedWork::attention);
    set(DeviceWork::elementwise, ComparedWork::memory_bound);
    set(DeviceWork::optimizer, ComparedWork::updates);
    run.ranks.push_back(rank);
    TransferRow row;
    row.kind = CollectiveKind::all_gather;
    row.role = GroupKind::dp;
    row.ranks = 8;
    row.bytes = 100'000'000;
    row.count = 4;
    row.source = MovingFrom::arrivals;
    run.transfers.push_back(row);
    add_expected_rates(run, *outcome.topology, *outcome.cost);
    run.transfers[0].moving = *run.transfers[0].expected;
    run.step = to_seconds(outcome.result->step_time);
    return run;
}

} // namespace

TEST_CASE("the rates of a recorded machine are found again")
{
    TracedJob job;
    std::vector<double> truth(own_rates().size(), 0.0);
    truth[place_of("gemm_16")] = std::log(0.85);
    truth[place_of("attention")] = std::log(0.95);
    truth[place_of("memory")] = std::log(0.9);
    truth[place_of("inside")] = std::log(0.8);
    const RunSummary run = recording_of(job.with(truth));
    const Checked<TraceFit> fit =
        fit_trace(run, job.file, job.base, job.session, "mine", "rank0.json");
    if (!fit)
        FAIL(render(fit.error(), ""));
    // Each is drawn towards what was believed before, less than that was doubted.
    CHECK_THAT(fit->rates.changes[place_of("gemm_16")], WithinAbs(std::log(0.85), 0.05));
    CHECK_THAT(fit->rates.changes[place_of("attention")], WithinAbs(std::log(0.95), 0.04));
    // Elementwise kernels are slower: for the memory's sake, or their own.
    CHECK_THAT(fit->rates.changes[place_of("memory")] + fit->rates.changes[place_of("elementwise")],
               WithinAbs(std::log(0.9), 0.05));
    CHECK(fit->rates.changes[place_of("memory")] < std::log(0.96));
    CHECK_THAT(fit->rates.changes[place_of("inside")], WithinAbs(std::log(0.8), 0.03));
    for (const TracedClass& one : fit->classes)
        CHECK_THAT(std::log(one.after / one.recorded), WithinAbs(0, 0.06));
    CHECK(std::abs(std::log(fit->after / fit->recorded)) <
          std::abs(std::log(fit->before / fit->recorded)) / 3);
    // What is written is read again, with its source.
    const Checked<ProfileFile> read = profile_of_json(fit->profile, "mine");
    if (!read)
        FAIL(render(read.error(), ""));
    CHECK(read->profile.name == "mine");
    CHECK(read->profile.hardware.device.under_load.gemm.bf16 <
          profile_of_json(job.base, "base")->profile.hardware.device.under_load.gemm.bf16);
}

TEST_CASE("a recording like the simulation changes nothing")
{
    TracedJob job;
    const RunSummary run = recording_of(job.with(std::vector<double>(own_rates().size(), 0.0)));
    const Checked<TraceFit> fit =
        fit_trace(run, job.file, job.base, job.session, "mine", "rank0.json");
    REQUIRE(fit);
    for (const double change : fit->rates.changes)
        CHECK_THAT(change, WithinAbs(0, 1e-6));
    CHECK(fit->before == fit->after);
}

TEST_CASE("a recording of far less work is of another job, whatever the rates")
{
    TracedJob job;
    RunSummary run = recording_of(job.with(std::vector<double>(own_rates().size(), 0.0)));
    for (Seconds& time : run.ranks.front().work)
        time = 0.03 * time;
    const Checked<TraceFit> fit =
        fit_trace(run, job.file, job.base, job.session, "mine", "rank0.json");
    REQUIRE(!fit);
    CHECK_THAT(fit.error().front().message, ContainsSubstring("not of the scenario's job"));
}

TEST_CASE("a recording of nothing tells no rate, one of another job is not compared")
{
    TracedJob job;
    const Outcome outcome = job.with(std::vector<double>(own_rates().size(), 0.0));
    RunSummary run = recording_of(outcome);
    CHECK(!mismatch_of(run, outcome));
    run.world = 16;
    CHECK_THAT(mismatch_of(run, outcome).value_or(""), ContainsSubstring("16 ranks"));
    run.world = 8;
    run.device = "NVIDIA A100-SXM4-80GB";
    CHECK_THAT(mismatch_of(run, outcome).value_or(""), ContainsSubstring("A100"));
    run.transfers.clear();
    run.ranks.front() = RankSummary();
    const Checked<TraceFit> fit =
        fit_trace(run, job.file, job.base, job.session, "mine", "rank0.json");
    REQUIRE(!fit);
    CHECK_THAT(fit.error().front().message, ContainsSubstring("tells no rate"));
}

TEST_CASE("a rate six times faster than it is believed to vary is of another job")
{
    TracedJob job;
    std::vector<double> truth(own_rates().size(), 0.0);
    truth[place_of("attention")] = std::log(2.2);
    const Checked<TraceFit> fit = fit_trace(recording_of(job.with(truth)), job.file, job.base,
                                            job.session, "mine", "rank0.json");
    REQUIRE(!fit);
    CHECK_THAT(fit.error().front().message, ContainsSubstring("attention rate would be"));
}

TEST_CASE("products without the model's width are of another model")
{
    RunSummary run;
    const auto add = [&](const std::string& shapes, double seconds) {
        RecordedKernel kernel;
        kernel.work = DeviceWork::gemm;
        kernel.shapes = shapes;
        kernel.time = Seconds(seconds);
        run.kernels.push_back(kernel);
    };
    const auto contradiction = [&](std::int64_t hidden) {
        Transformer model;
        model.hidden = hidden;
        return width_contradiction(run, {"m", model});
    };
    CHECK(!contradiction(512)); // nothing is known
    add("[[16384, 256], [256, 768]]", 0.9);
    add("[[256], [16384, 768], [768, 256], [], []]", 0.8);
    add("[[64, 512], [512, 64]]", 0.05);
    CHECK(!contradiction(256));
    REQUIRE(contradiction(512));
    CHECK_THAT(*contradiction(512), ContainsSubstring("no side of 512"));
    CHECK_THAT(*contradiction(512), ContainsSubstring("[[16384, 256], [256, 768]]"));
    // Shapes of a small part tell nothing.
    add("", 4);
    CHECK(!contradiction(512));
}

TEST_CASE("layers that the recording lacks explain rates that are too fast")
{
    TraceFit fit;
    const std::size_t rates = own_rates().size();
    fit.rates.changes.assign(rates, 0.0);
    fit.rates.prior.assign(rates, 0.1);
    fit.rates.spread.assign(rates, 0.05);
    StageSides stage;
    CHECK(judge_layers(fit, {stage}, "rank0.json").empty()); // as often
    CHECK(fit.doubts.empty());
    stage.forward.recorded_passes = 6;
    stage.forward.simulated_passes = 12;
    CHECK(judge_layers(fit, {stage}, "rank0.json").empty());
    CHECK(fit.doubts.size() == 1);
    fit.rates.changes[place_of("memory")] = std::log(1.4);
    const Problems problems = judge_layers(fit, {stage}, "rank0.json");
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems.front().message, ContainsSubstring("repeats 6 times"));
    CHECK_THAT(problems.front().message, ContainsSubstring("12 passes of layers"));
}

TEST_CASE("kernels that are not recognised are doubted, and tell nothing where they are many")
{
    TracedJob job;
    RunSummary run = recording_of(job.with(std::vector<double>(own_rates().size(), 0.0)));
    const auto fit = [&](double unknown) {
        run.not_recognised = unknown;
        return fit_trace(run, job.file, job.base, job.session, "mine", "rank0.json");
    };
    REQUIRE(fit(0.05));
    CHECK(fit(0.05)->doubts.empty());
    REQUIRE(fit(0.2));
    CHECK(fit(0.2)->doubts.size() == 1);
    CHECK(!fit(0.5));
}

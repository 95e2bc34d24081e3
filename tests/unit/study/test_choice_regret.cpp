// What the layout predicted quickest costs against the one measured quickest.

#include "sim/study/validation_output.h"
#include "tests/catch.h"
#include "tests/unit/study/measured_llama.h"

using namespace trainyard;

namespace {

// A run of a job with a layout, both by number.
RecordVerdict run(std::uint64_t job, std::uint64_t layout, double predicted, double measured)
{
    RecordVerdict verdict;
    verdict.id = "job " + std::to_string(job) + ", layout " + std::to_string(layout);
    verdict.architecture = "dense-decoder";
    verdict.layout = {job, layout, "tp " + std::to_string(layout)};
    verdict.predicted = Prediction{Seconds(predicted), Seconds(predicted), Seconds(predicted),
                                   Grade::published, "band"};
    verdict.measured = Seconds(measured);
    return verdict;
}

RecordVerdict out_of_memory(std::uint64_t job, std::uint64_t layout, double predicted)
{
    RecordVerdict verdict = run(job, layout, predicted, 0);
    verdict.measured.reset();
    verdict.out_of_memory = true;
    verdict.skipped = "ran out of memory when measured";
    return verdict;
}

// Of a llama on 64 GPUs with those sizes, as it would stand in a file of records.
MeasuredRecord llama(int tp, int pp, std::int64_t micro_batch, double step_time)
{
    MeasuredRecord record = test::llama_on_64_h100();
    record.id = "llama-t" + std::to_string(tp) + "p" + std::to_string(pp);
    record.parallel.tp = tp;
    record.parallel.pp = pp;
    record.parallel.vpp = 1;
    record.micro_batch = micro_batch;
    record.recompute = "full";
    record.step_time = step_time;
    return record;
}

} // namespace

TEST_CASE("regret is the throughput that the layout predicted quickest lacks to the best")
{
    // Layout 2 is predicted quickest and takes 1.25 s; layout 3 took 1 s: 1 - 1 / 1.25 = 0.2.
    // At random: (1 - 1/2 + 0.2 + 0) / 3 = 0.7 / 3. The job of two layouts is no choice.
    const ChoiceRegret regret =
        choice_regret(std::vector{run(1, 1, 3, 2), run(2, 1, 1, 1), run(1, 2, 0.9, 1.25),
                                  run(2, 2, 2, 1), run(1, 3, 1.1, 1)});
    REQUIRE(regret.choices.size() == 1);
    const LayoutRegret& choice = regret.choices.front();
    CHECK(choice.records == std::vector<std::size_t>{0, 2, 4});
    CHECK(choice.chosen == 2);
    CHECK(choice.best == 4);
    CHECK(choice.quicker == 1);
    CHECK_THAT(choice.regret, WithinAbs(0.2, 1e-12));
    CHECK_THAT(choice.at_random, WithinAbs(0.7 / 3, 1e-12));
    CHECK(regret.runs == 3);
    CHECK(regret.too_few == 2);
    CHECK(regret.best_chosen == 0);
    CHECK(regret.more_than_three == 0); // of three the choice is always among the three best
}

TEST_CASE("predictions that are all off by a factor have no regret")
{
    const ChoiceRegret regret = choice_regret(
        std::vector{run(1, 1, 10, 1), run(1, 2, 20, 2), run(1, 3, 30, 3), run(1, 4, 40, 4)});
    CHECK(regret.worst == 0);
    CHECK(regret.best_chosen == 1);
    CHECK(regret.among_three_best == 1);
    CHECK_THAT(regret.at_random, WithinAbs((0 + 1.0 / 2 + 2.0 / 3 + 3.0 / 4) / 4, 1e-12));
}

TEST_CASE("regret is summed up over jobs, each of which weighs the same")
{
    // Regrets 0, 0.5 and 0.75; nine in ten lie below 0.5 + 0.8 x 0.25.
    std::vector<RecordVerdict> runs;
    for (const auto& [job, time] : {std::pair{1, 1.0}, {2, 2.0}, {3, 4.0}})
        for (const int layout : {1, 2, 3, 4})
            runs.push_back(run(static_cast<std::uint64_t>(job), static_cast<std::uint64_t>(layout),
                               layout,
                               layout == 1   ? time
                               : layout == 2 ? 1.0
                                             : 1.5));
    const ChoiceRegret regret = choice_regret(runs);
    CHECK_THAT(regret.mean, WithinAbs(1.25 / 3, 1e-12));
    CHECK_THAT(regret.median, WithinAbs(0.5, 1e-12));
    CHECK_THAT(regret.p90, WithinAbs(0.7, 1e-12));
    CHECK_THAT(regret.worst, WithinAbs(0.75, 1e-12));
    CHECK(regret.best_chosen == 1);
    CHECK(regret.among_three_best == 1); // of jobs 2 and 3 the chosen was the slowest of four
}

TEST_CASE("repeats of a layout are one layout with their mean time")
{
    // The best takes (1 + 3) / 2 = 2 s, the chosen 2.5 s.
    const ChoiceRegret regret = choice_regret(
        std::vector{run(1, 1, 5, 1), run(1, 2, 1, 2.5), run(1, 1, 5, 3), run(1, 3, 6, 4)});
    REQUIRE(regret.choices.size() == 1);
    CHECK(regret.choices.front().layouts == 3);
    CHECK(regret.runs == 4);
    CHECK_THAT(regret.mean, WithinAbs(0.2, 1e-12));
    CHECK(choice_regret(std::vector{run(1, 1, 5, 1), run(1, 2, 1, 2), run(1, 1, 5, 3)})
              .choices.empty());
}

TEST_CASE("of layouts predicted alike the slowest counts")
{
    for (const double first : {1.0, 2.0})
        CHECK(choice_regret(
                  std::vector{run(1, 1, 1, first), run(1, 2, 1, 3 - first), run(1, 3, 2, 2)})
                  .mean == 0.5);
}

TEST_CASE("a chosen layout that ran out of memory when measured has all the regret there is")
{
    const std::vector runs{out_of_memory(1, 1, 1), run(1, 2, 2, 2), run(1, 3, 3, 3)};
    const ValidationReport report = summarized(runs);
    CHECK(report.choice.mean == 1);
    CHECK(report.all.scored == 2);
    CHECK_THAT(summary_text(report), ContainsSubstring("tp 1: ran out of memory"));
    // Where it was not chosen it is what others should not be: 1 of 3 at random.
    const ChoiceRegret avoided =
        choice_regret(std::vector{out_of_memory(1, 1, 9), run(1, 2, 1, 2), run(1, 3, 3, 2)});
    CHECK(avoided.mean == 0);
    CHECK_THAT(avoided.at_random, WithinAbs(1.0 / 3, 1e-12));
    // Nothing was measured to choose.
    CHECK(choice_regret(
              std::vector{out_of_memory(1, 1, 1), out_of_memory(1, 2, 1), out_of_memory(1, 3, 1)})
              .choices.empty());
}

TEST_CASE("what was not predicted, or is predicted not to fit, is left out and counted")
{
    RecordVerdict large = run(1, 1, 1, 9);
    large.fits = false;
    RecordVerdict refused = run(1, 5, 1, 9);
    refused.predicted.reset();
    refused.skipped = "why";
    const ValidationReport report =
        summarized({large, refused, run(1, 2, 2, 1), run(1, 3, 3, 2), run(1, 4, 4, 2)});
    CHECK(report.choice.mean == 0);
    CHECK(report.choice.not_fitting == 1);
    CHECK(report.choice.not_predicted == 1);
    CHECK_THAT(summary_text(report), ContainsSubstring("1 not predicted, 1 predicted not to fit"));
    const Json json = to_json(report);
    CHECK(json.find("choice_of_layout")->find("choices")->items().size() == 1);
    CHECK_THAT(to_csv(report), ContainsSubstring(",tp 2,1,0.000000,yes\n"));
    CHECK_THAT(to_csv(report), ContainsSubstring(",tp 3,1,0.500000,no\n"));
    CHECK_THAT(to_csv(report), ContainsSubstring(",tp 1,,,\n"));
}

TEST_CASE("without a choice the summary does not speak of one")
{
    const ValidationReport report = summarized({run(1, 1, 1, 1), run(1, 2, 1, 1)});
    CHECK_THAT(summary_text(report), !ContainsSubstring("Choice of layout"));
    CHECK(to_json(report).find("choice_of_layout")->is_null());
}

TEST_CASE("runs are of one job when they differ in layout only, whatever they are called")
{
    RecordFile file;
    file.records = {llama(4, 4, 1, 5), llama(8, 4, 2, 6), llama(8, 8, 1, 7), llama(4, 8, 1, 8)};
    file.records[1].model.name = "the same model";
    for (const auto& [change, runs] :
         std::vector<std::pair<void (*)(MeasuredRecord&), std::size_t>>{
             {[](MeasuredRecord&) {}, 4},
             {[](MeasuredRecord& r) { r.parallel.zero_stage = 1; }, 4},
             {[](MeasuredRecord& r) { r.global_batch = 256; }, 3},
             {[](MeasuredRecord& r) { r.gpus = 128; }, 3},
             {[](MeasuredRecord& r) { r.precision = "fp8"; }, 3},
             {[](MeasuredRecord& r) { r.model.layers = 64; }, 3},
             {[](MeasuredRecord& r) { r.sequence_length = 8192; }, 3},
             {[](MeasuredRecord& r) { r.source.release = "another"; }, 3}})
    {
        RecordFile changed = file;
        change(changed.records[0]);
        const ValidationReport report = validate({&changed, 1});
        REQUIRE(report.all.scored == 4);
        REQUIRE(report.choice.choices.size() == 1);
        CHECK(report.choice.runs == runs);
        CHECK(report.choice.too_few == 4 - runs);
    }
}

TEST_CASE("a record may say that its run ran out of memory")
{
    const auto json = parse_json(
        R"([{"id": "a", "measured": {"out_of_memory": true}}, {"id": "b"}])", "runs.json");
    REQUIRE(json.has_value());
    const auto file = records_from(*json, "runs.json");
    REQUIRE(file.has_value());
    CHECK(file->records[0].out_of_memory);
    CHECK_FALSE(file->records[1].out_of_memory);

    RecordFile runs;
    runs.records = {llama(4, 4, 1, 5)};
    runs.records[0].step_time.reset();
    runs.records[0].out_of_memory = true;
    const RecordVerdict verdict = validate({&runs, 1}).records.front();
    CHECK(verdict.predicted.has_value());
    CHECK(verdict.skipped == "ran out of memory when measured");
}

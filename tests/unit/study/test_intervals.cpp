// Intervals of step times and of their ratios, from errors of measured runs.

#include "sim/base/json.h"
#include "sim/study/accuracy/calibrate_errors.h"
#include "sim/study/prediction.h"
#include "tests/catch.h"

#include <fmt/core.h>

#include <cmath>
#include <random>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

// Groups share an error of their own; runs scatter about it.
class Measurements {
public:
    explicit Measurements(unsigned seed) : random_(seed) {}

    std::vector<GroupedError> groups(int count, int runs, double bias = 0)
    {
        std::vector<GroupedError> out;
        for (int g = 0; g < count; ++g) {
            const double of_group = bias + 0.1 * normal_(random_);
            for (int r = 0; r < runs; ++r)
                out.push_back({std::to_string(next_), of_group + 0.05 * normal_(random_)});
            ++next_;
        }
        return out;
    }

private:
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    int next_ = 0;
};

JobTraits known_job()
{
    return {.model_class = ModelClass::dense,
            .generation = "Hopper",
            .dispatcher_stated = false,
            .device = "H100",
            .model = "7b",
            .precision = "bf16",
            .software = "core",
            .devices = 64,
            .sequence_length = 4096,
            .global_batch = 128,
            .layout = "tp2"};
}

ErrorClass class_of_errors(ModelClass model_class, double low, double high)
{
    ErrorClass out;
    out.model_class = model_class;
    out.low = low;
    out.high = high;
    out.groups = 40;
    out.runs = 200;
    return out;
}

StepErrors known_errors()
{
    StepErrors out;
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>())
        out.classes.push_back(class_of_errors(each.value, -0.2, 0.1));
    out.seen.push_back({ModelClass::dense, {"H100"}, {"bf16"}, {"core"}, 512});
    out.widening = {1.5, 1.2, 1.3, 1.1};
    out.ratios.push_back({ModelClass::dense, {"layout"}, 0.05, 30, 300});
    out.ratios.push_back({ModelClass::dense, {"batch"}, 0.03, 30, 300});
    out.own_steps.push_back({ModelClass::dense, 0.08, 30, 300});
    return out;
}

Prediction predicted(const JobTraits& job, Seconds value = 1_s)
{
    return predict_step_time(value, {.traits = job, .own = {}}, known_errors());
}

double width(const Prediction& prediction)
{
    return prediction.high / prediction.low;
}

JudgedRun judged(ModelClass model_class, int group, int run, double error)
{
    JudgedRun out;
    out.traits = known_job();
    out.traits.model_class = model_class;
    out.traits.model = std::to_string(group);
    out.traits.layout = std::to_string(run);
    out.source = "paper";
    out.id = fmt::format("{}-{}-{}", to_name(model_class), group, run);
    out.error = error;
    out.group = group_of(out.source, out.traits);
    return out;
}

} // namespace

TEST_CASE("nine in ten runs of groups that nobody saw lie in the interval")
{
    // 400 fresh calibrations of 60 groups, each asked of one run of one new group. Each of the two
    // tails holds between 0.05 and 0.05 + 1 / 61, so 0.9 - 2 / 61 to 0.9 are inside before the
    // rounding upwards of either quantile, 0.9 to 0.9 + 2 / 61 after it; three standard deviations
    // of 400 draws are 0.045.
    Measurements measurements(7);
    int inside = 0;
    constexpr int draws = 400;
    for (int i = 0; i < draws; ++i) {
        const std::optional<ErrorRange> range = range_of(measurements.groups(60, 3), 0.9);
        REQUIRE(range);
        inside += range->holds(measurements.groups(1, 1).front().error) ? 1 : 0;
    }
    CHECK(inside >= draws * (0.9 - 0.045));
    CHECK(inside <= draws * (0.9 + 2.0 / 61 + 0.045));
}

TEST_CASE("a group counts once however many runs it has")
{
    Measurements measurements(3);
    const std::vector<GroupedError> plain = measurements.groups(40, 1);
    std::vector<GroupedError> crowded = plain;
    for (int i = 0; i < 5000; ++i)
        crowded.push_back(plain.front()); // an error that many runs of one group share
    const std::optional<ErrorRange> range = range_of(plain, 0.9);
    const std::optional<ErrorRange> again = range_of(crowded, 0.9);
    CHECK(again->low == range->low);
    CHECK(again->high == range->high);
    CHECK(again->groups == 40);
    CHECK(again->runs == 5040);
}

TEST_CASE("few groups say as much above as below, fewer than nine nothing")
{
    Measurements measurements(5);
    // (n + 1) 0.9 <= n from 9 on, (n + 1) 0.95 <= n from 19 on.
    CHECK(!range_of(measurements.groups(8, 4), 0.9));
    const std::optional<ErrorRange> nine = range_of(measurements.groups(9, 1, 0.3), 0.9);
    REQUIRE(nine);
    CHECK(nine->low == -nine->high);
    const std::optional<ErrorRange> many = range_of(measurements.groups(19, 1, 0.3), 0.9);
    REQUIRE(many);
    CHECK(many->high > -many->low); // predicted too slow, so measured is below
}

TEST_CASE("the interval is asymmetric where errors are, and holds the prediction itself")
{
    const Prediction prediction = predicted(known_job());
    CHECK_THAT(prediction.low.value(), WithinRel(std::exp(-0.1), 1e-12));
    CHECK_THAT(prediction.high.value(), WithinRel(std::exp(0.2), 1e-12));
    Measurements measurements(11);
    const std::optional<ErrorRange> slow = range_of(measurements.groups(60, 1, 1.0), 0.9);
    CHECK(slow->low == 0);
}

TEST_CASE("what was never measured widens the interval, each thing more")
{
    const double known = width(predicted(known_job()));
    std::vector<JobTraits> strange(4, known_job());
    strange[0].device = "MI300X";
    strange[1].precision = "nvfp4";
    strange[2].software = "new";
    strange[3].devices = 4096;
    for (const JobTraits& job : strange)
        CHECK(width(predicted(job)) > known);
    JobTraits all = strange[0];
    double before = width(predicted(all));
    const auto add = [&](auto JobTraits::*trait, const JobTraits& from) {
        all.*trait = from.*trait;
        CHECK(width(predicted(all)) > before);
        before = width(predicted(all));
    };
    add(&JobTraits::precision, strange[1]);
    add(&JobTraits::software, strange[2]);
    add(&JobTraits::devices, strange[3]);
    CHECK_THAT(predicted(strange[0]).basis, ContainsSubstring("not among them, so wider: MI300X"));
    JobTraits larger = strange[3];
    larger.devices *= 2;
    CHECK(width(predicted(larger)) > width(predicted(strange[3])));
}

TEST_CASE("a size outside of what was measured is named, widens, and is no published evidence")
{
    StepErrors errors = known_errors();
    SeenJobs& seen = errors.seen.front();
    seen.sequence_length = MeasuredRange{1024, 8192};
    seen.pass_tokens = MeasuredRange{2048, 16384};
    seen.hidden_size = MeasuredRange{1024, 8192};
    errors.widening.pass_halving = 1.1;
    JobTraits job = known_job();
    job.pass_tokens = 4096;
    job.hidden_size = 4096;
    const auto predicted_of = [&](const JobTraits& traits) {
        return predict_step_time(
            1_s, {.traits = traits, .grade = Grade::published, .constants = 0, .own = {}}, errors);
    };
    const Prediction known = predicted_of(job);
    CHECK(known.grade == Grade::published);
    for (const std::int64_t end : {2048, 16384}) {
        job.pass_tokens = end;
        CHECK(predicted_of(job).basis == known.basis);
    }
    // Three halvings below the smallest, of 1.1 each.
    job.pass_tokens = 256;
    const Prediction few = predicted_of(job);
    CHECK(few.grade == Grade::extrapolated);
    CHECK_THAT(few.basis, ContainsSubstring("so wider: micro-batches of less than 2048 tokens"));
    CHECK_THAT(std::log(few.high / 1_s), WithinRel(0.2 * 1.1 * 1.1 * 1.1, 1e-12));
    // Nothing says how much wider: only named.
    job.sequence_length = 1;
    job.hidden_size = 16384;
    const Prediction all = predicted_of(job);
    CHECK(width(all) == width(few));
    CHECK_THAT(all.basis, ContainsSubstring("sequences of less than 1024 tokens"));
    CHECK_THAT(all.basis, ContainsSubstring("hidden sizes above 8192"));
    // Own steps know better, and so do constants that are no published ones.
    CHECK(predict_step_time(1_s,
                            {.traits = job,
                             .grade = Grade::measured,
                             .constants = 0,
                             .own = OwnEvidence{.steps = 1, .half = {}}},
                            errors)
              .grade == Grade::measured);
    // A model without tokens has none that could be outside.
    job = known_job();
    job.sequence_length = 0;
    CHECK(predicted_of(job).basis == known.basis);
}

TEST_CASE("calibration finds the sizes that were measured, and what those beyond them err by")
{
    // Errors of 10 % either way up to 8192 tokens in a pass, of 40 % at 16384.
    std::vector<JudgedRun> runs;
    for (int group = 0; group < 80; ++group) {
        const bool large = group < 40;
        const double sign = group % 2 == 0 ? 1 : -1;
        runs.push_back(judged(ModelClass::dense, group, 0, sign * (large ? 0.4 : 0.1)));
        runs.back().traits.pass_tokens = large ? 16384 : 2048 << group % 3;
        runs.back().traits.hidden_size = 4096;
    }
    const std::optional<StepErrors> errors = calibrated(runs, {}, {});
    REQUIRE(errors);
    const SeenJobs* const seen = seen_of(errors->seen, ModelClass::dense);
    CHECK(seen->pass_tokens == MeasuredRange{2048, 16384});
    CHECK(seen->hidden_size == MeasuredRange{4096, 4096});
    CHECK(seen->sequence_length == MeasuredRange{4096, 4096});
    CHECK_FALSE(seen->pass_samples);
    // Four times as wide one doubling beyond 8192; smaller passes err less.
    CHECK(errors->widening.pass_doubling > 1.5);
    CHECK(errors->widening.pass_doubling <= 4 + 1e-12);
    CHECK(errors->widening.pass_halving == 1);
    CHECK(errors->widening.hidden_doubling == 1);
}

TEST_CASE("doubt of a device's constants counts where no run on it was measured")
{
    Evidence evidence{
        .traits = known_job(), .grade = Grade::datasheet, .constants = 0.3, .own = {}};
    const StepErrors errors = known_errors();
    CHECK(width(predict_step_time(1_s, evidence, errors)) == width(predicted(known_job())));
    evidence.traits.device = "MI300X";
    CHECK(width(predict_step_time(1_s, evidence, errors)) > width(predicted(evidence.traits)));
}

TEST_CASE("own steps narrow the interval and never widen it")
{
    Evidence evidence{.traits = known_job(), .grade = Grade::measured, .constants = 0, .own = {}};
    evidence.own = OwnEvidence{.steps = 1, .half = std::nullopt};
    const StepErrors errors = known_errors();
    CHECK_THAT(width(predict_step_time(1_s, evidence, errors)), WithinRel(std::exp(0.16), 1e-12));
    evidence.own->half = 0.03;
    CHECK_THAT(width(predict_step_time(1_s, evidence, errors)), WithinRel(std::exp(0.06), 1e-12));
    evidence.own->half = 9;
    CHECK(width(predict_step_time(1_s, evidence, errors)) == width(predicted(known_job())));
}

TEST_CASE("errors that two jobs share cancel in their ratio")
{
    const StepErrors errors = known_errors();
    const Prediction a = predicted(known_job(), 1_s);
    JobTraits other = known_job();
    other.layout = "tp4";
    const Prediction b = predicted(other, 0.95_s);
    const RatioPrediction ratio = predict_ratio(a, b, errors);
    CHECK_THAT(ratio.value, WithinRel(0.95, 1e-12));
    CHECK_THAT(ratio.high / ratio.low, WithinRel(std::exp(0.1), 1e-12));
    CHECK(ratio.high / ratio.low < width(a));
    // log(0.95) lies 1.687 standard deviations of 0.05 / 1.6449 below zero.
    CHECK_THAT(ratio.b_is_quicker, WithinAbs(0.9542, 1e-3));
    CHECK_THAT(predict_ratio(b, a, errors).b_is_quicker, WithinAbs(1 - ratio.b_is_quicker, 1e-12));

    // Two causes are joined as independent ones.
    other.global_batch *= 2;
    const RatioPrediction joined = predict_ratio(a, predicted(other, 0.95_s), errors);
    CHECK_THAT(joined.high / joined.low, WithinRel(std::exp(2 * std::hypot(0.05, 0.03)), 1e-12));

    // Nothing is known of pairs that differ in their model: never wider than with nothing shared.
    other.model = "70b";
    const RatioPrediction apart = predict_ratio(a, predicted(other, 0.95_s), errors);
    CHECK_THAT(std::log(apart.high / apart.low), WithinRel(2 * std::hypot(0.1, 0.2), 1e-12));
    CHECK(apart.b_is_quicker < ratio.b_is_quicker);
}

TEST_CASE("the same job takes the same time")
{
    const Prediction a = predicted(known_job());
    const RatioPrediction same = predict_ratio(a, a, known_errors());
    CHECK(same.low == 1);
    CHECK(same.high == 1);
    CHECK(same.b_is_quicker == 0.5);
}

TEST_CASE("hybrids of few groups are pooled with mixtures, and a class of its own is kept apart")
{
    std::vector<JudgedRun> runs;
    for (int group = 0; group < 30; ++group)
        for (int run = 0; run < 2; ++run) {
            const double sign = group % 2 == 0 ? 1 : -1;
            runs.push_back(judged(ModelClass::dense, group, run, 0.01 * sign));
            runs.push_back(judged(ModelClass::mixture, group, run, 0.3 * sign));
        }
    runs.push_back(judged(ModelClass::hybrid, 100, 0, -0.2));
    const std::optional<StepErrors> errors = calibrated(runs, {}, {});
    REQUIRE(errors);
    JobTraits job = known_job();
    CHECK_THAT(errors->class_for(job).high, WithinAbs(0.01, 1e-12));
    job.model_class = ModelClass::hybrid;
    CHECK_THAT(errors->class_for(job).high, WithinAbs(0.3, 1e-12));
    CHECK(errors->class_for(job).groups == 31);
    CHECK(!errors->class_for(job).pooled.empty());
    // Pairs of one group err alike: a ratio of two layouts is known exactly.
    const auto layouts = std::ranges::find_if(errors->ratios, [](const RatioClass& ratio) {
        return ratio.model_class == ModelClass::mixture &&
               ratio.differs == std::vector<std::string>{"layout"};
    });
    REQUIRE(layouts != errors->ratios.end());
    CHECK(layouts->half == 0);
    CHECK(layouts->groups == 30);
    CHECK(!calibrated(std::span(runs).first(6), {}, {})); // of 3 groups
}

TEST_CASE("runs err as the fits that did not see them say")
{
    const std::vector<JudgedRun> runs{judged(ModelClass::dense, 0, 0, 0.1),
                                      judged(ModelClass::dense, 0, 1, 0.2),
                                      judged(ModelClass::dense, 1, 0, -0.1)};
    // The group moves by 0.05, and the publication's other group with it.
    const LeftOutErrors left_out{{runs.front().id, 0.15}};
    const std::vector<JudgedRun> moved = as_left_out(runs, left_out, {});
    CHECK_THAT(moved[0].error, WithinAbs(0.15, 1e-12));
    CHECK_THAT(moved[1].error, WithinAbs(0.25, 1e-12));
    CHECK_THAT(moved[2].error, WithinAbs(-0.05, 1e-12));
    const std::vector<FitOptimism> optimism = optimism_of(runs, left_out, {});
    REQUIRE(optimism.size() == 1);
    CHECK_THAT(optimism.front().factor, WithinAbs(1.5, 1e-12));
    // Without verdicts of such fits, as much larger as they were before.
    StepErrors before;
    before.optimism = optimism;
    CHECK_THAT(as_left_out(runs, {}, before)[2].error, WithinAbs(-0.15, 1e-12));
}

TEST_CASE("a peak of memory has the interval of errors of measured peaks")
{
    PeakErrors errors{0.9, known_errors().classes, known_errors().seen, {}};
    const PeakPrediction known = predict_peak(100_GB, known_job(), errors);
    CHECK_THAT(known.low / 100_GB, WithinRel(std::exp(-0.1), 1e-9));
    CHECK_THAT(known.high / 100_GB, WithinRel(std::exp(0.2), 1e-9));
    CHECK(known.grade == Grade::published);
    JobTraits job = known_job();
    job.device = "MI300X";
    // Nothing says how much wider, so it is only named.
    const PeakPrediction other = predict_peak(100_GB, job, errors);
    CHECK(other.high == known.high);
    CHECK(other.grade == Grade::extrapolated);
    CHECK_THAT(other.basis, ContainsSubstring("; not among them: MI300X"));
    errors.widening.device = 2;
    const PeakPrediction wider = predict_peak(100_GB, job, errors);
    CHECK_THAT(wider.high / 100_GB, WithinRel(std::exp(0.4), 1e-9));
    CHECK_THAT(wider.basis, ContainsSubstring("so wider: MI300X"));
    // Of models of which no run was measured.
    errors.seen.push_back({ModelClass::hybrid, {}, {}, {}, 0});
    job.model_class = ModelClass::hybrid;
    const PeakPrediction unseen = predict_peak(100_GB, job, errors);
    CHECK(unseen.grade == Grade::datasheet);
    CHECK_THAT(unseen.basis, ContainsSubstring("hybrids, MI300X"));
    const PeakPrediction none = predict_peak(100_GB, job, {});
    CHECK_FALSE(none.has_interval());
    CHECK(none.low == none.high);
}

TEST_CASE("whether a peak fits is as sure as its interval")
{
    const PeakPrediction peak{60_GB, 50_GB, 72_GB, 0.9, Grade::published, "runs"};
    CHECK(fit_of(peak, 80_GB) == MemoryFit::fits);
    CHECK(fit_of(peak, 72_GB) == MemoryFit::fits);
    CHECK(fit_of(peak, 64_GB) == MemoryFit::probably_fits);
    CHECK(fit_of(peak, 55_GB) == MemoryFit::probably_not);
    CHECK(fit_of(peak, 49_GB) == MemoryFit::does_not);
}

TEST_CASE("errors of peaks are pooled over the classes of models until nine groups are together")
{
    std::vector<JudgedRun> runs;
    for (int group = 0; group < 9; ++group)
        for (const double error : {0.01 * group, -0.02})
            runs.push_back(judged(group < 7 ? ModelClass::dense : ModelClass::mixture, group,
                                  error > 0 ? 0 : 1, error));
    CHECK(!calibrated_peaks(std::span(runs).first(6))); // of 3 groups
    const std::optional<PeakErrors> errors = calibrated_peaks(runs);
    REQUIRE(errors);
    CHECK(errors->share == 0.9);
    // Eight groups tell of a ninth with 8 / 9: the largest error of them all.
    const std::optional<PeakErrors> fewer = calibrated_peaks(std::span(runs).first(16));
    REQUIRE(fewer);
    CHECK_THAT(fewer->share, WithinRel(8.0 / 9, 1e-12));
    CHECK_THAT(class_for(fewer->classes, known_job())->high, WithinAbs(0.07, 1e-12));
    JobTraits job = known_job();
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        job.model_class = each.value;
        const ErrorClass* const of = class_for(errors->classes, job);
        REQUIRE(of != nullptr);
        CHECK(of->groups == 9);
        CHECK_THAT(of->high, WithinAbs(0.08, 1e-12)); // the largest of nine
        CHECK(of->low == -of->high);
    }
    CHECK(seen_of(errors->seen, ModelClass::hybrid)->devices.empty());
}

TEST_CASE("the file of errors is read as it is written, and a class that lacks is named")
{
    const StepErrors errors = known_errors();
    const Checked<StepErrors> again = step_errors_from(to_json(errors), "errors.json");
    REQUIRE(again);
    CHECK(*again == errors);
    StepErrors with_memory = errors;
    with_memory.memory.classes = errors.classes;
    with_memory.memory.seen = errors.seen;
    CHECK(*step_errors_from(to_json(with_memory), "errors.json") == with_memory);
    StepErrors partial = errors;
    partial.classes.pop_back();
    const Checked<StepErrors> refused = step_errors_from(to_json(partial), "errors.json");
    REQUIRE(!refused);
    CHECK_THAT(refused.error().front().message, ContainsSubstring("\"other\""));
}

TEST_CASE("shipped intervals of memory hold nine in ten, and say of which models none was measured")
{
    const PeakErrors& errors = shipped_step_errors().memory;
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        JobTraits job = known_job();
        job.model_class = each.value;
        const PeakPrediction peak = predict_peak(100_GB, job, errors);
        REQUIRE(peak.has_interval());
        CHECK(peak.low < peak.value);
        CHECK(peak.high > peak.value);
        const bool measured = !seen_of(errors.seen, each.value)->devices.empty();
        CHECK((peak.grade == Grade::datasheet) == !measured);
    }
}

TEST_CASE("shipped intervals know every class of models")
{
    for (const EnumName<ModelClass>& each : enum_names<ModelClass>()) {
        JobTraits job = known_job();
        job.model_class = each.value;
        const ErrorClass& of = shipped_step_errors().class_for(job);
        CHECK(of.low < 0);
        CHECK(of.high > 0);
        CHECK(of.groups >= 9);
    }
}

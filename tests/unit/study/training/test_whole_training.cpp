#include "sim/base/fields.h"
#include "sim/study/training/simulated_trainings.h"
#include "sim/study/training/training_sensitivity.h"
#include "sim/study/training/whole_training.h"
#include "tests/catch.h"

#include <cmath>
#include <random>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

constexpr double hour = 3600;
constexpr double day = 24 * hour;

// 100 days of steps of 10 s on 1,024 GPUs; nothing fails, nothing is saved.
WholeTrainingRequest calm()
{
    WholeTrainingRequest request;
    request.batch_tokens = 4e6;
    request.tokens = 4e6 * 864'000;
    request.step_time = 10_s;
    request.gpus = 1024;
    return request;
}

WholeTrainingRequest failing(double mtbf_hours)
{
    WholeTrainingRequest request = calm();
    request.failures.mtbf_per_gpu = Seconds(mtbf_hours * hour * request.gpus);
    request.failures.detection = 300_s;
    request.failures.restart = 600_s;
    request.failures.spare_nodes = 0;
    request.failures.replaced = 0;
    request.checkpoints.time = 60_s;
    return request;
}

WholeTraining answer(const WholeTrainingRequest& request)
{
    const auto training = whole_training(request);
    REQUIRE(training);
    return *training;
}

// One trial in some hundred million is off by six standard errors.
void check_agrees(Seconds simulated, Seconds expected, Seconds error)
{
    CHECK(std::abs((simulated - expected).value()) <= 6 * error.value() + 1e-6 * expected.value());
}

void check_twin(const WholeTrainingRequest& request)
{
    const WholeTraining training = answer(request);
    const SimulatedTrainings simulated = simulate_trainings(training.process, {4000, 7, 2});
    const WallAccount& account = training.time.account;
    const double trials = static_cast<double>(simulated.durations.size());
    check_agrees(simulated.mean, training.time.mean(), simulated.deviation / std::sqrt(trials));
    for (std::size_t i = 0; i < wall_time_kinds; ++i)
        check_agrees(simulated.account.by_cause[i], account.by_cause[i],
                     simulated.error.by_cause[i]);
    CHECK_THAT(simulated.account.total().value(), WithinRel(simulated.mean.value(), 1e-9));
    // The relative error of a standard deviation is 1 / sqrt(2 n), more with heavy tails.
    CHECK_THAT(simulated.deviation.value(), WithinRel(training.time.deviation.value(), 0.12));
}

} // namespace

TEST_CASE("a training without failures takes its steps, its start and one checkpoint")
{
    WholeTrainingRequest request = calm();
    request.failures.restart = 600_s;
    request.checkpoints.time = 60_s;
    const WholeTraining training = answer(request);
    CHECK(training.steps.steps == 864'000);
    CHECK(training.time.mean().value() == 100 * day + 660);
    CHECK(training.time.deviation.value() == 0);
    CHECK(training.time.low == training.time.high);
}

TEST_CASE("smaller batches at the start add steps, which take their own time")
{
    WholeTrainingRequest request = calm();
    request.ramp = {{4e6 * 1000, 2e6, std::nullopt}, {4e6 * 1000, 1e6, 4_s}};
    const StepCount steps = count_steps(request);
    CHECK(steps.steps == 2000 + 4000 + 862'000);
    CHECK_THAT(steps.time.value(), WithinRel(2000 * 5.0 + 4000 * 4.0 + 8'620'000, 1e-12));
}

// Daly 2006, equation 13, by hand: n segments of w + c, M e^(R/M) (e^((w + c)/M) - 1) each.
TEST_CASE("a training of segments takes what Daly's formula says")
{
    WholeTrainingRequest request = failing(24);
    request.checkpoints.interval = Seconds(hour);
    request.failures.detection = 0_s;
    const double m = 24 * hour;
    const double segments = 2400 * m * std::exp(600 / m) * std::expm1(3660 / m);
    const double start = m * std::expm1(600 / m);
    CHECK_THAT(answer(request).time.mean().value(), WithinRel(segments + start, 1e-9));
}

TEST_CASE("the best interval is no worse than its neighbours and near Daly's")
{
    for (const double mtbf : {1.0, 5.0, 100.0, 5000.0}) {
        const FailureProcess process = failure_process(failing(mtbf));
        FailureProcess best = with_best_interval(process);
        const Seconds time = expected_time(best).mean();
        CHECK_THAT(best.work() / Seconds(static_cast<double>(best.segments)),
                   WithinRel(daly_interval(process).value(), 0.05));
        for (const int off : {-1, 1, 20}) {
            FailureProcess other = best;
            other.segments += off;
            if (other.segments > 0)
                CHECK(time.value() <= expected_time(other).mean().value() * (1 + 1e-12));
        }
    }
}

TEST_CASE("the account adds up to the wall time, and so do the parts of the simulated mean")
{
    WholeTrainingRequest request = failing(6);
    request.evaluation = 0.02;
    request.stragglers = 0.01;
    const WholeTraining training = answer(request);
    CHECK(training.time.account.total() == training.time.mean());
    CHECK_THAT(training.time.account[WallTime::evaluation].value(), WithinRel(2 * day, 1e-12));
    CHECK_THAT(training.goodput(), WithinRel(100 * day / training.time.mean().value(), 1e-12));
}

TEST_CASE("simulated trainings take what the closed form says, cause by cause")
{
    SECTION("failures are rare")
    {
        check_twin(failing(500));
    }
    SECTION("failures every few intervals")
    {
        WholeTrainingRequest request = failing(6);
        request.evaluation = 0.03;
        check_twin(request);
    }
    SECTION("the time between failures is that between checkpoints")
    {
        WholeTrainingRequest request = failing(1);
        request.tokens /= 20;
        request.checkpoints.interval = Seconds(hour);
        check_twin(request);
    }
    SECTION("written behind the steps")
    {
        WholeTrainingRequest request = failing(2);
        request.tokens /= 10;
        request.checkpoints.asynchronous = true;
        request.checkpoints.time = 600_s;
        request.checkpoints.block = 5_s;
        request.checkpoints.interval = 900_s;
        check_twin(request);
    }
    SECTION("no spare node, repair takes days")
    {
        WholeTrainingRequest request = failing(100);
        request.failures.replaced = 0.6;
        request.failures.repair = Seconds(2 * day);
        check_twin(request);
    }
    SECTION("spot capacity that saves in time")
    {
        WholeTrainingRequest request = failing(12);
        request.failures.spot_mtbf_per_node = Seconds(8 * hour * request.nodes());
        check_twin(request);
    }
    SECTION("spot capacity that does not")
    {
        WholeTrainingRequest request = failing(12);
        request.failures.spot_mtbf_per_node = Seconds(8 * hour * request.nodes());
        request.failures.spot_notice = 30_s;
        check_twin(request);
    }
}

// 100 days see 20 repairs after one another: the start, when no node is in repair yet, is small.
TEST_CASE("with a few spares a failure waits as often as Erlang's formula says")
{
    WholeTrainingRequest request = failing(48);
    request.failures.replaced = 1;
    request.failures.repair = Seconds(5 * day);
    request.failures.spare_nodes = 2;
    const WholeTraining training = answer(request);
    const SimulatedTrainings simulated = simulate_trainings(training.process, {2000, 3, 2});
    CHECK_THAT(simulated.mean.value(), WithinRel(training.time.mean().value(), 0.02));
    CHECK_THAT(simulated.account[WallTime::repair].value(),
               WithinRel(training.time.account[WallTime::repair].value(), 0.12));
}

TEST_CASE("Erlang's formula: one line, one unit of load, half of the calls find it taken")
{
    CHECK(no_spare_share(1, 0) == 1);
    CHECK(no_spare_share(1, 1) == 0.5);
    CHECK_THAT(no_spare_share(1, 2), WithinRel(0.2, 1e-12)); // (1/2) / (1 + 1 + 1/2)
}

TEST_CASE("simulated trainings are the same on any number of threads")
{
    const FailureProcess process = with_best_interval(failure_process(failing(10)));
    const SimulatedTrainings one = simulate_trainings(process, {500, 11, 1});
    const SimulatedTrainings three = simulate_trainings(process, {500, 11, 3});
    CHECK(one.durations == three.durations);
    CHECK(one.account == three.account);
    CHECK(simulate_trainings(process, {500, 12, 1}).durations != one.durations);
}

TEST_CASE("nine trainings of ten lie in the interval, and the deadline follows the same curve")
{
    WholeTrainingRequest request = failing(20);
    request.deadline = Seconds(103.2 * day);
    const WholeTraining training = answer(request);
    const SimulatedTrainings simulated = simulate_trainings(training.process, {4000, 5, 2});
    const double inside =
        simulated.share_within(training.time.high) - simulated.share_within(training.time.low);
    CHECK(std::abs(inside - 0.9) < 0.02); // a standard error is 0.005
    CHECK(std::abs(*training.in_time - simulated.share_within(*request.deadline)) < 0.04);
}

TEST_CASE("how sure the step time is widens the interval of the training")
{
    WholeTrainingRequest request = calm();
    const double mean = answer(request).time.mean().value();
    request.step_time_low = request.step_time * 0.8;
    request.step_time_high = request.step_time * 1.3;
    request.deadline = Seconds(1.3 * mean);
    const WholeTraining training = answer(request); // nothing fails: as wide as the step's
    CHECK_THAT(training.wall.low.value(), WithinRel(0.8 * mean, 1e-9));
    CHECK_THAT(training.wall.high.value(), WithinRel(1.3 * mean, 1e-9));
    CHECK_THAT(*training.in_time, WithinRel(0.95, 1e-6));
    request.deadline = Seconds(mean);
    CHECK_THAT(*answer(request).in_time, WithinAbs(0.5, 1e-9));
    CHECK(!answer(request).meets_deadline());
    request.certainty = 0.5;
    CHECK(answer(request).meets_deadline());
}

TEST_CASE("nine of ten trainings whose steps take longer or shorter lie in the interval")
{
    WholeTrainingRequest request = failing(20);
    request.step_time_low = request.step_time * 0.9;
    request.step_time_high = request.step_time * 1.15;
    const WholeTraining training = answer(request);
    const SimulatedTrainings simulated = simulate_trainings(training.process, {4000, 5, 2});
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    int inside = 0;
    for (const Seconds duration : simulated.durations) {
        const double z = normal(random) / 1.6448536269514722;
        const Seconds wall = duration * std::pow(z < 0 ? 1 / 0.9 : 1.15, z);
        inside += training.wall.low <= wall && wall <= training.wall.high ? 1 : 0;
    }
    CHECK(std::abs(inside / 4000.0 - 0.9) < 0.02);
}

TEST_CASE("131,072 GPUs and a million steps are one of thousands a second")
{
    WholeTrainingRequest request = calm();
    request.gpus = 131'072;
    request.tokens = 4e6 * 1e6;
    request.parameters = 1e12;
    request.failures.mtbf_per_gpu = Seconds(50'000 * hour);
    const WholeTraining training = answer(request);
    CHECK(training.time.failures > 1000);
    CHECK(simulate_trainings(training.process, {1000, 1, 2}).durations.size() == 1000);
}

TEST_CASE("a training that fails before its first checkpoint each time is refused with a reason")
{
    WholeTrainingRequest request = failing(0.01);
    request.checkpoints.interval = Seconds(hour);
    const auto training = whole_training(request);
    REQUIRE_FALSE(training);
    CHECK(training.error().front().message.find("never ends") != std::string::npos);
}

TEST_CASE("contradictions name both sides")
{
    WholeTrainingRequest request = failing(10);
    SECTION("a checkpoint that is due before the last is written")
    {
        request.checkpoints.interval = 30_s;
        const Problems problems = problems_of(request);
        REQUIRE(problems.size() == 1);
        CHECK(problems.front().message == "a checkpoint every 30 s takes 60 s to write");
    }
    SECTION("both prices")
    {
        request.prices.gpu_hour = 2;
        request.prices.node_hour = 16;
        CHECK(problems_of(request).size() == 1);
    }
    SECTION("a time and what it follows from")
    {
        request.checkpoints.bandwidth = 10_GBps;
        CHECK(problems_of(request).front().pointer == "/checkpoints/time");
    }
    SECTION("ranges are those of the fields")
    {
        request.evaluation = -1;
        CHECK(problems_of(request).front().pointer == "/evaluation");
    }
}

TEST_CASE("a request is written and read as JSON")
{
    WholeTrainingRequest request = failing(10);
    request.ramp = {{1e9, 1e6, 2_s}};
    request.prices.gpu_hour = 2.5;
    Problems problems;
    WholeTrainingRequest again;
    const Json json = fields_of<WholeTrainingRequest>().write(request);
    fields_of<WholeTrainingRequest>().read(Reader(json, "request.json", problems), again);
    CHECK(problems.empty());
    CHECK(again == request);
}

// 100 days x 24 h x 1,024 GPUs at 2.5.
TEST_CASE("rent is paid for every GPU and hour, spares too")
{
    WholeTrainingRequest request = calm();
    request.failures.restart = 0_s;
    request.checkpoints.time = 0_s;
    request.prices.gpu_hour = 2.5;
    request.device = "H100-SXM5-80GB";
    WholeTraining training = answer(request);
    CHECK_THAT(*training.cost.money, WithinRel(100 * 24 * 1024 * 2.5, 1e-12));
    // (700 W x 0.85 + 2,800 W / 8) x 1.2 for each of 1,024 GPUs.
    CHECK_THAT(*training.cost.energy_kwh, WithinRel(2400 * 1024 * 1.2 * 0.945, 1e-9));
    request.failures.spare_nodes = 12;
    CHECK_THAT(*answer(request).cost.money, WithinRel(100 * 24 * 1120 * 2.5, 1e-12));
    request.prices = {};
    request.prices.node_hour = 20;
    CHECK_THAT(*answer(request).cost.money, WithinRel(100 * 24 * 140 * 20.0, 1e-12));
}

// 88 GPUs wait for a node that is repaired about once in a month: a spare would cost more all
// along.
TEST_CASE("spare nodes that are not asked for are those that make the training cheapest")
{
    WholeTrainingRequest request = failing(48);
    request.failures.replaced = 0.6;
    request.failures.spare_nodes.reset();
    const auto with_gpus = [&](int gpus) {
        request.gpus = gpus;
        request.failures.mtbf_per_gpu = Seconds(50'000 * hour);
        return answer(request);
    };
    CHECK(with_gpus(88).process.spare_nodes == 0);
    for (const bool priced : {false, true}) {
        if (priced)
            request.prices.gpu_hour = 2.5;
        for (const int gpus : {256, 1024, 16'384}) {
            const WholeTraining best = with_gpus(gpus);
            CHECK(best.process.spare_nodes > 0);
            for (const int off : {-1, 1}) {
                WholeTrainingRequest other = request;
                other.failures.spare_nodes = best.process.spare_nodes + off;
                CHECK(best.cost.gpu_hours <= answer(other).cost.gpu_hours);
            }
        }
    }
    request.failures.replaced = 0;
    CHECK(with_gpus(1024).process.spare_nodes == 0);
}

TEST_CASE("a budget is kept as surely as a deadline, for both follow the days")
{
    WholeTrainingRequest request = failing(20);
    request.step_time_low = request.step_time * 0.8;
    request.step_time_high = request.step_time * 1.3;
    request.prices.gpu_hour = 2;
    const WholeTraining plain = answer(request);
    CHECK_FALSE(plain.in_budget);
    CHECK(plain.meets_budget());
    request.deadline = plain.time.mean() * 1.1;
    request.budget = *plain.cost.money * 1.1;
    const WholeTraining near = answer(request);
    CHECK_THAT(*near.in_budget, WithinRel(*near.in_time, 1e-9));
    CHECK(near.meets_budget() == near.meets_deadline());
    request.budget = *plain.cost.money * (plain.wall.high / plain.time.mean());
    CHECK_THAT(*answer(request).in_budget, WithinAbs(0.95, 0.001));
}

TEST_CASE("what moves the days most comes first, and prices move only the cost")
{
    WholeTrainingRequest request = failing(10);
    request.prices.gpu_hour = 2;
    const WholeTraining training = answer(request);
    const auto moved = training_sensitivities(training);
    REQUIRE(moved.size() > 4);
    CHECK(moved.front().name == "step time");
    CHECK(moved.back().name == "price of a GPU hour");
    CHECK(moved.back().swing(training.time.mean()) == 0);
    for (std::size_t i = 1; i < moved.size(); ++i)
        CHECK(moved[i - 1].swing(training.time.mean()) >= moved[i].swing(training.time.mean()));
    // Steps are all but a constant part of the time.
    CHECK(*moved.front().low_wall < training.time.mean());
    CHECK(training.time.mean() < *moved.front().high_wall);
}

TEST_CASE("metamorphic: more failures, slower checkpoints and slower restarts never help")
{
    const Seconds base = answer(failing(10)).time.mean();
    WholeTrainingRequest worse = failing(9);
    CHECK(answer(worse).time.mean() > base);
    worse = failing(10);
    worse.checkpoints.time = 70_s;
    CHECK(answer(worse).time.mean() > base);
    worse = failing(10);
    worse.failures.restart = 700_s;
    CHECK(answer(worse).time.mean() > base);
    WholeTrainingRequest better = failing(10);
    better.checkpoints.asynchronous = true;
    better.checkpoints.block = 1_s;
    CHECK(answer(better).time.mean() < base);
}

#include "sim/report/flops.h"
#include "tests/catch.h"
#include "tests/unit/report/small_outcome.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("hardware operations are the kernels of every use by every rank")
{
    // Four ranks, two micro-batches, one forward and two forwards' worth of backward each.
    const double expected = 4 * 2 * 3 * forward_flops;
    for (const Lanes lanes : {Lanes::all, Lanes::folded}) {
        const Outcome outcome = small_outcome(lanes);
        CHECK_THAT(hardware_flops_per_step(outcome.job, *outcome.plan, *outcome.binding).value(),
                   WithinRel(expected, 1e-12));
    }
}

TEST_CASE("tokens that experts drop are no model operations")
{
    Strategy strategy;
    strategy.dp = strategy.ep = 4;
    const auto flops = [&](const std::optional<double>& factor) {
        strategy.experts.capacity_factor = factor;
        return model_flops_per_step(
                   testing::job_of(testing::small_mixture(), strategy, testing::training_of(4)))
            .value();
    };
    const double all = flops(std::nullopt);
    CHECK(flops(1.0) == all);
    const double half = flops(0.5);
    CHECK(half < all);
    CHECK_THAT(all - flops(0.75), WithinRel((all - half) / 2, 1e-9));
    // Of skewed loads those above the cap lose.
    strategy.experts.load = ExpertLoad::histogram;
    strategy.experts.shares = {1, 1, 1, 5};
    CHECK(flops(std::nullopt) == all);
    CHECK_THAT(all - flops(1.5), WithinRel((all - half) * 2 * 0.25, 1e-9));
    for (const double factor : {0.1, 0.5, 1.0, 2.0}) {
        strategy.experts.capacity_factor = factor;
        const Job job =
            testing::job_of(testing::small_mixture(), strategy, testing::training_of(4));
        const Plan plan = make_plan(job);
        const Binding binding = bind(plan, job, testing::h100_nodes(1), testing::h100_costs(), {});
        CHECK(model_flops_per_step(job) <= hardware_flops_per_step(job, plan, binding));
    }
}

TEST_CASE("uneven loads of experts move operations and add none")
{
    const auto executed = [](ExpertLoad load, double exponent) {
        Strategy strategy;
        strategy.dp = strategy.ep = 4;
        strategy.experts.load = load;
        strategy.experts.exponent = exponent;
        const Job job =
            testing::job_of(testing::small_mixture(), strategy, testing::training_of(4));
        const Plan plan = make_plan(job);
        const Binding binding = bind(plan, job, testing::h100_nodes(1), testing::h100_costs(), {});
        return hardware_flops_per_step(job, plan, binding).value();
    };
    const double even = executed(ExpertLoad::uniform, 0);
    for (const double exponent : {0.3, 1.2})
        CHECK_THAT(executed(ExpertLoad::power_law, exponent), WithinRel(even, 0.01));
}

TEST_CASE("a device that computes at its peak all the time has a utilisation of one")
{
    CHECK_THAT(flops_utilization(Flops(8e15), Seconds(2), FlopRate(1e15), 4),
               WithinRel(1.0, 1e-12));
    CHECK(flops_utilization(Flops(1), Seconds(0), FlopRate(1e15), 4) == 0.0);
}

TEST_CASE("the peak is that of the number format of most matrix products")
{
    Plan plan = *small_outcome().plan;
    CHECK(main_precision(plan, Precision::fp32) == Precision::bf16);
    // One more product in fp8, larger than all others together.
    Kernel kernel = std::get<Kernel>(plan.compute[0].kernels[0]);
    kernel.precision = Precision::fp8;
    kernel.gemm.batch = 10;
    plan.compute[2].kernels = {kernel};
    CHECK(main_precision(plan, Precision::fp32) == Precision::fp8);
    CHECK(main_precision(Plan{}, Precision::fp32) == Precision::fp32);
}

TEST_CASE("a product counts as often as it runs, for the number format of most of them")
{
    Plan plan = *small_outcome().plan;
    for (std::size_t layers : {0, 1})
        for (WorkItem& item : plan.compute[layers].kernels)
            std::get<Kernel>(item).precision = Precision::fp8;
    // The head runs once per role where the layers run twice forward and twice backward (of twice
    // the work): 4 of 16 parts, though it is larger than either.
    Kernel head = std::get<Kernel>(plan.compute[1].kernels[0]);
    head.precision = Precision::bf16;
    head.gemm.batch = 4;
    plan.compute[2].kernels = {head};
    CHECK(main_precision(plan, Precision::bf16) == Precision::fp8);
}

TEST_CASE("what the optimizer multiplies counts neither for HFU nor for its peak")
{
    const Outcome outcome = small_outcome();
    Plan plan = *outcome.plan;
    Kernel product = std::get<Kernel>(plan.compute[0].kernels[0]);
    product.precision = Precision::fp8;
    product.gemm.batch = 100;
    plan.compute[2].kernels = {product};
    plan.compute[2].phase = Phase::optimizer;
    CHECK(main_precision(plan, Precision::fp32) == Precision::bf16);
    CHECK_THAT(
        hardware_flops_per_step(outcome.job, plan, *outcome.binding).value(),
        WithinRel(hardware_flops_per_step(outcome.job, *outcome.plan, *outcome.binding).value(),
                  1e-12));
}

TEST_CASE("halving the step time doubles MFU and HFU")
{
    Outcome outcome = small_outcome();
    const Summary slow = summarize(outcome);
    outcome.step_time.value = outcome.step_time.value / 2.0;
    const Summary fast = summarize(outcome);
    CHECK_THAT(fast.mfu, WithinRel(2 * slow.mfu, 1e-12));
    CHECK_THAT(fast.hfu, WithinRel(2 * slow.hfu, 1e-12));
    CHECK(slow.mfu > 0);
}

#include "sim/base/build_info.h"
#include "sim/report/flops.h"
#include "sim/report/kernel_classes.h"
#include "tests/catch.h"
#include "tests/support/shipped_outcome.h"
#include "tests/unit/report/small_outcome.h"

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Seconds compute_of(const LaneTotals& lane)
{
    Seconds sum;
    for (const TimeKind kind : {TimeKind::forward, TimeKind::backward, TimeKind::recompute,
                                TimeKind::optimizer, TimeKind::other_compute})
        sum += to_seconds(lane.time[static_cast<std::size_t>(kind)]);
    return sum;
}

const KernelClass& find(const std::vector<KernelClass>& classes, KernelPart part, Phase phase)
{
    const auto found = std::ranges::find_if(
        classes, [&](const KernelClass& one) { return one.part == part && one.phase == phase; });
    REQUIRE(found != classes.end());
    return *found;
}

KernelPart part_of(KernelUse use, bool norm = false, KernelKind kind = KernelKind::memory_bound)
{
    Kernel kernel;
    kernel.use = use;
    kernel.norm = norm;
    kernel.kind = kind;
    return kernel_part(kernel);
}

// The job that can be done by hand, on a device with rates.
Outcome small_on_h100()
{
    Outcome outcome = small_outcome();
    outcome.cost = outcome_of("llama3-8b-h100-8.json").cost;
    return outcome;
}

const std::vector<std::string> shipped{"llama3-8b-h100-8.json", "llama3-70b-h100-64.json",
                                       "gpt2-xl-fsdp-4.json", "resnet50-ddp-8.json",
                                       "mixtral-8x7b-ep8-h100-64.json"};

} // namespace

TEST_CASE("kernels count as often as their ops run, each class apart")
{
    const Outcome outcome = small_on_h100();
    const std::vector<KernelClass> classes = kernel_classes(outcome, LaneId{0});
    // Two forwards of one product, two backwards of twice the work; the update has no kernels: its
    // two milliseconds are of no part.
    REQUIRE(classes.size() == 2);
    for (const KernelClass& one : classes)
        if (one.part == KernelPart::other)
            CHECK_THAT(one.time.value(), WithinRel(2e-3, 1e-12));
    const Phase forward = Phase::other; // the hand-made requests say no phase
    const KernelClass& products = find(classes, KernelPart::attention, forward);
    CHECK(products.count == 4);
    CHECK_THAT(products.flops.value(), WithinRel(2 * 3 * forward_flops, 1e-12));
    CHECK_THAT(products.time.value(), WithinRel(60e-3, 1e-12)); // 2 x (10 + 20) ms
    REQUIRE(products.rows.size() == 2);
    CHECK(products.rows[0].shape == "2 of 8192 x 8192 x 8192");
    CHECK(products.rows[1].shape == "8192 x 8192 x 8192");
}

TEST_CASE("a kernel's use says which part of a layer it is")
{
    CHECK(part_of(KernelUse::attention) == KernelPart::attention);
    CHECK(part_of(KernelUse::attention, true) == KernelPart::norm);
    CHECK(part_of(KernelUse::residual_stream, true) == KernelPart::norm);
    CHECK(part_of(KernelUse::mlp) == KernelPart::mlp);
    CHECK(part_of(KernelUse::mlp, true) == KernelPart::norm);
    CHECK(part_of(KernelUse::embedding) == KernelPart::embedding);
    CHECK(part_of(KernelUse::head) == KernelPart::head);
    CHECK(part_of(KernelUse::attention_square) == KernelPart::attention);
    CHECK(part_of(KernelUse::router) == KernelPart::experts);
    CHECK(part_of(KernelUse::expert) == KernelPart::experts);
    CHECK(part_of(KernelUse::states) == KernelPart::states);
    CHECK(part_of(KernelUse::convolution, false, KernelKind::gemm) == KernelPart::product);
    CHECK(part_of(KernelUse::convolution) == KernelPart::elementwise);
}

TEST_CASE("the classes' times are the compute time of the rank")
{
    for (const std::string& scenario : shipped) {
        INFO(scenario);
        const Outcome outcome = outcome_of(scenario);
        const LaneId lane = outcome.result->critical_lane;
        Seconds sum;
        for (const KernelClass& one : kernel_classes(outcome, lane)) {
            sum += one.time;
            const Seconds parts = one.by[0] + one.by[1] + one.by[2];
            if (one.part != KernelPart::other)
                CHECK_THAT(parts.value(), WithinRel(one.time.value(), 1e-9));
            Seconds rows;
            for (const KernelRow& row : one.rows)
                rows += row.time;
            if (one.part != KernelPart::other)
                CHECK_THAT(rows.value(), WithinRel(one.time.value(), 1e-9));
        }
        // Rounding to picoseconds, op by op.
        CHECK_THAT(compute_of(outcome.result->lanes[lane.value]).value(),
                   WithinRel(sum.value(), 1e-6));
    }
}

TEST_CASE("the classes' operations are those of the passes")
{
    for (const std::string& scenario : shipped) {
        INFO(scenario);
        const Outcome outcome = outcome_of(scenario);
        double sum = 0;
        for (std::size_t i = 0; i < outcome.binding->lanes.size(); ++i)
            for (const KernelClass& one : kernel_classes(outcome, make_id<LaneId>(i)))
                if (one.phase != Phase::optimizer)
                    sum += one.flops.value() * outcome.binding->lanes[i].multiplicity;
        CHECK_THAT(
            sum,
            WithinRel(hardware_flops_per_step(outcome.job, *outcome.plan, *outcome.binding).value(),
                      1e-9));
    }
}

TEST_CASE("without recomputation a dense decoder executes the model's operations")
{
    // Fused attention runs its scores again in backward: some per cent more.
    const Outcome outcome = outcome_of("llama3-8b-h100-8.json", {{"training.recompute", "none"}});
    double sum = 0;
    for (const KernelClass& one : kernel_classes(outcome, LaneId{0}))
        sum += one.flops.value();
    const double model = model_flops_per_step(outcome.job).value() / outcome.job.world();
    CHECK(sum > model);
    CHECK(sum < 1.05 * model);
}

TEST_CASE("large products are bound by compute, norms and updates by memory")
{
    const Outcome outcome = outcome_of("llama3-8b-h100-8.json");
    const std::vector<KernelClass> classes = kernel_classes(outcome, LaneId{0});
    const KernelClass& mlp = find(classes, KernelPart::mlp, Phase::forward);
    const KernelClass& norm = find(classes, KernelPart::norm, Phase::forward);
    const KernelClass& update = find(classes, KernelPart::states, Phase::optimizer);
    CHECK(mlp.limit() == KernelLimit::compute);
    CHECK(norm.limit() == KernelLimit::memory);
    CHECK(update.limit() == KernelLimit::memory);
    CHECK(norm.intensity() == 0);
    // No rate is above its roof.
    const std::vector<Roof> roofs = roofs_of(outcome, classes);
    REQUIRE(roofs.size() == 1);
    CHECK(roofs[0].precision == Precision::bf16);
    const Bandwidth memory = outcome.cost->profile().hardware.device.hbm_bandwidth;
    for (const KernelClass& one : classes) {
        CHECK((one.flops / one.time) <= roofs[0].peak);
        CHECK(one.bytes / one.time.value() <= memory.value());
    }
    CHECK((mlp.flops / mlp.time) <= roofs[0].reachable);
}

TEST_CASE("a rank on a slower device takes as much longer for the same work")
{
    Outcome outcome = small_on_h100();
    Plan plan = *outcome.plan;
    plan.program.scale_slots = 1;
    for (Block& block : plan.program.blocks)
        for (Op& op : block.ops)
            if (op.kind == OpKind::compute)
                op.scale = ScaleSlot{0};
    Binding binding = *outcome.binding;
    for (Lane& lane : binding.lanes)
        lane.scales = {full_share};
    binding.lanes[1].scales = {full_share * 3 / 2};
    outcome.plan = std::make_shared<const Plan>(std::move(plan));
    outcome.binding = std::make_shared<const Binding>(std::move(binding));
    const auto time = [&](LaneId lane) {
        Seconds sum;
        for (const KernelClass& one : kernel_classes(outcome, lane))
            sum += one.time;
        return sum;
    };
    CHECK_THAT(time(LaneId{1}).value(), WithinRel(1.5 * time(LaneId{0}).value(), 1e-12));
}

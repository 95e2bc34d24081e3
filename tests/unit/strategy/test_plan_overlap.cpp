// What runs beside what: data-parallel traffic with hand-made costs.

#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

// `layers` equal layers of 1,000,000 parameters each, nothing else.
JobWork equal_layers(int layers)
{
    KindOfLayer kind;
    Kernel product;
    product.kind = KernelKind::gemm;
    product.name = "mlp";
    product.gemm = {64, 64, 64, 1};
    kind.work.forward = {product};
    kind.work.backward = {product};
    kind.held.parameters.dense = kind.held.trained.dense = 1e6;
    JobWork work;
    work.kinds = {kind};
    work.stages = {std::vector<std::size_t>(static_cast<std::size_t>(layers), 0)};
    return work;
}

struct Case {
    Strategy strategy;
    int layers = 4;
    int micro_batches = 1;
    Seconds transfer_per_layer = Seconds(0); // of one pass over a layer's bytes
};

// Forward takes 1 ms per layer, backward 2 ms, a transfer the given time per layer's worth of
// bytes; the rest nothing.
Seconds step_time(Case c)
{
    c.strategy.dp = 2;
    Training training = training_of(2 * c.micro_batches);
    training.fp32_gradients = false;
    Model model = small_decoder();
    std::get<Transformer>(model.architecture).layers = c.layers;
    const Job job = job_of(model, c.strategy, training);
    const Plan plan = lower(job, equal_layers(c.layers));
    const Binding bound = bind(plan, job, h100_nodes(1), h100_costs(), {});
    const ToyCosts costs{phase_costs(1.0_ms, 2.0_ms),
                         [&](const TransferRequest& request) {
                             const double layers = static_cast<double>(request.bytes.value()) / 2e6;
                             return c.transfer_per_layer * layers;
                         },
                         Seconds(0)};
    return to_seconds(run(plan.program, with_costs(bound, plan, costs), 4).step_time);
}

Strategy ddp(bool overlap)
{
    Strategy strategy;
    strategy.overlap.dp = overlap;
    strategy.first_bucket = Bytes(2'000'000); // a layer's gradients
    strategy.bucket_cap = Bytes(2'000'000);
    return strategy;
}

Strategy fsdp(int prefetch)
{
    Strategy strategy;
    strategy.zero = 3;
    strategy.prefetch = prefetch;
    return strategy;
}

} // namespace

TEST_CASE("overlapped DDP exposes the last bucket when communication is the faster")
{
    // 4 layers: forward 4 ms, backward 8 ms, then the first layer's bucket alone.
    CHECK(step_time({ddp(true), 4, 1, 1.0_ms}).value() == Approx(13e-3));
    // Without overlap all four buckets follow.
    CHECK(step_time({ddp(false), 4, 1, 1.0_ms}).value() == Approx(16e-3));
}

TEST_CASE("overlapped DDP is bound by communication when that is the slower")
{
    // Forward 4 ms and the last layer's backward 2 ms, then four buckets of 5 ms in a row.
    CHECK(step_time({ddp(true), 4, 1, 5.0_ms}).value() == Approx(26e-3));
}

TEST_CASE("gradient accumulation exchanges gradients with the last micro-batch only")
{
    CHECK(step_time({ddp(true), 4, 3, 1.0_ms}).value() == Approx(37e-3));
    CHECK(step_time({ddp(false), 4, 3, 1.0_ms}).value() == Approx(40e-3));
}

TEST_CASE("the distributed optimizer hides its gathers beside the next step's first forward pass")
{
    // One bucket holds all 4 layers here, so nothing hides: the sums are those without overlap.
    Strategy strategy;
    strategy.zero = 1;
    for (const bool overlap : {false, true}) {
        strategy.overlap.dp = overlap;
        CHECK(step_time({strategy, 4, 1, 1.0_ms}).value() == Approx(20e-3));
    }
    // 80 layers of 2 MB and buckets of 80 MB (40 layers): of each sum of 80 transfers, half is
    // exposed (the last reduction, the first gather) and half is hidden.
    strategy.overlap.dp = true;
    CHECK(step_time({strategy, 80, 1, 1.0_ms}).value() == Approx(240e-3 + 40e-3 + 40e-3));
    strategy.overlap.dp = false;
    CHECK(step_time({strategy, 80, 1, 1.0_ms}).value() == Approx(240e-3 + 160e-3));
}

TEST_CASE("FSDP hides gathers behind the layer before them, unless nothing is fetched ahead")
{
    // Gather 0.5 ms: forward waits for the first only; in backward the last layer is still whole
    // and each gather runs beside the layer before; reductions of 0.5 ms run beside the next layer
    // but for the last one.
    CHECK(step_time({fsdp(1), 4, 1, 0.5_ms}).value() == Approx(12e-3 + 0.5e-3 + 0.5e-3));
    // Without prefetch each of 4 + 3 gathers is exposed; in backward it also waits behind the
    // reduction issued before it.
    CHECK(step_time({fsdp(0), 4, 1, 0.5_ms}).value() ==
          Approx(12e-3 + 7 * 0.5e-3 + 3 * 0.5e-3 + 0.5e-3));
}

TEST_CASE("FSDP bound by communication takes the sum of its transfers")
{
    // Gathers 4 and 3, reductions 4, each 10 ms on one stream. The last gather is followed by two
    // layers' backward passes: before the first reduction (2 ms after the gather of nothing) and
    // after the last gather (2 ms), the stream waits for compute.
    const double step = step_time({fsdp(2), 4, 1, 10.0_ms}).value();
    CHECK(step > 110e-3);
    CHECK(step < 110e-3 + 12e-3);
}

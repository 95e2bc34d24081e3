// Messages between the stages of a pipeline.

#include "tests/catch.h"
#include "tests/unit/strategy/pipelines.h"

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

TEST_CASE("with two stages each micro-batch of 1F1B waits for one batched exchange")
{
    // The last stage starts F + x after the first, works m (F + B) with an exchange (activation one
    // way, gradient the other) between micro-batches, and the last gradient takes x + B more:
    // F + x + m (F + B) + (m - 1) x + x + B.
    const Pipeline pipeline{"1f1b", {2, 1, 6}};
    const SimTime step =
        run(pipeline, {.forward = 1.0_ms, .input = 1.0_ms, .weights = 1.0_ms, .message = 0.1_ms})
            .result.step_time;
    CHECK(to_seconds(step).value() == Approx(1.1e-3 + 18e-3 + 5 * 0.1e-3 + 2.1e-3).epsilon(1e-9));
}

TEST_CASE("each boundary carries s b h W bytes per micro-batch and direction")
{
    Strategy strategy;
    strategy.pp = 4;
    strategy.overlap.pp = GENERATE(false, true);
    const Job job = job_of(small_decoder(), strategy, training_of(8));
    const Plan plan = make_plan(job);
    // Stage 1 has both neighbours: 8 activations and 8 gradients each way.
    const Role& role = plan.program.roles[1];
    int sends = 0;
    int receives = 0;
    for_each_op(plan.program, role, [&](const Block& block, const Op& op, const BlockUse&) {
        for (std::size_t i = 0; i < op.part_count; ++i) {
            const ExchangePart& part = block.parts[op.part_first + i];
            CHECK(plan.transfers[part.cost.value].bytes == Bytes(1024 * 1024 * 2));
            (part.direction == Direction::send ? sends : receives) += 1;
        }
    });
    CHECK(sends == 16);
    CHECK(receives == 16);
}

TEST_CASE("interleaved stages without sequence parallelism send shares and gather them")
{
    // Narayanan 2021, section 4.1: each of t ranks sends 1/t of what all of them hold.
    Strategy strategy;
    strategy.tp = 4;
    strategy.pp = 2;
    strategy.vpp = 2;
    strategy.sequence_parallel = GENERATE(false, true);
    const Job job = job_of(small_decoder(), strategy, training_of(4));
    const Plan plan = make_plan(job);
    const Bytes whole(1024 * 1024 * 2);
    for (const TransferRequest& request : plan.transfers)
        if (request.kind == CollectiveKind::send_receive)
            CHECK(request.bytes == whole / 4);
    // The first stage receives 4 micro-batches forward for its second chunk and 2 x 4 backward.
    const Volume gathered = volume(plan, 0, CollectiveKind::all_gather, GroupKind::tp);
    if (!*strategy.sequence_parallel)
        CHECK(gathered.bytes == 12.0 * static_cast<double>(whole.value()));
}

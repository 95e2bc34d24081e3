// Pipeline programs with hand-made costs: bubbles as the papers give them, and messages.

#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

struct Pipeline {
    int stages;
    int chunks;
    int micro_batches;
    std::string schedule;
};

// Equal layers, one per virtual stage, nothing else: no embedding, no head.
JobWork equal_stages(const Pipeline& pipeline)
{
    KindOfLayer kind;
    Kernel product;
    product.kind = KernelKind::gemm;
    product.name = "mlp";
    product.gemm = {64, 64, 64, 1};
    kind.work.forward = {product};
    kind.work.backward = {product};
    kind.work.output = 1_MiB;
    kind.held.kept = 1_MiB;
    JobWork work;
    work.kinds = {kind};
    work.stages.assign(static_cast<std::size_t>(pipeline.stages * pipeline.chunks), {0});
    return work;
}

Job job_for(const Pipeline& pipeline, bool overlap)
{
    Strategy strategy;
    strategy.pp = pipeline.stages;
    strategy.vpp = pipeline.chunks;
    strategy.schedule = pipeline.schedule;
    strategy.overlap.pp = overlap;
    Model model = small_decoder();
    std::get<Transformer>(model.architecture).layers = pipeline.stages * pipeline.chunks;
    return job_of(model, strategy, training_of(pipeline.micro_batches));
}

// Step time over the time of one stage's own work.
double relative_step(const Pipeline& pipeline, bool overlap)
{
    const Job job = job_for(pipeline, overlap);
    const Plan plan = lower(job, equal_stages(pipeline));
    const Binding bound = bind(plan, job, h100_nodes(4), h100_costs(), {});
    const ToyCosts costs{phase_costs(1.0_ms, 2.0_ms), nullptr, Seconds(0)};
    const SimTime step = run(plan.program, with_costs(bound, plan, costs)).step_time;
    return to_seconds(step) / (3.0_ms * (pipeline.micro_batches * pipeline.chunks));
}

} // namespace

TEST_CASE("with free messages a pipeline idles (p-1)/m of the ideal time, interleaved (p-1)/(v m)")
{
    // Huang 2019, Narayanan 2021: a step takes 1 + (p-1)/(v m) of the work of one stage.
    const Pipeline pipeline =
        GENERATE(Pipeline{1, 1, 3, "1f1b"}, Pipeline{2, 1, 1, "1f1b"}, Pipeline{2, 1, 5, "gpipe"},
                 Pipeline{4, 1, 8, "1f1b"}, Pipeline{4, 1, 8, "gpipe"}, Pipeline{5, 1, 3, "1f1b"},
                 Pipeline{8, 1, 16, "1f1b"}, Pipeline{2, 2, 4, "interleaved-1f1b"},
                 Pipeline{4, 2, 4, "interleaved-1f1b"}, Pipeline{4, 3, 8, "interleaved-1f1b"},
                 Pipeline{3, 4, 9, "interleaved-1f1b"});
    const bool overlap = GENERATE(false, true);
    CAPTURE(pipeline.schedule, pipeline.stages, pipeline.chunks, pipeline.micro_batches, overlap);
    const double bubble = (pipeline.stages - 1.0) / (pipeline.chunks * pipeline.micro_batches);
    CHECK_THAT(relative_step(pipeline, overlap), WithinRel(1 + bubble, 1e-9));
}

TEST_CASE("with two stages each micro-batch of 1F1B waits for one batched exchange")
{
    // The last stage starts F + x after the first, works m (F + B) with an exchange (activation one
    // way, gradient the other) between micro-batches, and the last gradient takes x + B more:
    // F + x + m (F + B) + (m - 1) x + x + B.
    const Pipeline pipeline{2, 1, 6, "1f1b"};
    const Job job = job_for(pipeline, false);
    const Plan plan = lower(job, equal_stages(pipeline));
    const Binding bound = bind(plan, job, h100_nodes(1), h100_costs(), {});
    const ToyCosts costs{phase_costs(1.0_ms, 2.0_ms),
                         [](const TransferRequest& request) {
                             return request.kind == CollectiveKind::send_receive ? 0.1_ms
                                                                                 : Seconds(0);
                         },
                         Seconds(0)};
    const SimTime step = run(plan.program, with_costs(bound, plan, costs)).step_time;
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

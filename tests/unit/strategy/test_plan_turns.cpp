// Forward passes beside backward passes: the exchange between experts of one runs beside the
// compute of the other.

#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::literals;
using namespace trainyard::testing;

namespace {

constexpr int micro_batches = 6;

Job expert_job(const std::string& schedule, int pp, int vpp, bool turns, int count)
{
    Strategy strategy;
    strategy.ep = 2;
    strategy.dp = 2;
    strategy.pp = pp;
    strategy.vpp = vpp;
    strategy.schedule = schedule;
    strategy.overlap.ep = turns;
    return job_of(small_mixture(), strategy, training_of(2 * count));
}

// Every compute op 1 ms, every exchange between experts too.
SimTime step_of(const Job& job)
{
    const Plan plan = make_plan(job);
    const ToyCosts costs{
        [](const ComputeRequest& request) {
            return request.phase == Phase::forward || request.phase == Phase::backward ? 1.0_ms
                                                                                       : Seconds(0);
        },
        [](const TransferRequest& request) {
            return request.kind == CollectiveKind::all_to_all ? 1.0_ms : Seconds(0);
        },
        Seconds(0)};
    return run(plan.program,
               with_costs(bind(plan, job, h100_nodes(2), h100_costs(), {}), plan, costs))
        .step_time;
}

double milliseconds(SimTime time)
{
    return to_seconds(time).value() * 1e3;
}

} // namespace

TEST_CASE("in turns only the first forward and the last backward pass wait for their exchanges")
{
    // 8 layers with a dispatch and a combine each way: 32 ms per micro-batch, all of them exposed
    // without turns. In turns those of one forward and one backward pass are left.
    const double plain = milliseconds(step_of(expert_job("1f1b", 1, 1, false, micro_batches)));
    const double turns = milliseconds(step_of(expert_job("1f1b", 1, 1, true, micro_batches)));
    CHECK(plain - turns == Approx(32.0 * (micro_batches - 1)));
}

TEST_CASE("turns keep every op and move the same bytes")
{
    for (const auto& [schedule, pp, vpp] :
         {std::tuple("1f1b", 1, 1), std::tuple("interleaved-1f1b", 2, 2)})
    {
        const Plan plain = make_plan(expert_job(schedule, pp, vpp, false, micro_batches));
        const Plan turns = make_plan(expert_job(schedule, pp, vpp, true, micro_batches));
        for (int stage = 0; stage < pp; ++stage) {
            const auto s = static_cast<std::size_t>(stage);
            CHECK(op_count(plain.program, plain.program.roles[s]) ==
                  op_count(turns.program, turns.program.roles[s]));
            CHECK(volume(plain, stage, CollectiveKind::all_to_all, GroupKind::ep).bytes ==
                  volume(turns, stage, CollectiveKind::all_to_all, GroupKind::ep).bytes);
        }
    }
}

TEST_CASE("interleaved 1F1B in turns runs one chunk more ahead")
{
    // Megatron-Core's overlap_moe_expert_parallel_comm: one more warm-up pass, so that the pair is
    // of different micro-batches on the last stage, too.
    const PipelineSchedule& schedule = *find_schedule("interleaved-1f1b");
    PipelineShape shape{4, 2, 8};
    const auto plain = schedule.passes(shape, 3);
    shape.in_turns = true;
    const auto turns = schedule.passes(shape, 3);
    CHECK(plain[4].kind == PassKind::forward);
    CHECK(plain[5].kind == PassKind::backward);
    CHECK(turns[5].with_next);
    CHECK(turns[6].kind == PassKind::backward);
}

TEST_CASE("DualPipe hides exchanges that 1F1B waits for")
{
    const double plain = milliseconds(step_of(expert_job("1f1b", 2, 1, false, 8)));
    const double dual = milliseconds(step_of(expert_job("dualpipe", 2, 1, false, 8)));
    // Per device and micro-batch 4 layers x 4 exchanges = 16 ms; the first and last passes of
    // either direction keep theirs.
    CHECK(dual < plain - 16.0 * 4);
}

TEST_CASE("turns are refused where nothing can take them")
{
    JobRequest request;
    request.model = small_mixture();
    request.training = training_of(16);
    request.strategy.ep = 2;
    request.strategy.dp = 2;
    request.strategy.pp = 4;
    request.strategy.overlap.ep = true;
    request.devices = 8;
    const Checked<Job> job = resolve(request);
    REQUIRE_FALSE(job);
    CHECK_THAT(render(job.error(), ""), ContainsSubstring("interleaved-1f1b"));
    request.strategy.pp = 1;
    request.strategy.zero = 3;
    request.devices = 2;
    const Checked<Job> sharded = resolve(request);
    REQUIRE_FALSE(sharded);
    CHECK_THAT(render(sharded.error(), ""), ContainsSubstring("zero"));
}

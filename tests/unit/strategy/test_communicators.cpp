#include "sim/strategy/communicators.h"
#include "tests/catch.h"
#include "tests/unit/strategy/plans.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

CommunicatorStart start_of(const Strategy& strategy)
{
    CollectiveForm form;
    form.creation = Seconds(1);
    form.creation_per_rank = Seconds(0.1);
    return communicator_start(job_of(small_decoder(), strategy, training_of(8)), form);
}

} // namespace

TEST_CASE("groups of the same ranks are one communicator")
{
    Strategy strategy;
    strategy.dp = 8; // dp and the whole job
    CHECK(start_of(strategy).count == 1);
    CHECK(start_of(strategy).time.value() == Approx(1 + 0.8));
    strategy.dp = 1;
    CHECK(start_of(strategy).count == 0);
    CHECK(start_of(strategy).time == Seconds(0));
}

TEST_CASE("every dimension adds a communicator of its size")
{
    Strategy strategy;
    strategy.tp = 2;
    strategy.pp = 2;
    strategy.dp = 2;
    // tp, dp, pp of 2 and the whole job of 8; the ends of two stages are the pipeline.
    CHECK(start_of(strategy).count == 4);
    CHECK(start_of(strategy).time.value() == Approx(4 + 0.2 * 3 + 0.8));
}

TEST_CASE("making communicators is work of the host before the first pass of every step")
{
    Strategy strategy;
    strategy.dp = 2;
    Job job = job_of(small_decoder(), strategy, training_of(2));
    job.communicator_creation = Seconds(2.5);
    const Plan plan = make_plan(job);
    const Role& role = plan.program.roles[0];
    const Op& first = plan.program.blocks[role.order.front().block.value].ops.front();
    CHECK(first.kind == OpKind::host);
    CHECK(plan.compute[first.cost.value].host_time == Seconds(2.5));
}

TEST_CASE("with blocking launches an op takes the host's time and the device's")
{
    Strategy strategy;
    strategy.dp = 1;
    Job job = job_of(small_decoder(), strategy, training_of(1));
    const auto step = [&] {
        const Plan plan = make_plan(job);
        const Binding binding = bind(plan, job, h100_nodes(1), h100_costs(), {});
        return to_seconds(run(plan.program, binding).step_time).value();
    };
    double device = 0;
    double host = 0;
    const Plan plan = make_plan(job);
    const Binding binding = bind(plan, job, h100_nodes(1), h100_costs(), {});
    for_each_op(
        plan.program, plan.program.roles[0], [&](const Block&, const Op& op, const BlockUse&) {
            const auto phase = static_cast<std::size_t>(plan.program.labels[op.label.value].phase);
            if (op.kind == OpKind::compute || op.kind == OpKind::host)
                device += to_seconds(binding.costs.compute[op.cost.value]).value();
            if (op.kind == OpKind::compute)
                host += op.kernels * to_seconds(binding.costs.host_per_kernel[phase]).value();
        });
    CHECK(step() < device + host);
    job.launches.blocking = true;
    CHECK(step() == Approx(device + host).epsilon(0.01));
}

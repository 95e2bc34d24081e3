#include "sim/strategy/plan.h"

#include "sim/strategy/lower/lower.h"

#include <cassert>

namespace trainyard {

namespace {

// Messages between stages are posted together and do not block: stages would wait for each other.
void block_on_every_op(Program& program)
{
    for (Block& block : program.blocks)
        for (Op& op : block.ops)
            if (op.kind != OpKind::exchange && op.kind != OpKind::host)
                op.blocks_host = true;
}

} // namespace

Plan make_plan(const Job& job)
{
    const JobWork work = job_work(job);
    Plan plan = lower(job, work);
    plan.program.layers = layer_names(work);
    if (job.launches.blocking)
        block_on_every_op(plan.program);
    return plan;
}

} // namespace trainyard

#include "sim/strategy/plan.h"

#include "sim/strategy/lower/lower.h"

#include <cassert>

namespace trainyard {

Plan make_plan(const Job& job)
{
    return lower(job, job_work(job));
}

} // namespace trainyard

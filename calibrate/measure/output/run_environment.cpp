#include "calibrate/measure/output/run_environment.h"

namespace trainyard {

Environment environment_of(const MeasuredRun& run)
{
    Environment out;
    out.date = run.started.substr(0, 10);
    out.variables = run.variables;
    out.kernel = run.kernel;
    out.launch = run.launch_style;
    out.machine = run.machine;
    if (run.ranks.empty())
        return out;
    const BackendFacts& facts = run.ranks.front().facts;
    out.host = run.ranks.front().host;
    out.driver = facts.driver;
    out.cuda = facts.cuda;
    if (run.backend == "nccl")
        out.nccl = facts.version;
    else
        out.libraries[facts.name] = facts.version;
    return out;
}

} // namespace trainyard

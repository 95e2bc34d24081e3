#include "sim/engine/engine.h"

namespace trainyard {

namespace {

Checked<Run> ran(Checked<StepResult> result, TierUse use)
{
    if (!result)
        return tl::unexpected(std::move(result.error()));
    return Run{std::move(*result), std::move(use)};
}

} // namespace

Checked<Run> run(const Program& program, const Binding& binding, const RunControl& control)
{
    return ran(run_reference(program, binding, control), {Tier::reference, ""});
}

} // namespace trainyard

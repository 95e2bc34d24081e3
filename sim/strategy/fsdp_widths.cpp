#include "sim/strategy/fsdp_widths.h"

#include "sim/strategy/model_states.h"

namespace trainyard {

bool reduces_in(Precision precision)
{
    return precision == Precision::fp32 || precision == Precision::bf16 ||
           precision == Precision::fp16;
}

bool gathers_in(Precision precision)
{
    return reduces_in(precision) || precision == Precision::fp8;
}

FsdpWidths fsdp_widths(const Job& job)
{
    const FsdpOptions& options = job.strategy.fsdp;
    const StateBytes states = state_bytes(job.training);
    FsdpWidths widths;
    widths.held = states.parameters;
    widths.gathered = widths.computed = states.parameters;
    widths.gradients = widths.reduced = states.gradients;
    if (options.param_dtype) // fp8 tensors are the operands themselves, one byte each
        widths.gathered =
            *options.param_dtype == Precision::fp8 ? 1 : storage_bytes(*options.param_dtype);
    if (options.reduce_dtype)
        widths.reduced = storage_bytes(*options.reduce_dtype);
    return widths;
}

} // namespace trainyard

#pragma once

// Which software ran a measured job, from what its record says in words.

#include "sim/study/record.h"
#include "sim/study/scenario.h"

namespace trainyard {

// Frameworks with habits of their own. Years are of the release, not of the record.
enum class FrameworkFamily : std::uint8_t {
    megatron_2021, // Megatron-LM and what was built on it, to 2022: unfused attention, nothing
                   // overlapped
    megatron_2024, // Megatron-Core, NeMo
    megatron_2025, // Megatron-Core with Transformer Engine 2, Megatron-Bridge
    jax,           // Pax, MaxText
    torch_fsdp_compiled, // torch.compile and FSDP, torchtitan
    torch_fsdp,          // eager FSDP, and whatever is not known
    torch_ddp
};

constexpr bool is_megatron_core(FrameworkFamily family)
{
    return family == FrameworkFamily::megatron_2024 || family == FrameworkFamily::megatron_2025;
}
constexpr bool is_torch_fsdp(FrameworkFamily family)
{
    return family == FrameworkFamily::torch_fsdp || family == FrameworkFamily::torch_fsdp_compiled;
}

struct RecordSoftware {
    FrameworkFamily family = FrameworkFamily::torch_fsdp;
    SoftwareChoice choice;
    int year = 0;
    std::vector<std::string> assumptions;

    bool operator==(const RecordSoftware&) const = default;
};

RecordSoftware software_of(const MeasuredRecord& record);

// The earliest year that a text names: 2024, 2024-06, or a release such as 24.07. 0: none.
int year_in(std::string_view text);

} // namespace trainyard

#include "sim/study/record_fine_tuning.h"

#include <fmt/core.h>

namespace trainyard {

std::optional<Lora> adapters_of(const MeasuredRecord& record, const RecordSoftware& software,
                                std::vector<std::string>& assumptions)
{
    if (record.task != "lora")
        return std::nullopt;
    const bool fused = is_megatron_core(software.family);
    Lora lora;
    if (fused)
        lora.targets = {AdapterTarget::linear_qkv};
    else
        lora.targets = {AdapterTarget::q_proj, AdapterTarget::v_proj};
    assumptions.push_back(fmt::format("adapters not stated: rank {} beside {}", lora.rank,
                                      fused ? "linear_qkv" : "q_proj and v_proj"));
    return lora;
}

std::optional<Packing> packing_of(const MeasuredRecord& record, const RecordSoftware& software,
                                  std::int64_t sequence_length,
                                  std::vector<std::string>& assumptions)
{
    constexpr std::int64_t sample = 256;
    const bool tuned = record.task == "lora" || record.task == "sft";
    if (!tuned || !is_megatron_core(software.family) || sequence_length <= sample)
        return std::nullopt;
    assumptions.push_back(fmt::format("packed samples of {} tokens", sample));
    return Packing{.document_length = sample, .documents = {}};
}

} // namespace trainyard

#pragma once

// Which layouts a framework starts at all, whatever their sizes. Asked by the spaces of searches
// and by the exports of jobs.

#include "sim/strategy/job.h"

#include <optional>
#include <string_view>
#include <vector>

namespace trainyard {

// Without any: what nothing is known of.
struct FrameworkLimits {
    std::string_view name;                   // of the framework
    std::vector<std::string_view> schedules; // that it has; empty: all
    bool has_virtual_stages = true;
    // The highest stage of ZeRO that there is with stages of a pipeline, with experts over ranks,
    // with embeddings that are the head's weights, and in fp16.
    int zero_with_stages = 3;
    int zero_with_experts = 3;
    int zero_with_tied_embeddings = 3;
    int zero_in_fp16 = 3;

    bool has_schedule(std::string_view schedule) const;
    // Whatever the sizes.
    int most_zero(const Model& model, const Training& training) const;
};

// By the words of its name: "megatron-core", "NeMo", "torchtitan", "torch-fsdp", "deepspeed".
FrameworkLimits framework_limits(std::string_view framework);

// Why the framework would not start the job, and what would do.
std::optional<Diagnostic> refusal_by(const FrameworkLimits& limits, const Job& job);

} // namespace trainyard

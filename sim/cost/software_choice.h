#pragma once

// Which software class stands for a framework and version.

#include "sim/workload/kernel_style.h"

#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

struct ClassChoice {
    std::string name = {};                         // of the software class
    std::optional<AttentionKernel> attention = {}; // where the version changes the class's kernel
    std::optional<LossKernel> loss = {};           // likewise, or the framework does
    std::string note = {};                         // what was assumed; empty when nothing was

    bool operator==(const ClassChoice&) const = default;
};

// By name and age: "megatron-core" "0.12", "torchtitan", "MaxText", "Megatron-LM" "2021". The year
// is taken from a version such as 2021, 23.04, v0.12. A class's own name chooses it. An unknown
// framework is taken for eager PyTorch FSDP, and the note says so.
ClassChoice software_class_for(std::string_view framework, std::string_view version);

} // namespace trainyard

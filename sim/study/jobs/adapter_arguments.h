#pragma once

// Adapters of a frozen model (LoRA), in the words of PEFT, LLaMA-Factory, ms-swift and
// Megatron-Bridge.

#include "sim/study/jobs/argument_values.h"
#include "sim/workload/adapters.h"

namespace trainyard {

// What a framework has where its arguments do not say.
struct AdapterDefaults {
    std::int64_t rank = 8;
    std::vector<AdapterTarget> targets{AdapterTarget::q_proj, AdapterTarget::v_proj};
    std::string_view whose = "PEFT's";
};

// Fills in training.lora where the arguments ask for adapters.
void read_adapters(Arguments& arguments, JobDraft& draft, const AdapterDefaults& defaults);

} // namespace trainyard

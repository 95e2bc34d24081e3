#pragma once

// What recipes of torchtune, LLM Foundry and Oumi say in words that no table turns into Trainer's.

#include "sim/study/jobs/job_draft.h"
#include "sim/study/jobs/shell/arguments.h"

namespace trainyard {

// torchtune names the function that makes its model: "torchtune.models.llama3_1.lora_llama3_1_8b".
// Its recipes of several GPUs shard over all of them, those of one say so in their name.
void read_torchtune(const Json& root, Arguments& arguments, JobDraft& draft);

// LLM Foundry describes its models itself, as MPT's or LLaMA's layers; a run of MosaicML's platform
// has the GPUs beside the recipe.
void read_foundry(const Json& root, Arguments& arguments, JobDraft& draft);

// DeepSpeed's configuration from Oumi's section of it; nothing where it is not used.
std::optional<Json> deepspeed_of_oumi(const Json& section);

} // namespace trainyard

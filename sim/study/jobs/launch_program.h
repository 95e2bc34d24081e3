#pragma once

// What a launch starts, by what its arguments name: torchtitan, Megatron-LM, DeepSpeed or a program
// in Trainer's words.

#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/shell/arguments.h"

namespace trainyard {

void read_program(const Launch& launch, JobContext& context);

// One that takes Megatron-LM's arguments, with the defaults of what wraps it (ms-swift, slime).
void read_megatron_program(const Launch& launch, Arguments& arguments, JobContext& context);

// DeepSpeed's configuration that a launch names; where it does not lie there, the stage that the
// arguments state or that its name tells.
Checked<Json> deepspeed_config(const std::string& path, std::optional<std::int64_t> stated_stage,
                               JobContext& context);

// The stage that the name of a configuration tells: "ds_config_zero2.json", "config_s3.json".
std::optional<int> deepspeed_stage_in(std::string_view path);

// "model.tensor_model_parallel_size=4": settings of a recipe on the command line, as Hydra has
// them, as arguments.
void add_dotted_settings(const Launch& launch, Arguments& arguments, JobContext& context);

} // namespace trainyard

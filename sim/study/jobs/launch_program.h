#pragma once

// What a launch starts, by what its arguments name: torchtitan, Megatron-LM, DeepSpeed or a program
// in Trainer's words.

#include "sim/study/jobs/job_readers.h"
#include "sim/study/jobs/shell/arguments.h"

namespace trainyard {

// The recipe of a path, with what the launch says over it; false where there is none.
bool read_recipe_at(const std::string& path, const Launch& launch, JobContext& context);

// The recipe that Hydra's --config-path and --config-name tell of, likewise.
bool read_hydra_recipe(const Launch& launch, Arguments& arguments, JobContext& context);

void read_program(const Launch& launch, JobContext& context);

// One that takes Megatron-LM's arguments, with the defaults of what wraps it (ms-swift, slime).
void read_megatron_program(const Launch& launch, Arguments& arguments, JobContext& context);

// "model.tensor_model_parallel_size=4": settings of a recipe on the command line, as Hydra has
// them, as arguments.
void add_dotted_settings(const Launch& launch, Arguments& arguments, JobContext& context);

} // namespace trainyard

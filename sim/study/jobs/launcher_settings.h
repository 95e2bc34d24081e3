#pragma once

// What a launcher says of the job that it starts: accelerate, by its configuration and by the
// options that it has too.

#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/shell/arguments.h"
#include "sim/study/jobs/shell/launch.h"

namespace trainyard {

bool has_launcher_settings(const Launch& launch);

// How it shards, offloads and recomputes, its formats and degrees, as arguments of Trainer beside
// those that are there; and its ranks. Where the configuration is not there, what its name tells.
void read_launcher_settings(const Launch& launch, Arguments& arguments, JobContext& context);

// Trainer's --fsdp-config: the same settings in a file, without "fsdp_" before their names. Llama
// Cookbook's stand on the command line: "--fsdp_config.pure_bf16".
void read_fsdp_config(Arguments& arguments, JobContext& context);

} // namespace trainyard

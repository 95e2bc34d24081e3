#pragma once

// Launches whose arguments name DeepSpeed's configuration, or make it.

#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/shell/arguments.h"

namespace trainyard {

// The configuration that an argument names, with what the other arguments leave it to say.
void read_deepspeed_launch(const Argument& config, Arguments& arguments, JobContext& context);

// DeepSpeed-Chat, OpenRLHF and others make the configuration of their arguments.
void read_zero_arguments(std::string_view stage_name, Arguments& arguments, JobContext& context);

// DeepSpeed's configuration that a launch names; where it does not lie there, the stage that the
// arguments state or that its name tells.
Checked<Json> deepspeed_config(const std::string& path, std::optional<std::int64_t> stated_stage,
                               JobContext& context);

// The stage that the name of a configuration tells: "ds_config_zero2.json", "config_s3.json".
std::optional<int> deepspeed_stage_in(std::string_view path);

} // namespace trainyard

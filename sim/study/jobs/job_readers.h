#pragma once

// One reader per kind of job file. Each fills in the draft of the context; what is wrong goes there
// too.

#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/setting_tree.h"
#include "sim/study/jobs/shell/launch.h"

namespace trainyard {

void read_megatron_job(const std::string& text, JobContext& context);   // script, YAML, arguments
void read_deepspeed_job(const std::string& text, JobContext& context);  // ds_config.json
void read_torchtitan_job(const std::string& text, JobContext& context); // TOML, JSON, Python
void read_torchrun_job(const std::string& text, JobContext& context);   // script, launch line

// The script's launch, with its GPUs and environment taken into the draft; nothing (and a problem)
// when it starts no program.
std::optional<Launch> read_launch(const std::string& text, JobContext& context);

// Whether a text in a shell's words starts no training program, all of it being known: a script
// that installs something.
bool starts_nothing(const std::string& text);

// Whether it starts a program in Python, or a script that may.
bool starts_a_script(std::string_view text);

// A file of torchtitan; of several configurations in Python the one that --define config=NAME
// names.
Checked<Json> titan_settings(const std::string& text, const std::string& file, JobContext& context);

// Settings of torchtitan and DeepSpeed that a launch names or overrides.
void read_deepspeed(SettingTree& settings, JobContext& context);
void read_torchtitan(SettingTree& settings, JobContext& context);

} // namespace trainyard

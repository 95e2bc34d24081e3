#pragma once

// Arguments of PyTorch programs in the words of Hugging Face's Trainer, which many others share.

#include "sim/study/jobs/argument_values.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/job_export.h"

namespace trainyard {

enum class TrainerFor { torch, deepspeed };

// Batch, sequence, precision, recompute and FSDP. A model must be given beside.
void read_trainer_arguments(Arguments& arguments, JobContext& context, TrainerFor framework);

// A torchrun line with those arguments.
std::string write_torchrun(const ExportedJob& job);

// Why an argument has no bearing on a step; nothing for one that is not known.
std::optional<std::string_view> trainer_aside(std::string_view name);

} // namespace trainyard

#pragma once

// Megatron-LM's arguments, both ways. Names and defaults: megatron/training/arguments.py of
// Megatron-LM (core 0.12 to 0.15).

#include "sim/study/jobs/argument_values.h"
#include "sim/study/jobs/job_context.h"
#include "sim/study/jobs/job_export.h"

#include <string_view>

namespace trainyard {

// Fills in model (unless the scenario names one), training, strategy and software. `program` is
// what is launched: pretrain_gpt.py; empty when it is not known.
void read_megatron(Arguments& arguments, const std::string& program, JobContext& context);

// Whether the arguments are Megatron-LM's: how many of its own names there are.
int megatron_names(const Arguments& arguments);

// A script of variables and a torchrun line.
std::string write_megatron(const ExportedJob& job);

// What read_megatron is made of.
struct MegatronReader {
    Arguments& arguments;
    ArgumentValues values;
    JobDraft& draft;
    JobContext& context;
    std::string program;
    bool described = true;           // the arguments have the sizes of the model
    std::vector<int> stage_layers{}; // that the pattern of its layers fixes
};
void read_megatron_model(MegatronReader& reader);
void read_megatron_vocabulary(MegatronReader& reader, Transformer& model);
void read_megatron_training(MegatronReader& reader);
void read_megatron_strategy(MegatronReader& reader);

// Why an argument has no bearing on a step; nothing for one that is not known.
std::optional<std::string_view> megatron_aside(std::string_view name);

} // namespace trainyard

#pragma once

// Models that start from random weights, by the class of Hugging Face's transformers that they are
// of: run_clm.py's "--model_type gpt2 --config_overrides n_layer=24,n_head=16".

#include "sim/study/jobs/job_context.h"

namespace trainyard {

// Takes the model of a class with the sizes that `overrides` gives, "name=value,...", and else
// those of the class. False where the class is not known here or the model is given already.
bool take_class_model(const std::string& model_type, const std::string& overrides,
                      const Origin& origin, JobContext& context);

} // namespace trainyard

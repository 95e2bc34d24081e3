#pragma once

// Models that a job names by a path or by Hugging Face's name.

#include "sim/study/jobs/job_context.h"

namespace trainyard {

// The shipped model of that shape: "/data/Qwen2.5-7B-Instruct" is "qwen2.5-7b". Words of tuning and
// of packaging do not count; releases of the same sizes are one. Empty when there is none.
std::string shipped_model_named(std::string_view name);

// A shipped model by the name of its folder; nothing when it is not there.
std::optional<Model> shipped_model(const std::string& name);

// Takes the model that a setting names, unless one is given beside or described. Where it is none
// of the shipped, the name is remembered for `require_model`.
void take_named_model(const std::string& name, const Origin& origin, JobContext& context);

// Refuses a job whose model is not known by now. `what` says where it should stand: "the
// arguments".
void require_model(JobContext& context, std::string_view what);

} // namespace trainyard

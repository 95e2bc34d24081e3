#pragma once

// DeepSpeed's ds_config.json, both ways. Names and defaults: deepspeed.ai/docs/config-json and
// deepspeed/runtime/zero/config.py.

#include "sim/study/jobs/job_export.h"

namespace trainyard {

// Sizes of buckets are elements there.
std::string write_deepspeed(const ExportedJob& job);

// Bytes of one element of a gradient on its way.
int gradient_bytes(const Training& training);

} // namespace trainyard

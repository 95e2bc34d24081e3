#pragma once

#include <string>

namespace trainyard {

// How many of `gpus` GPUs a process sees with that CUDA_VISIBLE_DEVICES. As CUDA reads it: indices
// or UUIDs by commas, up to the first that names none or one again.
int visible_gpus(const std::string& variable, int gpus);

} // namespace trainyard

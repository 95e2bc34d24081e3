#pragma once

#include "sim/strategy/job.h"

namespace trainyard {

// What plans are known by: jobs that differ differ in it. `model_hash` stands for the model, and
// what tells where constants come from counts for nothing.
std::uint64_t hash_of(const Job& job, std::uint64_t model_hash);

} // namespace trainyard

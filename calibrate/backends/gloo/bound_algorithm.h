#pragma once

// Gloo's older algorithms: they are bound to their memory when they are made.

#include "calibrate/backends/host/buffer_layout.h"

#include <gloo/algorithm.h>

#include <memory>
#include <span>
#include <string>

namespace trainyard {

// Whether `work` runs as one of them: a forced "halving_doubling" or "ring_chunked" all-reduce, and
// every reduce-scatter.
bool is_bound(const CollectiveWork& work, const std::string& algorithm);

// Works in place on `memory`; the result of a reduce-scatter starts where it does. Collective.
std::unique_ptr<gloo::Algorithm> bound_algorithm(const CollectiveWork& work,
                                                 const std::string& algorithm,
                                                 const std::shared_ptr<gloo::Context>& context,
                                                 std::span<std::byte> memory);

} // namespace trainyard

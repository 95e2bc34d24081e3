#pragma once

// One of several values, by a seeded draw.

#include "sim/base/random.h"

#include <vector>

namespace trainyard::testing {

template <class T>
T pick(Random& random, const std::vector<T>& values)
{
    return values[static_cast<std::size_t>(
        random.integer(0, static_cast<std::int64_t>(values.size()) - 1))];
}

} // namespace trainyard::testing

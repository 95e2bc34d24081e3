#pragma once

// JSON Schema of profiles and the files they are made of.

#include "sim/base/json.h"

namespace trainyard {

// Constants appear as the bare value or with low, high, grade and source; parts as the name of a
// file, an object, or an object on a "base".
Json profile_schema();

// Of a file of measured kernels.
Json kernels_schema();

} // namespace trainyard

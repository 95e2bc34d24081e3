#pragma once

// A fitted constant as shipped files have it.

#include "calibrate/fit/fabric_fit.h"
#include "sim/base/json.h"

namespace trainyard {

// The member at a dotted path, made where it is missing.
Json& member_at(Json& json, std::string_view path);

// Sets the member at the constant's dotted path, made where it is missing: value and interval to
// three digits (latencies in microseconds, bandwidths in GB/s), grade and source.
void put_constant(Json& file, const FittedConstant& constant, const std::string& grade,
                  const std::string& source);

} // namespace trainyard

#pragma once

// How files and texts spell the enumerations of a topology.

#include "sim/base/field_names.h"
#include "sim/topology/topology.h"

namespace trainyard {

template <>
std::vector<EnumName<LinkKind>> enum_names<LinkKind>();
template <>
std::vector<EnumName<Transport>> enum_names<Transport>();

} // namespace trainyard

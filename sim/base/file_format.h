#pragma once

// The "format" of our files: kind and version, as "trainyard.scenario/1". What versions promise
// stands in sim/FORMATS.md.

#include "sim/base/reader.h"

#include <string_view>

namespace trainyard {

// Keys of a file, not of what it describes: they are known everywhere.
constexpr bool is_file_key(std::string_view key)
{
    return key == "format" || key == "$schema";
}

// Whether both name the same kind, of whatever version.
bool same_kind(std::string_view format, std::string_view other);

// Whether the object is of the format `expected` or states none. Reports another kind, and another
// version of this kind: there is no reading of what is not understood.
bool expect_format(const Reader& object, std::string_view expected);

} // namespace trainyard

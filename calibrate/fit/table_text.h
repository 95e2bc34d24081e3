#pragma once

#include "sim/base/json.h"

namespace trainyard {

// The JSON as a file for people: indented, but each list that holds no other list or object on one
// line, so that tables have a line per row. Ends with a newline.
std::string table_text(const Json& json);

} // namespace trainyard

#pragma once

#include "sim/base/progress.h"

#include <string>

namespace trainyard::gui {

// A pipe, a terminal or the like: it ends when who writes it says so, and is read once.
bool is_pipe(const std::string& file);

// All that comes out of it, however long that takes. Throws WorldError, also above `max_bytes`,
// and Cancelled.
std::string read_pipe(const std::string& file, std::size_t max_bytes, const WorkControl& control);

} // namespace trainyard::gui

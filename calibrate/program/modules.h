#pragma once

// Back ends as shared libraries, opened when they are needed.

#include "calibrate/measure/backend/backend.h"

#include <string_view>

namespace trainyard {

// The file of that back end's module, empty when there is none. They are in lib/trainyard beside
// the folder of this program, or where TRAINYARD_BACKENDS says.
std::string module_of(std::string_view backend);

// This rank's side of it. Throws MeasureFailure, which says what to install.
std::unique_ptr<RankBackend> open_backend(std::string_view backend, const LaunchPlace& place);

} // namespace trainyard

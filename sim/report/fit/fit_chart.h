#pragma once

#include "calibrate/fit/sweep_fit.h"

namespace trainyard {

// One sweep as an <svg>: time over size, both logarithmic, above the errors at sizes left out.
std::string fit_chart(const SweepFit& fit);

// CSS of its lines and points, light and dark.
std::string_view fit_chart_style();

} // namespace trainyard

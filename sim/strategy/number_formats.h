#pragma once

// Where a narrow number format (fp8 to nvfp4) is used besides in the products of all layers.

#include "sim/base/field_names.h"

namespace trainyard {

struct NumberFormats {
    // Parameters are stored and gathered in the narrow format; else the framework's habit.
    std::optional<bool> parameter_gather;
    // Layers at the front and at the back whose products stay in 16 bit (nvfp4's recipe keeps about
    // one in seven; NVIDIA 2025, "Pretraining large language models with NVFP4").
    int first_wide_layers = 0;
    int last_wide_layers = 0;

    bool operator==(const NumberFormats&) const = default;
};

template <>
const FieldTable<NumberFormats>& fields_of<NumberFormats>();

} // namespace trainyard

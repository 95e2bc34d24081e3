#pragma once

// Elements of the types that communication libraries sum, as processors without such types handle
// them.

#include "calibrate/measure/backend/work.h"

#include <cstddef>
#include <cstdint>

namespace trainyard {

// IEEE binary16 and bfloat16, rounded to nearest even; what is too large becomes infinite.
float from_float16(std::uint16_t bits);
std::uint16_t to_float16(float value);
float from_bfloat16(std::uint16_t bits);
std::uint16_t to_bfloat16(float value);

// out = a + b, element by element; 16-bit types sum in float32, bytes modulo 256. `out` may be `a`
// or `b`.
void add_elements(ElementType type, void* out, const void* a, const void* b, std::size_t count);

} // namespace trainyard

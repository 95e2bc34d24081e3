#pragma once

// Formats of elements that are sent, summed and multiplied. Light: device code reads it too.

#include <cstdint>

namespace trainyard {

// float8_e4m3: of products on GPUs only, whose results are bfloat16.
enum class ElementType : std::uint8_t { float32, float16, bfloat16, uint8, float8_e4m3 };

constexpr int element_bytes(ElementType type)
{
    switch (type) {
    case ElementType::float32:
        return 4;
    case ElementType::float16:
    case ElementType::bfloat16:
        return 2;
    case ElementType::uint8:
    case ElementType::float8_e4m3:
        break;
    }
    return 1;
}

} // namespace trainyard

#include "tests/support/simulated_nccl/world.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace trainyard::simulated {

namespace {

// IEEE half precision, without subnormal numbers: those become zero.
std::uint16_t half_bits(float value)
{
    if (value == 0)
        return 0;
    int exponent = 0;
    const float mantissa = std::frexp(std::fabs(value), &exponent); // in [0.5, 1)
    if (exponent < -13)
        return 0;
    const auto rounded = static_cast<int>(std::lround((mantissa * 2 - 1) * 1024));
    const int bits = ((exponent + 14) << 10) + rounded;
    return static_cast<std::uint16_t>(bits | (value < 0 ? 0x8000 : 0));
}

float of_half(std::uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const float size =
        exponent == 0 ? 0 : std::ldexp(1 + static_cast<float>(bits & 1023) / 1024, exponent - 15);
    return bits & 0x8000 ? -size : size;
}

// Four bits of exponent, three of mantissa; without subnormal numbers.
std::uint8_t e4m3_bits(float value)
{
    int exponent = 0;
    const float mantissa = std::frexp(std::fabs(value), &exponent);
    if (value == 0 || exponent < -5)
        return 0;
    const auto rounded = static_cast<int>(std::lround((mantissa * 2 - 1) * 8));
    return static_cast<std::uint8_t>((((exponent + 6) << 3) + rounded) | (value < 0 ? 0x80 : 0));
}

float of_e4m3(std::uint8_t bits)
{
    const int exponent = bits >> 3 & 15;
    const float size =
        exponent == 0 ? 0 : std::ldexp(1 + static_cast<float>(bits & 7) / 8, exponent - 7);
    return bits & 0x80 ? -size : size;
}

template <class T>
T load(const std::byte* memory, std::uint64_t index)
{
    T value;
    std::memcpy(&value, memory + index * sizeof(T), sizeof(T));
    return value;
}

template <class T>
void store(std::byte* memory, std::uint64_t index, T value)
{
    std::memcpy(memory + index * sizeof(T), &value, sizeof(T));
}

} // namespace

float element(const std::byte* memory, ElementType type, std::uint64_t index)
{
    switch (type) {
    case ElementType::float32:
        return load<float>(memory, index);
    case ElementType::float16:
        return of_half(load<std::uint16_t>(memory, index));
    case ElementType::bfloat16:
        return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(memory, index))
                                    << 16);
    case ElementType::float8_e4m3:
        return of_e4m3(load<std::uint8_t>(memory, index));
    case ElementType::uint8:
        break;
    }
    return load<std::uint8_t>(memory, index);
}

void set_element(std::byte* memory, ElementType type, std::uint64_t index, float value)
{
    switch (type) {
    case ElementType::float32:
        store(memory, index, value);
        return;
    case ElementType::float16:
        store(memory, index, half_bits(value));
        return;
    case ElementType::bfloat16:
        store(memory, index, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
        return;
    case ElementType::uint8:
        store(memory, index, static_cast<std::uint8_t>(std::lround(value) & 255));
        return;
    case ElementType::float8_e4m3:
        store(memory, index, e4m3_bits(value));
    }
}

} // namespace trainyard::simulated

#include "calibrate/measure/host_kernels/elements.h"

#include <bit>

namespace trainyard {
namespace {

// Branch-free, so that loops over them become vector code.

[[gnu::always_inline]] inline float widened(std::uint16_t bits)
{
    const std::uint32_t magnitude = static_cast<std::uint32_t>(bits & 0x7fff) << 13;
    // The exponent's bias is 112 less: a product also makes subnormal numbers normal.
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const std::uint32_t special = magnitude >= (0x7c00u << 13) ? 0x7f800000u : 0u;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

[[gnu::always_inline]] inline std::uint16_t narrowed(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    // To nearest even: add half of the last place, less one where the result would be odd.
    const std::uint32_t normal =
        (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1)) >> 13;
    // Below 2^-14: 0.5's last place is that of subnormal numbers, so the sum rounds.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
        std::bit_cast<std::uint32_t>(0.5f);
    const std::uint32_t finite = magnitude < (113u << 23) ? subnormal : normal;
    const std::uint32_t large = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return static_cast<std::uint16_t>(sign | (magnitude >= (143u << 23) ? large : finite));
}

[[gnu::always_inline]] inline float widened_brain(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

[[gnu::always_inline]] inline std::uint16_t narrowed_brain(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
    const bool not_a_number = (bits & 0x7fffffffu) > 0x7f800000u;
    return static_cast<std::uint16_t>(not_a_number ? (bits >> 16) | 0x40u : rounded);
}

template <class T, class Sum>
[[gnu::always_inline]] inline void add_each(void* out, const void* a, const void* b,
                                            std::size_t count, Sum sum)
{
    auto* to = static_cast<T*>(out);
    const auto* left = static_cast<const T*>(a);
    const auto* right = static_cast<const T*>(b);
    for (std::size_t i = 0; i < count; ++i)
        to[i] = sum(left[i], right[i]);
}

[[gnu::always_inline]] inline void add_all(ElementType type, void* out, const void* a,
                                           const void* b, std::size_t count)
{
    using Half = std::uint16_t;
    switch (type) {
    case ElementType::float32:
        return add_each<float>(out, a, b, count, [](float x, float y) { return x + y; });
    case ElementType::float16:
        return add_each<Half>(out, a, b, count,
                              [](Half x, Half y) { return narrowed(widened(x) + widened(y)); });
    case ElementType::bfloat16:
        return add_each<Half>(out, a, b, count, [](Half x, Half y) {
            return narrowed_brain(widened_brain(x) + widened_brain(y));
        });
    case ElementType::uint8:
        return add_each<std::uint8_t>(out, a, b, count, [](std::uint8_t x, std::uint8_t y) {
            return static_cast<std::uint8_t>(x + y);
        });
    case ElementType::float8_e4m3:
        break; // nobody adds them up on CPUs
    }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void add_avx2(ElementType type, void* out, const void* a, const void* b,
                                      std::size_t count)
{
    add_all(type, out, a, b, count);
}
#endif

} // namespace

float from_float16(std::uint16_t bits)
{
    return widened(bits);
}

std::uint16_t to_float16(float value)
{
    return narrowed(value);
}

float from_bfloat16(std::uint16_t bits)
{
    return widened_brain(bits);
}

std::uint16_t to_bfloat16(float value)
{
    return narrowed_brain(value);
}

void add_elements(ElementType type, void* out, const void* a, const void* b, std::size_t count)
{
#if defined(__x86_64__)
    static const bool wide = __builtin_cpu_supports("avx2");
    if (wide)
        return add_avx2(type, out, a, b, count);
#endif
    add_all(type, out, a, b, count);
}

} // namespace trainyard

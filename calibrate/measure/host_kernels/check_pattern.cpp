#include "calibrate/measure/host_kernels/check_pattern.h"

#include "calibrate/measure/host_kernels/elements.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace trainyard {
namespace {

constexpr std::uint32_t most_values = 251; // a prime: no power of two hides a shift

// Up to this, every integer is an element.
std::uint32_t exact_up_to(ElementType type)
{
    switch (type) {
    case ElementType::float32:
        return 1u << 24;
    case ElementType::float16:
        return 1u << 11;
    case ElementType::bfloat16:
        return 1u << 8;
    case ElementType::uint8:
        return 255;
    case ElementType::float8_e4m3:
        break;
    }
    return 0;
}

std::uint32_t encoded(ElementType type, std::uint32_t value)
{
    const auto number = static_cast<float>(value);
    switch (type) {
    case ElementType::float32:
        return std::bit_cast<std::uint32_t>(number);
    case ElementType::float16:
        return to_float16(number);
    case ElementType::bfloat16:
        return to_bfloat16(number);
    case ElementType::uint8:
        return value & 0xff;
    case ElementType::float8_e4m3:
        break;
    }
    return 0;
}

} // namespace

CheckPattern::CheckPattern(ElementType type, std::uint32_t round)
    : type_(type), round_(round), contributors_(1), values_(most_values)
{}

CheckPattern::CheckPattern(ElementType type, std::uint32_t round, int contributors)
    : type_(type),
      round_(round),
      contributors_(contributors),
      values_(std::clamp(exact_up_to(type) / static_cast<std::uint32_t>(contributors) + 1, 2u,
                         most_values))
{}

std::uint32_t CheckPattern::residue(std::uint64_t index) const
{
    const std::uint64_t mixed = (index + 1) * 0x9e3779b97f4a7c15u + round_ * 0xc2b2ae3d27d4eb4fu;
    return static_cast<std::uint32_t>((mixed >> 32) % values_);
}

// What a contributor holds where the residue is `residue`. Sums differ from residue to residue, as
// those of evenly shifted residues would not.
std::uint32_t CheckPattern::value(int contributor, std::uint32_t residue) const
{
    const auto number = static_cast<std::uint32_t>(contributor);
    if (contributors_ == 1)
        return (residue + number * 7) % values_;
    if (number >= exact_up_to(type_)) // more than the type can count hold zeros
        return 0;
    return residue * (number % 3 + 1) % values_;
}

std::vector<std::uint32_t> CheckPattern::contribution(int contributor) const
{
    std::vector<std::uint32_t> held(values_);
    for (std::uint32_t r = 0; r < values_; ++r)
        held[r] = encoded(type_, value(contributor, r));
    return held;
}

void CheckPattern::fill(std::span<std::byte> memory, int contributor, std::uint64_t first) const
{
    const std::vector<std::uint32_t> held = contribution(contributor);
    const auto width = static_cast<std::size_t>(element_bytes(type_));
    for (std::size_t at = 0; at + width <= memory.size(); at += width, ++first)
        std::memcpy(memory.data() + at, &held[residue(first)], width); // little-endian
}

std::int64_t CheckPattern::differing(std::span<const std::byte> memory, std::uint64_t first,
                                     const std::vector<std::uint32_t>& expected) const
{
    const auto width = static_cast<std::size_t>(element_bytes(type_));
    std::int64_t count = 0;
    for (std::size_t at = 0; at + width <= memory.size(); at += width, ++first)
        count += std::memcmp(memory.data() + at, &expected[residue(first)], width) != 0;
    return count;
}

std::int64_t CheckPattern::wrong(std::span<const std::byte> memory, int contributor,
                                 std::uint64_t first) const
{
    return differing(memory, first, contribution(contributor));
}

std::int64_t CheckPattern::wrong_sums(std::span<const std::byte> memory, std::uint64_t first) const
{
    std::vector<std::uint32_t> sums(values_);
    for (int contributor = 0; contributor < contributors_; ++contributor)
        for (std::uint32_t r = 0; r < values_; ++r)
            sums[r] += value(contributor, r);
    for (std::uint32_t& sum : sums)
        sum = encoded(type_, sum);
    return differing(memory, first, sums);
}

} // namespace trainyard

#pragma once

// Physical quantities as types: a number and its unit cannot be separated or mixed up.
//
// Only cross-unit operators with a physical meaning exist (bytes / rate = time, ...). Everything is
// constexpr and as cheap as the bare number.

#include <cmath>
#include <compare>
#include <cstdint>
#include <type_traits>

namespace trainyard {

template <class Tag, class Rep>
class Quantity {
public:
    using tag = Tag;
    using rep = Rep;

    constexpr Quantity() = default;
    constexpr explicit Quantity(Rep value) : value_(value) {}

    constexpr Rep value() const { return value_; }

    friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;

    constexpr Quantity& operator+=(Quantity other)
    {
        value_ += other.value_;
        return *this;
    }
    constexpr Quantity& operator-=(Quantity other)
    {
        value_ -= other.value_;
        return *this;
    }
    constexpr Quantity& operator*=(Rep factor)
    {
        value_ *= factor;
        return *this;
    }

    friend constexpr Quantity operator+(Quantity a, Quantity b)
    {
        return Quantity(a.value_ + b.value_);
    }
    friend constexpr Quantity operator-(Quantity a, Quantity b)
    {
        return Quantity(a.value_ - b.value_);
    }
    friend constexpr Quantity operator-(Quantity a) requires std::is_signed_v<Rep>
    {
        return Quantity(-a.value_);
    }
    friend constexpr Quantity operator*(Quantity a, Rep factor)
    {
        return Quantity(a.value_ * factor);
    }
    friend constexpr Quantity operator*(Rep factor, Quantity a)
    {
        return Quantity(factor * a.value_);
    }
    friend constexpr Quantity operator/(Quantity a, Rep divisor)
    {
        return Quantity(a.value_ / divisor);
    }

    // The plain ratio of two quantities of one kind.
    friend constexpr double operator/(Quantity a, Quantity b)
    {
        return static_cast<double>(a.value_) / static_cast<double>(b.value_);
    }

private:
    Rep value_{};
};

using SimTime =
    Quantity<struct PicosecondTag, std::int64_t>;   // the clock: integer, so runs repeat exactly
using Seconds = Quantity<struct SecondTag, double>; // model arithmetic
using Bytes = Quantity<struct ByteTag, std::uint64_t>;
using Bandwidth = Quantity<struct BytePerSecondTag, double>; // bytes per second, never bits
using Flops = Quantity<struct FlopTag, double>;              // floating-point operations
using FlopRate = Quantity<struct FlopPerSecondTag, double>;  // operations per second

constexpr Seconds operator/(Bytes size, Bandwidth rate)
{
    return Seconds(static_cast<double>(size.value()) / rate.value());
}
constexpr Bandwidth operator/(Bytes size, Seconds time)
{
    return Bandwidth(static_cast<double>(size.value()) / time.value());
}
constexpr Seconds operator/(Flops work, FlopRate rate)
{
    return Seconds(work.value() / rate.value());
}
constexpr FlopRate operator/(Flops work, Seconds time)
{
    return FlopRate(work.value() / time.value());
}

// `size` times a real factor, rounded to the nearest byte. Requires factor >= 0.
inline Bytes scaled(Bytes size, double factor)
{
    return Bytes(
        static_cast<std::uint64_t>(std::llround(static_cast<double>(size.value()) * factor)));
}

// What the clock counts to: 2^61 ps, 26.7 days. Longer spans become this, and a run that reaches it
// is refused, so that no sum of two spans overflows.
inline constexpr SimTime longest_sim_time{std::int64_t{1} << 61};

// Nearest picosecond, at most `longest_sim_time`. Requires time >= 0.
inline SimTime to_sim_time(Seconds time)
{
    const double picoseconds = time.value() * 1e12;
    return picoseconds < static_cast<double>(longest_sim_time.value())
               ? SimTime(std::llround(picoseconds))
               : longest_sim_time;
}
constexpr Seconds to_seconds(SimTime time)
{
    return Seconds(static_cast<double>(time.value()) * 1e-12);
}

namespace literals {

constexpr Seconds operator""_s(long double v)
{
    return Seconds(static_cast<double>(v));
}
constexpr Seconds operator""_ms(long double v)
{
    return Seconds(static_cast<double>(v) * 1e-3);
}
constexpr Seconds operator""_us(long double v)
{
    return Seconds(static_cast<double>(v) * 1e-6);
}
constexpr Seconds operator""_s(unsigned long long v)
{
    return Seconds(static_cast<double>(v));
}
constexpr Seconds operator""_ms(unsigned long long v)
{
    return Seconds(static_cast<double>(v) * 1e-3);
}
constexpr Seconds operator""_us(unsigned long long v)
{
    return Seconds(static_cast<double>(v) * 1e-6);
}
constexpr Bytes operator""_B(unsigned long long v)
{
    return Bytes(v);
}
constexpr Bytes operator""_KiB(unsigned long long v)
{
    return Bytes(v << 10);
}
constexpr Bytes operator""_MiB(unsigned long long v)
{
    return Bytes(v << 20);
}
constexpr Bytes operator""_GiB(unsigned long long v)
{
    return Bytes(v << 30);
}
constexpr Bytes operator""_GB(unsigned long long v)
{
    return Bytes(v * 1'000'000'000ULL);
}
constexpr Bandwidth operator""_GBps(unsigned long long v)
{
    return Bandwidth(static_cast<double>(v) * 1e9);
}
constexpr Bandwidth operator""_GBps(long double v)
{
    return Bandwidth(static_cast<double>(v) * 1e9);
}
constexpr Bandwidth operator""_Gbps(unsigned long long v)
{
    return Bandwidth(static_cast<double>(v) * 1e9 / 8);
}
constexpr FlopRate operator""_TFLOPs(unsigned long long v)
{
    return FlopRate(static_cast<double>(v) * 1e12);
}

} // namespace literals

} // namespace trainyard

#include "sim/base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace trainyard {
namespace {

struct Unit {
    std::string_view name;
    double factor;     // of the SI unit
    bool shown = true; // used when writing
};

constexpr std::array time_units{Unit{"ps", 1e-12},        Unit{"ns", 1e-9},
                                Unit{"us", 1e-6},         Unit{"ms", 1e-3},
                                Unit{"s", 1.0},           Unit{"min", 60.0, false},
                                Unit{"h", 3600.0, false}, Unit{"d", 86400.0, false}};
constexpr std::array byte_units{Unit{"B", 1},        Unit{"kB", 1e3},     Unit{"MB", 1e6},
                                Unit{"GB", 1e9},     Unit{"TB", 1e12},    Unit{"PB", 1e15},
                                Unit{"KiB", 0x1p10}, Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30},
                                Unit{"TiB", 0x1p40}, Unit{"PiB", 0x1p50}};
constexpr std::array rate_units{Unit{"B/s", 1},
                                Unit{"kB/s", 1e3},
                                Unit{"MB/s", 1e6},
                                Unit{"GB/s", 1e9},
                                Unit{"TB/s", 1e12},
                                Unit{"MiB/s", 0x1p20, false},
                                Unit{"GiB/s", 0x1p30, false},
                                Unit{"TiB/s", 0x1p40, false},
                                Unit{"Mb/s", 1e6 / 8, false},
                                Unit{"Gb/s", 1e9 / 8, false},
                                Unit{"Tb/s", 1e12 / 8, false}};
constexpr std::array flop_units{Unit{"FLOP", 1},     Unit{"kFLOP", 1e3},  Unit{"MFLOP", 1e6},
                                Unit{"GFLOP", 1e9},  Unit{"TFLOP", 1e12}, Unit{"PFLOP", 1e15},
                                Unit{"EFLOP", 1e18}, Unit{"ZFLOP", 1e21}};
constexpr std::array flop_rate_units{Unit{"FLOP/s", 1},     Unit{"MFLOP/s", 1e6},
                                     Unit{"GFLOP/s", 1e9},  Unit{"TFLOP/s", 1e12},
                                     Unit{"PFLOP/s", 1e15}, Unit{"EFLOP/s", 1e18}};

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

std::string listed(std::span<const Unit> units)
{
    std::string out;
    for (const Unit& unit : units)
        out += (out.empty() ? "" : ", ") + std::string(unit.name);
    return out;
}

// Number and unit of "450 GB/s", in SI units.
Parsed<double> parse(std::string_view text, std::span<const Unit> units, std::string_view what,
                     std::string_view example)
{
    const std::string_view whole = trimmed(text);
    double number = 0;
    const auto [rest, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
    if (error != std::errc() || !std::isfinite(number))
        return tl::unexpected(
            UnitError{fmt::format("\"{}\" is not {}", text, what),
                      fmt::format("write a number and a unit, as in \"{}\"", example)});
    const std::string_view name =
        trimmed(whole.substr(static_cast<std::size_t>(rest - whole.data())));
    if (name.empty())
        return tl::unexpected(UnitError{fmt::format("\"{}\" has no unit", text),
                                        fmt::format("write the unit too, as in \"{}\"", example)});
    for (const Unit& unit : units)
        if (unit.name == name) {
            if (number < 0)
                return tl::unexpected(UnitError{fmt::format("\"{}\" is negative", text), ""});
            return number * unit.factor;
        }
    return tl::unexpected(UnitError{fmt::format("\"{}\" is not a unit of {}", name, what),
                                    fmt::format("units that work here: {}", listed(units))});
}

// Shortest text that reads back as the same value: the largest unit in which the number has few
// digits.
std::string exact(double value, std::span<const Unit> units)
{
    std::string best;
    for (const Unit& unit : units) {
        if (!unit.shown)
            continue;
        const std::string number = fmt::format("{}", value / unit.factor);
        if (std::stod(number) * unit.factor != value || number.find('e') != std::string::npos)
            continue;
        const std::string candidate = fmt::format("{} {}", number, unit.name);
        if (best.empty() || candidate.size() <= best.size())
            best = candidate;
    }
    return best.empty()
               ? fmt::format("{} {}", value, units.front().factor == 1 ? units.front().name : "s")
               : best;
}

std::string three_digits(double number)
{
    const double size = std::abs(number);
    if (size >= 100 || size == 0)
        return fmt::format("{:.0f}", number);
    return size >= 10 ? fmt::format("{:.1f}", number) : fmt::format("{:.2f}", number);
}

// The largest decimal unit not above the value, three significant digits.
std::string display(double value, std::span<const Unit> units, std::size_t decimal_units)
{
    const Unit* chosen = &units.front();
    for (const Unit& unit : units)
        if (value == 0 && unit.factor == 1)
            return fmt::format("0 {}", unit.name);
    for (const Unit& unit : units.first(decimal_units))
        if (std::abs(value) >= unit.factor * 0.9995)
            chosen = &unit;
    return fmt::format("{} {}", three_digits(value / chosen->factor), chosen->name);
}

template <class Q>
Parsed<Q> typed(const Parsed<double>& number)
{
    if (!number)
        return tl::unexpected(number.error());
    return Q(*number);
}

} // namespace

Parsed<Seconds> parse_seconds(std::string_view text)
{
    return typed<Seconds>(parse(text, time_units, "a time", "3 us"));
}

Parsed<Bytes> parse_bytes(std::string_view text)
{
    const Parsed<double> number = parse(text, byte_units, "a size", "25 MiB");
    if (!number)
        return tl::unexpected(number.error());
    if (*number >= 0x1p63)
        return tl::unexpected(UnitError{fmt::format("\"{}\" is more than 8 EiB", text), ""});
    return Bytes(static_cast<std::uint64_t>(std::llround(*number)));
}

Parsed<Bandwidth> parse_bandwidth(std::string_view text)
{
    return typed<Bandwidth>(parse(text, rate_units, "a bandwidth", "450 GB/s"));
}

Parsed<Flops> parse_flops(std::string_view text)
{
    return typed<Flops>(parse(text, flop_units, "an operation count", "12 TFLOP"));
}

Parsed<FlopRate> parse_flop_rate(std::string_view text)
{
    return typed<FlopRate>(parse(text, flop_rate_units, "a compute rate", "989 TFLOP/s"));
}

std::string to_text(Seconds time)
{
    return exact(time.value(), time_units);
}
std::string to_text(Bytes size)
{
    return exact(static_cast<double>(size.value()), byte_units);
}
std::string to_text(Bandwidth rate)
{
    return exact(rate.value(), rate_units);
}
std::string to_text(Flops work)
{
    return exact(work.value(), flop_units);
}
std::string to_text(FlopRate rate)
{
    return exact(rate.value(), flop_rate_units);
}

std::string to_display(Seconds time)
{
    return display(time.value(), time_units, 5);
}
std::string to_display(SimTime time)
{
    return to_display(to_seconds(time));
}
std::string to_display(Bytes size)
{
    return display(static_cast<double>(size.value()), byte_units, 6);
}
std::string to_display(Bandwidth rate)
{
    return display(rate.value(), rate_units, 5);
}
std::string to_display(Flops work)
{
    return display(work.value(), flop_units, 8);
}
std::string to_display(FlopRate rate)
{
    return display(rate.value(), flop_rate_units, 6);
}

std::string to_display_count(double count)
{
    static constexpr std::array units{Unit{"", 1}, Unit{"k", 1e3}, Unit{"M", 1e6}, Unit{"B", 1e9},
                                      Unit{"T", 1e12}};
    std::string text = display(count, units, units.size());
    if (!text.empty() && text.back() == ' ')
        text.pop_back();
    return text;
}

} // namespace trainyard

#include "sim/base/units.h"

#include "sim/base/words.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace trainyard {
namespace {

// Which numbers are written with a unit: nobody says 0.5 h.
enum class Written { all, whole, none };

struct Unit {
    std::string_view name;
    double factor; // of the SI unit
    Written written = Written::all;
};

constexpr std::array time_units{Unit{"ps", 1e-12},
                                Unit{"ns", 1e-9},
                                Unit{"us", 1e-6},
                                Unit{"ms", 1e-3},
                                Unit{"s", 1.0},
                                Unit{"min", 60.0, Written::whole},
                                Unit{"h", 3600.0, Written::whole},
                                Unit{"d", 86400.0, Written::whole}};
constexpr std::array byte_units{Unit{"B", 1},        Unit{"kB", 1e3},     Unit{"MB", 1e6},
                                Unit{"GB", 1e9},     Unit{"TB", 1e12},    Unit{"PB", 1e15},
                                Unit{"KiB", 0x1p10}, Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30},
                                Unit{"TiB", 0x1p40}, Unit{"PiB", 0x1p50}};
constexpr std::array rate_units{Unit{"B/s", 1},
                                Unit{"kB/s", 1e3},
                                Unit{"MB/s", 1e6},
                                Unit{"GB/s", 1e9},
                                Unit{"TB/s", 1e12},
                                Unit{"MiB/s", 0x1p20, Written::none},
                                Unit{"GiB/s", 0x1p30, Written::none},
                                Unit{"TiB/s", 0x1p40, Written::none},
                                Unit{"Mb/s", 1e6 / 8, Written::none},
                                Unit{"Gb/s", 1e9 / 8, Written::none},
                                Unit{"Tb/s", 1e12 / 8, Written::none}};
constexpr std::array flop_units{Unit{"FLOP", 1},     Unit{"kFLOP", 1e3},  Unit{"MFLOP", 1e6},
                                Unit{"GFLOP", 1e9},  Unit{"TFLOP", 1e12}, Unit{"PFLOP", 1e15},
                                Unit{"EFLOP", 1e18}, Unit{"ZFLOP", 1e21}};
constexpr std::array flop_rate_units{Unit{"FLOP/s", 1},     Unit{"MFLOP/s", 1e6},
                                     Unit{"GFLOP/s", 1e9},  Unit{"TFLOP/s", 1e12},
                                     Unit{"PFLOP/s", 1e15}, Unit{"EFLOP/s", 1e18}};

// What is being read: for messages.
struct Kind {
    std::string_view article; // "a", "an"
    std::string_view name;    // "bandwidth"
    std::string_view example; // "450 GB/s"
    std::span<const Unit> units;
};

constexpr Kind time_kind{"a", "time", "3 us", time_units};
constexpr Kind size_kind{"a", "size", "25 MiB", byte_units};
constexpr Kind rate_kind{"a", "bandwidth", "450 GB/s", rate_units};
constexpr Kind flop_kind{"an", "operation count", "12 TFLOP", flop_units};
constexpr Kind flop_rate_kind{"a", "compute rate", "989 TFLOP/s", flop_rate_units};

std::string listed(std::span<const Unit> units)
{
    std::string out;
    for (const Unit& unit : units)
        out += (out.empty() ? "" : ", ") + std::string(unit.name);
    return out;
}

// Other spellings of units, and what they stand for: "GBps" is GB/s, "Gbit/s" and "Gbps" are Gb/s.
std::string usual_spelling(std::string_view name)
{
    std::string text(name);
    const auto replace = [&text](std::string_view from, std::string_view to) {
        if (const auto at = text.find(from); at != std::string::npos)
            text.replace(at, from.size(), to);
    };
    for (const std::string_view micro : {"\u00b5", "\u03bc"}) // the sign and the Greek letter
        replace(micro, "u");
    for (const std::string_view word : {"ps", "/sec", "/second"})
        if (text.size() > word.size() && text.ends_with(word))
            text.replace(text.size() - word.size(), word.size(), "/s");
    replace("bits", "b");
    replace("bit", "b");
    replace("bytes", "B");
    replace("byte", "B");
    replace("FLOPS", "FLOP/s");
    replace("FLOPs", "FLOP");
    replace("KB", "kB");
    return text;
}

std::string unit_hint(std::string_view name, std::span<const Unit> units)
{
    const std::string usual = usual_spelling(name);
    for (const Unit& unit : units)
        if (unit.name == usual || unit.name == usual + "/s")
            return fmt::format("did you mean \"{}\"?", unit.name);
    return fmt::format("units that work here: {}", listed(units));
}

// A number and its unit's factor, not yet multiplied.
struct Amount {
    std::string_view digits;
    double number = 0;
    double factor = 1; // of the SI unit
};

Parsed<Amount> split(std::string_view text, const Kind& kind)
{
    const auto wrong = [](std::string message, std::string hint) {
        return tl::unexpected(UnitError{std::move(message), std::move(hint)});
    };
    const std::string_view whole = trimmed(text);
    Amount amount;
    const auto [rest, error] =
        std::from_chars(whole.data(), whole.data() + whole.size(), amount.number);
    if (error == std::errc::result_out_of_range)
        return wrong(fmt::format("the number of \"{}\" is out of range", text), "");
    amount.digits = whole.substr(0, static_cast<std::size_t>(rest - whole.data()));
    const std::string_view name = trimmed(whole.substr(amount.digits.size()));
    const bool separated = !name.empty() && (name[0] == ',' || name[0] == '.' || name[0] == '_');
    if (error != std::errc() || !std::isfinite(amount.number) || separated)
        return wrong(fmt::format("\"{}\" is not {} {}", text, kind.article, kind.name),
                     fmt::format("write a number and a unit, as in \"{}\"", kind.example));
    if (name.empty())
        return wrong(fmt::format("\"{}\" has no unit", text),
                     fmt::format("write the unit too, as in \"{}\"", kind.example));
    for (const Unit& unit : kind.units)
        if (unit.name == name) {
            if (amount.number < 0)
                return wrong(fmt::format("\"{}\" is negative", text), "");
            amount.factor = unit.factor;
            return amount;
        }
    return wrong(fmt::format("\"{}\" is not a unit of {}", name, kind.name),
                 unit_hint(name, kind.units));
}

// The quantity of "450 GB/s", in SI units.
template <class Q>
Parsed<Q> parse(std::string_view text, const Kind& kind)
{
    const Parsed<Amount> amount = split(text, kind);
    if (!amount)
        return tl::unexpected(amount.error());
    const double value = amount->number * amount->factor;
    if (!std::isfinite(value))
        return tl::unexpected(UnitError{fmt::format("\"{}\" is too large", text), ""});
    return Q(value);
}

// Shortest text that reads back as the same value: the largest unit in which the number has few
// digits.
std::string exact(double value, std::span<const Unit> units)
{
    std::string best;
    for (const Unit& unit : units) {
        const double count = value / unit.factor;
        if (unit.written == Written::none ||
            (unit.written == Written::whole && count != std::floor(count)))
            continue;
        const std::string number = fmt::format("{}", count);
        if (count * unit.factor != value || number.find('e') != std::string::npos)
            continue; // fmt writes the shortest digits that read back as `count`
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
    if (size >= 1e7) // no unit is larger
        return fmt::format("{:.3g}", number);
    if (size >= 99.95 || size == 0)
        return fmt::format("{:.0f}", number);
    return size >= 9.995 ? fmt::format("{:.1f}", number) : fmt::format("{:.2f}", number);
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

} // namespace

Parsed<Seconds> parse_seconds(std::string_view text)
{
    return parse<Seconds>(text, time_kind);
}

// Whole numbers are multiplied as such: a double has no room for every byte beyond 2^53.
Parsed<Bytes> parse_bytes(std::string_view text)
{
    const Parsed<Amount> amount = split(text, size_kind);
    if (!amount)
        return tl::unexpected(amount.error());
    const auto too_large = [text] {
        return tl::unexpected(UnitError{fmt::format("\"{}\" is more than 8 EiB", text), ""});
    };
    if (const auto whole = to_number<std::uint64_t>(amount->digits)) {
        const auto factor = static_cast<std::uint64_t>(amount->factor);
        return *whole <= ((1ULL << 63) - 1) / factor ? Parsed<Bytes>(Bytes(*whole * factor))
                                                     : too_large();
    }
    const double size = amount->number * amount->factor;
    return size < 0x1p63 ? Parsed<Bytes>(Bytes(static_cast<std::uint64_t>(std::llround(size))))
                         : too_large();
}

Parsed<Bandwidth> parse_bandwidth(std::string_view text)
{
    return parse<Bandwidth>(text, rate_kind);
}

Parsed<Flops> parse_flops(std::string_view text)
{
    return parse<Flops>(text, flop_kind);
}

Parsed<FlopRate> parse_flop_rate(std::string_view text)
{
    return parse<FlopRate>(text, flop_rate_kind);
}

std::string to_text(Seconds time)
{
    return time.value() == 0 ? "0 s" : exact(time.value(), time_units);
}
std::string to_text(Bytes size)
{
    if (size.value() < 1ULL << 53)
        return exact(static_cast<double>(size.value()), byte_units);
    const Unit* largest = &byte_units.front();
    for (const Unit& unit : byte_units)
        if (size.value() % static_cast<std::uint64_t>(unit.factor) == 0 &&
            unit.factor > largest->factor)
            largest = &unit;
    return fmt::format("{} {}", size.value() / static_cast<std::uint64_t>(largest->factor),
                       largest->name);
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
    return time.value() == 0 ? "0 s" : display(time.value(), time_units, 5);
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

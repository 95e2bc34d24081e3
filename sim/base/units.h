#pragma once

// Quantities as text: "450 GB/s", "400 Gb/s", "3 us", "25 MiB", "989 TFLOP/s". A bare number is not
// a quantity. GB is 1e9 bytes, GiB 2^30, Gb 1e9 bits.

#include "sim/base/quantity.h"

#include <tl/expected.hpp>

#include <string>
#include <string_view>

namespace trainyard {

// What was wrong with a text, and what would do.
struct UnitError {
    std::string message;
    std::string hint;
};

template <class Q>
using Parsed = tl::expected<Q, UnitError>;

Parsed<Seconds> parse_seconds(std::string_view text); // ps, ns, us, ms, s, min, h, d
Parsed<Bytes> parse_bytes(std::string_view text); // B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB
Parsed<Bandwidth>
parse_bandwidth(std::string_view text);           // B/s ... TB/s, GiB/s, bit rates Mb/s, Gb/s, Tb/s
Parsed<Flops> parse_flops(std::string_view text); // FLOP, kFLOP ... ZFLOP
Parsed<FlopRate> parse_flop_rate(std::string_view text); // FLOP/s ... EFLOP/s

// Exact round trip of what is finite and not negative (sizes: below 8 EiB): parse(to_text(q)) == q.
// The largest unit that keeps it short.
std::string to_text(Seconds time);
std::string to_text(Bytes size);
std::string to_text(Bandwidth rate);
std::string to_text(Flops work);
std::string to_text(FlopRate rate);

// For people: three significant digits, "1.53 s", "312 us", "68.2 GB", "44.1 GB/s", "412 TFLOP/s";
// "1e+30 s" where no unit is large enough.
std::string to_display(Seconds time);
std::string to_display(SimTime time);
std::string to_display(Bytes size);
std::string to_display(Bandwidth rate);
std::string to_display(Flops work);
std::string to_display(FlopRate rate);

// "12.3 k", "1.54 M", "70.6 B": counts of tokens and parameters.
std::string to_display_count(double count);

} // namespace trainyard

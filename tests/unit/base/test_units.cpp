#include "sim/base/random.h"
#include "sim/base/units.h"
#include "tests/catch.h"

#include <cmath>

using namespace trainyard;
using namespace trainyard::literals;

namespace {

template <class Q>
void check_round_trip(Q quantity, Parsed<Q> (*parse)(std::string_view))
{
    const std::string text = to_text(quantity);
    const Parsed<Q> again = parse(text);
    INFO(text);
    REQUIRE(again);
    CHECK(*again == quantity);
}

// A positive number of any size, few digits or many.
double any_size(Random& random)
{
    const double number = std::pow(10.0, -15.0 + 33.0 * random.uniform());
    return random.integer(0, 1) == 0 ? number : std::round(number * 1000) / 1000; // as people write
}

UnitError error_of(std::string_view text)
{
    return parse_bandwidth(text).error();
}

} // namespace

TEST_CASE("a quantity written as text reads back as the same value to the last bit")
{
    Random random(1);
    for (int i = 0; i < 5000; ++i) {
        check_round_trip(Seconds(any_size(random)), parse_seconds);
        check_round_trip(Bandwidth(any_size(random)), parse_bandwidth);
        check_round_trip(Flops(any_size(random)), parse_flops);
        check_round_trip(FlopRate(any_size(random)), parse_flop_rate);
        const int bits = static_cast<int>(random.integer(1, 63));
        check_round_trip(Bytes(random.bits() >> (64 - bits)), parse_bytes);
    }
    check_round_trip(Bytes((1ULL << 63) - 1), parse_bytes);
    check_round_trip(Bytes((1ULL << 53) + 1), parse_bytes); // no double holds it
    for (const double tiny : {1e-308, 5e-324, 1e-300})
        check_round_trip(Seconds(tiny), parse_seconds); // no normal number in larger units
    check_round_trip(Seconds(0.0), parse_seconds);
    check_round_trip(Bytes(0), parse_bytes);
}

TEST_CASE("quantities are written in the unit that keeps them short")
{
    CHECK(to_text(Seconds(0)) == "0 s");
    CHECK(to_text(25_MiB) == "25 MiB");
    CHECK(to_text(80_GB) == "80 GB");
    CHECK(to_text(450_GBps) == "450 GB/s");
    CHECK(to_text(400_Gbps) == "50 GB/s");
    CHECK(to_text(3_us) == "3 us");
    CHECK(to_text(Seconds(40e-9)) == "40 ns");
    CHECK(to_text(Seconds(600)) == "600 s");
    CHECK(to_text(Seconds(1800)) == "30 min");
    CHECK(to_text(Seconds(26 * 86400)) == "26 d");
    CHECK(to_text(989_TFLOPs) == "989 TFLOP/s");
    CHECK(to_text(8192_GiB * 1024) == "8 PiB");
}

TEST_CASE("bits are an eighth of bytes, and binary units are powers of two")
{
    CHECK(parse_bandwidth("400 Gb/s").value() == 50_GBps);
    CHECK(parse_bandwidth("0.4 Tb/s").value() == 50_GBps);
    CHECK(parse_bytes("1 KiB").value() == 1024_B);
    CHECK(parse_bytes("1.5 GB").value() == 1'500'000'000_B);
    CHECK(parse_bytes("0.5 GiB").value() == 512_MiB);
    CHECK(parse_seconds("2 min").value() == 120_s);
    CHECK(parse_seconds("1e-3 s").value() == 1_ms);
    CHECK(parse_flop_rate("2.5 PFLOP/s").value() == 2500_TFLOPs);
}

TEST_CASE("blanks around and between number and unit do not matter")
{
    CHECK(parse_bytes("  25MiB ").value() == 25_MiB);
    CHECK(parse_bytes("25   MiB").value() == 25_MiB);
}

TEST_CASE("a number without a unit is no quantity")
{
    CHECK(error_of("400").message == "\"400\" has no unit");
    CHECK(error_of("400").hint == "write the unit too, as in \"450 GB/s\"");
}

TEST_CASE("a text without a number is no quantity")
{
    for (const char* text : {"", " ", "GB/s", "fast", "nan GB/s", "inf GB/s", "-inf GB/s",
                             "+4 GB/s", "1,5 GB/s", "1_000 GB/s", "1.2.3 GB/s"})
    {
        INFO(text);
        CHECK(error_of(text).message == "\"" + std::string(text) + "\" is not a bandwidth");
        CHECK(error_of(text).hint == "write a number and a unit, as in \"450 GB/s\"");
    }
    CHECK(parse_flops("x").error().message == "\"x\" is not an operation count");
}

TEST_CASE("usual misspellings of units are recognised")
{
    CHECK(error_of("450 GBps").message == "\"GBps\" is not a unit of bandwidth");
    CHECK(error_of("450 GBps").hint == "did you mean \"GB/s\"?");
    CHECK(error_of("400 Gbps").hint == "did you mean \"Gb/s\"?");
    CHECK(error_of("400 Gbit/s").hint == "did you mean \"Gb/s\"?");
    CHECK(error_of("450 GB").hint == "did you mean \"GB/s\"?");
    CHECK(parse_seconds("3 \xC2\xB5s").error().hint == "did you mean \"us\"?");
    CHECK(parse_bytes("16 KB").error().hint == "did you mean \"kB\"?");
    CHECK(parse_flop_rate("989 TFLOPS").error().hint == "did you mean \"TFLOP/s\"?");
    CHECK(parse_flop_rate("989 TFLOPs").error().hint == "did you mean \"TFLOP/s\"?");
}

TEST_CASE("where case decides between bits and bytes nothing is guessed")
{
    CHECK_THAT(error_of("400 gb/s").hint, StartsWith("units that work here: B/s, kB/s"));
}

TEST_CASE("an unknown unit names those that work")
{
    const UnitError error = parse_seconds("3 parsecs").error();
    CHECK(error.message == "\"parsecs\" is not a unit of time");
    CHECK(error.hint == "units that work here: ps, ns, us, ms, s, min, h, d");
}

TEST_CASE("negative and endless quantities are refused")
{
    CHECK(parse_bytes("-1 GB").error().message == "\"-1 GB\" is negative");
    CHECK(parse_bytes("1e999 B").error().message == "the number of \"1e999 B\" is out of range");
    CHECK(parse_bytes("1e19 B").error().message == "\"1e19 B\" is more than 8 EiB");
    CHECK(parse_bytes("8192 PiB").error().message == "\"8192 PiB\" is more than 8 EiB");
    CHECK(parse_bandwidth("1e308 TB/s").error().message == "\"1e308 TB/s\" is too large");
}

TEST_CASE("people see three significant digits")
{
    CHECK(to_display(Seconds(1.5349)) == "1.53 s");
    CHECK(to_display(Seconds(312.4e-6)) == "312 us");
    CHECK(to_display(Seconds(9.9999e-3)) == "10.0 ms");
    CHECK(to_display(Seconds(99.96e-3)) == "100 ms");
    CHECK(to_display(Seconds(0.99996)) == "1.00 s");
    CHECK(to_display(Seconds(0.0)) == "0 s");
    CHECK(to_display(Seconds(-0.25)) == "-250 ms");
    CHECK(to_display(SimTime(1'500'000)) == "1.50 us");
    CHECK(to_display(68'200'000'000_B) == "68.2 GB");
    CHECK(to_display(0_B) == "0 B");
    CHECK(to_display(Seconds(2'306'867)) == "2306867 s");
    CHECK(to_display(Seconds(1e308)) == "1e+308 s"); // no unit is large enough
    CHECK(to_display(Bandwidth(44.1e9)) == "44.1 GB/s");
    CHECK(to_display(412_TFLOPs) == "412 TFLOP/s");
    CHECK(to_display(Flops(6.3e21)) == "6.30 ZFLOP");
    CHECK(to_display_count(70.6e9) == "70.6 B");
    CHECK(to_display_count(8) == "8.00");
}

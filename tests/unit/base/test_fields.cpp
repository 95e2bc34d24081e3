#include "sim/base/fields.h"
#include "tests/catch.h"

using namespace trainyard;
using namespace trainyard::literals;

namespace {

enum class Colour { red, green };

struct Inner {
    Bandwidth rate = 450_GBps;
    std::vector<int> sizes;

    bool operator==(const Inner&) const = default;
};

struct Outer {
    int count = 1;
    Colour colour = Colour::red;
    Inner inner;
    std::optional<Bytes> cap;

    bool operator==(const Outer&) const = default;
};

} // namespace

namespace trainyard {

template <>
std::vector<EnumName<Colour>> enum_names()
{
    return {{Colour::red, "red"}, {Colour::green, "green"}};
}

template <>
const FieldTable<Inner>& fields_of<Inner>()
{
    static const auto table = FieldTable<Inner>("inner", "a part")
                                  .field("rate", &Inner::rate, {.help = "of a link"})
                                  .field("sizes", &Inner::sizes, {.help = "sizes"});
    return table;
}

template <>
const FieldTable<Outer>& fields_of<Outer>()
{
    static const auto table =
        FieldTable<Outer>("outer", "the whole")
            .field("count", &Outer::count, {.help = "how many", .min = 1, .max = 8})
            .field("colour", &Outer::colour, {.help = "which"})
            .field("inner", &Outer::inner, {.help = "part"})
            .field("cap", &Outer::cap, {.help = "at most", .min = 1});
    return table;
}

} // namespace trainyard

namespace {

Checked<Outer> read(std::string_view text)
{
    const Checked<Json> json = parse_json(text, "outer.json");
    if (!json)
        return tl::unexpected(json.error());
    Problems problems;
    Outer value;
    fields_of<Outer>().read(Reader(*json, "outer.json", problems), value);
    if (has_errors(problems))
        return tl::unexpected(problems);
    return value;
}

} // namespace

TEST_CASE("what a field table writes, it reads back as the same value")
{
    Outer value{3, Colour::green, {100_GBps, {1, 2, 3}}, 25_MiB};
    const Json written = fields_of<Outer>().write(value);
    const Checked<Outer> again = read(to_text(written));
    REQUIRE(again);
    CHECK(*again == value);
    CHECK(read("{}").value() == Outer{});
}

TEST_CASE("every problem of a file is reported at once, with its line and pointer")
{
    const Checked<Outer> bad =
        read("{\n\"cuont\": 2,\n\"count\": 9,\n\"inner\": {\"rate\": 400,\n"
             "\"sizes\": [1, \"x\"]},\n\"colour\": \"gren\", \"cap\": \"0 B\"}");
    REQUIRE_FALSE(bad);
    const Problems& all = bad.error();
    REQUIRE(all.size() == 6);
    CHECK(all[0].message == "unknown key \"cuont\"");
    CHECK(all[0].hint == "did you mean \"count\"?");
    CHECK(all[0].line == 2);
    CHECK(all[1].message == "9 is too large");
    CHECK(all[2].pointer == "/colour");
    CHECK(all[3].pointer == "/inner/rate");
    CHECK(all[3].line == 4);
    CHECK(all[4].pointer == "/inner/sizes/1");
    CHECK(all[4].line == 5);
}

TEST_CASE("a bound is told in the unit of its field")
{
    CHECK(read(R"({"cap": "0 B"})").error()[0].hint == "at least 1 B");
    CHECK(read(R"({"count": 0})").error()[0].hint == "at least 1");
    CHECK(read(R"({"count": 9})").error()[0].hint == "at most 8");
    // Also of a number that has no room in the field's type; without a bound the type is one.
    CHECK(read(R"({"count": 1e30})").error()[0].message == "1e+30 is too large");
    CHECK(read(R"({"count": 1e30})").error()[0].hint == "at most 8");
    CHECK(read(R"({"inner": {"sizes": [1e30]}})").error()[0].hint == "at most 2147483647");
    CHECK(read(R"({"inner": {"sizes": [-1e30]}})").error()[0].hint == "at least -2147483648");
}

TEST_CASE("a value of the wrong kind says what it is")
{
    const auto message = [](std::string_view text) { return read(text).error()[0].message; };
    CHECK(message(R"({"count": 1.5})") == "expected a whole number, found 1.5");
    CHECK(message(R"({"count": "1"})") == R"(expected a whole number, found "1")");
    CHECK(message(R"({"count": [1]})") == "expected a whole number, found a list");
    CHECK(message(R"({"inner": {"sizes": [4294967296]}})") == "4294967296 is out of range");
    CHECK(message(R"({"inner": 3})") == "expected an object (inner), found a whole number");
    CHECK(message(R"({"inner": {"sizes": {}}})") == "expected a list, found an object");
    CHECK(message(R"({"inner": {"rate": true}})") ==
          "expected a bandwidth such as \"450 GB/s\", found true or false");
    CHECK(message(R"({"colour": 3})") == "expected a name, found a whole number");
    CHECK(message("[]") == "expected an object (outer), found a list");
    CHECK(read(R"({"colour": 3})").error()[0].hint == "one of: red, green");
    CHECK(read(R"({"count": 2.0})")->count == 2);
}

TEST_CASE("thousands of unknown keys are counted, not listed")
{
    std::string text = "{";
    for (int i = 0; i < 100'000; ++i)
        text += "\"k" + std::to_string(i) + "\": 1,";
    const Problems problems = read(text + "\"count\": 1}").error();
    REQUIRE(problems.size() == 21);
    CHECK(problems.back().message == "99980 more unknown keys");
}

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

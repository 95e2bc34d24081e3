#include "sim/base/field_values.h"

#include "sim/base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trainyard {

namespace {

// A number or a short text as it stands there, else its kind.
std::string shown(const Json& node)
{
    constexpr std::size_t longest = 40;
    const bool short_text = node.is_string() && node.as_string().size() <= longest;
    return node.is_number() || short_text ? to_text(node, JsonStyle::compact)
                                          : std::string(node.kind_name());
}

bool wrong_kind(const Reader& reader, std::string_view expected)
{
    reader.error(fmt::format("expected {}, found {}", expected, shown(reader.node())));
    return false;
}

Json typed_schema(std::string_view type)
{
    Json out = Json::object();
    out["type"] = type;
    return out;
}

template <class Int>
bool read_integer(const Reader& reader, Int& out)
{
    const Json& node = reader.node();
    if (!node.is_number() || node.as_double() != std::floor(node.as_double()))
        return wrong_kind(reader, "a whole number");
    const bool exact = node.is_integer() || std::abs(node.as_double()) < 0x1p53;
    const std::int64_t value = node.is_integer() ? node.as_integer()
                               : exact           ? static_cast<std::int64_t>(node.as_double())
                                                 : 0;
    if (!exact || !std::in_range<Int>(value)) {
        using Limits = std::numeric_limits<Int>;
        reader.error(fmt::format("{} is out of range", to_text(node, JsonStyle::compact)),
                     node.as_double() > 0 ? fmt::format("at most {}", Limits::max())
                                          : fmt::format("at least {}", Limits::min()));
        return false;
    }
    out = static_cast<Int>(value);
    return true;
}

// Reads "450 GB/s" with the parser of its kind; a bare number says what to write instead.
template <class Q>
bool read_quantity(const Reader& reader, Parsed<Q> (*parse)(std::string_view),
                   std::string_view what, std::string_view example, Q& out)
{
    if (reader.node().is_number()) {
        reader.error(fmt::format("{} has no unit", to_text(reader.node(), JsonStyle::compact)),
                     fmt::format("write {} as text with its unit, as in \"{}\"", what, example));
        return false;
    }
    if (!reader.node().is_string())
        return wrong_kind(reader, fmt::format("{} such as \"{}\"", what, example));
    const Parsed<Q> parsed = parse(reader.node().as_string());
    if (!parsed) {
        reader.error(parsed.error().message, parsed.error().hint);
        return false;
    }
    out = *parsed;
    return true;
}

Json quantity_schema(std::string_view example)
{
    Json out = typed_schema("string");
    out["examples"].push_back(example);
    return out;
}

} // namespace

std::string FieldValue<bool>::type_name()
{
    return "true | false";
}
bool FieldValue<bool>::read(const Reader& reader, bool& out)
{
    if (!reader.node().is_bool())
        return wrong_kind(reader, "true or false");
    out = reader.node().as_bool();
    return true;
}
Json FieldValue<bool>::write(const bool& value)
{
    return Json(value);
}
Json FieldValue<bool>::schema()
{
    return typed_schema("boolean");
}

std::string FieldValue<std::string>::type_name()
{
    return "text";
}
bool FieldValue<std::string>::read(const Reader& reader, std::string& out)
{
    if (!reader.node().is_string())
        return wrong_kind(reader, "text in quotes");
    out = reader.node().as_string();
    return true;
}
Json FieldValue<std::string>::write(const std::string& value)
{
    return Json(value);
}
Json FieldValue<std::string>::schema()
{
    return typed_schema("string");
}

std::string FieldValue<Json>::type_name()
{
    return "any";
}
bool FieldValue<Json>::read(const Reader& reader, Json& out)
{
    out = reader.node();
    return true;
}
Json FieldValue<Json>::write(const Json& value)
{
    return value;
}
Json FieldValue<Json>::schema()
{
    return Json::object();
}

#define TRAINYARD_INTEGER_FIELD(Type)                                                              \
    std::string FieldValue<Type>::type_name()                                                      \
    {                                                                                              \
        return "whole number";                                                                     \
    }                                                                                              \
    bool FieldValue<Type>::read(const Reader& reader, Type& out)                                   \
    {                                                                                              \
        return read_integer(reader, out);                                                          \
    }                                                                                              \
    Json FieldValue<Type>::write(const Type& value)                                                \
    {                                                                                              \
        return Json(value);                                                                        \
    }                                                                                              \
    Json FieldValue<Type>::schema()                                                                \
    {                                                                                              \
        return typed_schema("integer");                                                            \
    }                                                                                              \
    double FieldValue<Type>::magnitude(const Type& value)                                          \
    {                                                                                              \
        return static_cast<double>(value);                                                         \
    }                                                                                              \
    std::string FieldValue<Type>::magnitude_text(double magnitude)                                 \
    {                                                                                              \
        return fmt::format("{}", magnitude);                                                       \
    }

TRAINYARD_INTEGER_FIELD(int)
TRAINYARD_INTEGER_FIELD(std::int64_t)
TRAINYARD_INTEGER_FIELD(std::uint64_t)

std::string FieldValue<double>::type_name()
{
    return "number";
}
bool FieldValue<double>::read(const Reader& reader, double& out)
{
    if (!reader.node().is_number())
        return wrong_kind(reader, "a number");
    out = reader.node().as_double();
    return true;
}
Json FieldValue<double>::write(const double& value)
{
    return Json(value);
}
Json FieldValue<double>::schema()
{
    return typed_schema("number");
}
double FieldValue<double>::magnitude(const double& value)
{
    return value;
}
std::string FieldValue<double>::magnitude_text(double magnitude)
{
    return fmt::format("{}", magnitude);
}

#define TRAINYARD_QUANTITY_FIELD(Type, parser, what, example)                                      \
    std::string FieldValue<Type>::type_name()                                                      \
    {                                                                                              \
        return what ", as in \"" example "\"";                                                     \
    }                                                                                              \
    bool FieldValue<Type>::read(const Reader& reader, Type& out)                                   \
    {                                                                                              \
        return read_quantity<Type>(reader, parser, what, example, out);                            \
    }                                                                                              \
    Json FieldValue<Type>::write(const Type& value)                                                \
    {                                                                                              \
        return Json(to_text(value));                                                               \
    }                                                                                              \
    Json FieldValue<Type>::schema()                                                                \
    {                                                                                              \
        return quantity_schema(example);                                                           \
    }                                                                                              \
    double FieldValue<Type>::magnitude(const Type& value)                                          \
    {                                                                                              \
        return static_cast<double>(value.value());                                                 \
    }                                                                                              \
    std::string FieldValue<Type>::magnitude_text(double magnitude)                                 \
    {                                                                                              \
        return to_text(Type(static_cast<Type::rep>(magnitude)));                                   \
    }

TRAINYARD_QUANTITY_FIELD(Seconds, parse_seconds, "a time", "3 us")
TRAINYARD_QUANTITY_FIELD(Bytes, parse_bytes, "a size", "25 MiB")
TRAINYARD_QUANTITY_FIELD(Bandwidth, parse_bandwidth, "a bandwidth", "450 GB/s")
TRAINYARD_QUANTITY_FIELD(Flops, parse_flops, "an operation count", "12 TFLOP")
TRAINYARD_QUANTITY_FIELD(FlopRate, parse_flop_rate, "a compute rate", "989 TFLOP/s")

#undef TRAINYARD_INTEGER_FIELD
#undef TRAINYARD_QUANTITY_FIELD

bool read_enum_name(const Reader& reader, const std::vector<std::string>& names, std::size_t& index)
{
    const std::string all = fmt::format("one of: {}", fmt::join(names, ", "));
    if (!reader.node().is_string()) {
        reader.error(fmt::format("expected a name, found {}", reader.node().kind_name()), all);
        return false;
    }
    const std::string& word = reader.node().as_string();
    index = static_cast<std::size_t>(std::find(names.begin(), names.end(), word) - names.begin());
    if (index < names.size())
        return true;
    const std::string near = did_you_mean(word, names);
    reader.error(fmt::format("\"{}\" is not known here", word),
                 near.empty() ? all : fmt::format("did you mean \"{}\"? ({})", near, all));
    return false;
}

Json enum_schema(const std::vector<std::string>& names)
{
    Json out = typed_schema("string");
    for (const std::string& name : names)
        out["enum"].push_back(name);
    return out;
}

Json array_schema(Json item)
{
    Json out = typed_schema("array");
    out["items"] = std::move(item);
    return out;
}

Json map_schema(Json value)
{
    Json out = typed_schema("object");
    out["additionalProperties"] = std::move(value);
    return out;
}

} // namespace trainyard

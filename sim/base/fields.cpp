#include "sim/base/fields.h"

#include "sim/base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trainyard {

bool check_keys(const Reader& reader,
                const std::vector<std::pair<std::string, bool>>& names_and_required,
                std::string_view table_name)
{
    if (!reader.node().is_object()) {
        reader.error(fmt::format("expected an object ({}), found {}", table_name,
                                 reader.node().kind_name()));
        return false;
    }
    std::vector<std::string> names;
    for (const auto& [name, required] : names_and_required)
        names.push_back(name);
    constexpr std::size_t most_reported = 20;
    std::size_t unknown = 0;
    for (const Json::Member& member : reader.node().members()) {
        const bool known = std::find(names.begin(), names.end(), member.first) != names.end();
        if (!known && member.first != "format" && member.first != "$schema" &&
            ++unknown <= most_reported)
            reader.member(member).error(fmt::format("unknown key \"{}\"", member.first),
                                        suggestion(member.first, names));
    }
    if (unknown > most_reported)
        reader.error(fmt::format("{} more unknown keys", unknown - most_reported));
    for (const auto& [name, required] : names_and_required)
        if (required && reader.node().find(name) == nullptr)
            reader.error(fmt::format("\"{}\" is missing from {}", name, table_name));
    return true;
}

namespace {

void check_range(const Reader& reader, double value, const FieldList::Field& field)
{
    const std::optional<double>& min = field.description.min;
    const std::optional<double>& max = field.description.max;
    if (min && value < *min)
        reader.error(fmt::format("{} is too small", to_text(reader.node(), JsonStyle::compact)),
                     fmt::format("at least {}", field.access.magnitude_text(*min)));
    if (max && value > *max)
        reader.error(fmt::format("{} is too large", to_text(reader.node(), JsonStyle::compact)),
                     fmt::format("at most {}", field.access.magnitude_text(*max)));
}

} // namespace

void FieldList::add(std::string_view name, const FieldInfo& info, const ValueAccess& access,
                    const void* defaults, const void* member)
{
    FieldDescription description{.name = std::string(name),
                                 .help = std::string(info.help),
                                 .min = info.min,
                                 .max = info.max,
                                 .required = info.required,
                                 .type_name = access.type_name(),
                                 .default_value = info.required ? Json() : access.write(member),
                                 .schema = access.schema()};
    fields_.push_back(
        {std::move(description), access,
         static_cast<const std::byte*>(member) - static_cast<const std::byte*>(defaults)});
}

void FieldList::read_struct(const Reader& reader, void* value) const
{
    std::vector<std::pair<std::string, bool>> names;
    for (const Field& field : fields_)
        names.emplace_back(field.description.name, field.description.required);
    if (!check_keys(reader, names, name_))
        return;
    for (const Field& field : fields_) {
        if (reader.node().find(field.description.name) == nullptr)
            continue;
        const Reader at = reader.member(field.description.name);
        void* const member = static_cast<std::byte*>(value) + field.offset;
        if (field.access.read(at, member) && field.access.magnitude != nullptr)
            check_range(at, field.access.magnitude(member), field);
    }
}

Json FieldList::write_struct(const void* value) const
{
    Json out = Json::object();
    for (const Field& field : fields_) {
        Json written = field.access.write(static_cast<const std::byte*>(value) + field.offset);
        if (field.description.required || !(written == field.description.default_value))
            out[field.description.name] = std::move(written);
    }
    return out;
}

Json FieldList::schema() const
{
    Json out = Json::object();
    out["title"] = name_;
    out["description"] = help_;
    out["type"] = "object";
    out["additionalProperties"] = false;
    Json properties = Json::object();
    Json required = Json::array();
    for (const Field& field : fields_) {
        const FieldDescription& description = field.description;
        Json schema = description.schema;
        schema["description"] = description.help;
        if (description.required)
            required.push_back(description.name);
        else if (!description.default_value.is_null())
            schema["default"] = description.default_value;
        const Json* type = schema.find("type");
        if (type != nullptr && type->is_string() && type->as_string() != "string") {
            if (description.min)
                schema["minimum"] = *description.min;
            if (description.max)
                schema["maximum"] = *description.max;
        }
        properties[description.name] = std::move(schema);
    }
    out["properties"] = std::move(properties);
    if (!required.items().empty())
        out["required"] = std::move(required);
    return out;
}

namespace {

bool wrong_kind(const Reader& reader, std::string_view expected)
{
    const Json& node = reader.node();
    reader.error(fmt::format("expected {}, found {}", expected,
                             node.is_number() ? to_text(node, JsonStyle::compact)
                                              : std::string(node.kind_name())));
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
        reader.error(fmt::format("{} is out of range", to_text(node, JsonStyle::compact)));
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

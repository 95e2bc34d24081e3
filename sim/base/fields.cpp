#include "sim/base/fields.h"

#include "sim/base/file_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
        if (!known && !is_file_key(member.first) && ++unknown <= most_reported)
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

// Whether it is within the bounds of the field; reports when it is not.
bool check_range(const Reader& reader, double value, const FieldList::Field& field)
{
    const auto& [min, max] = std::pair(field.description.min, field.description.max);
    const bool small = min && value < *min;
    if (!small && !(max && value > *max))
        return true;
    reader.error(fmt::format("{} is too {}", to_text(reader.node(), JsonStyle::compact),
                             small ? "small" : "large"),
                 fmt::format("at {} {}", small ? "least" : "most",
                             field.access.magnitude_text(small ? *min : *max)));
    return false;
}

// Whether `node` is a whole number where numbers have no unit: its size is known before it is read,
// also where the field's type has no room for it.
bool is_plain_whole(const Json& node, const FieldList::Field& field)
{
    const Json* const type = field.description.schema.find("type");
    return field.access.magnitude != nullptr && type != nullptr && *type != Json("string") &&
           node.is_number() && node.as_double() == std::floor(node.as_double());
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
        if (is_plain_whole(at.node(), field) && !check_range(at, at.node().as_double(), field))
            continue;
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

} // namespace trainyard

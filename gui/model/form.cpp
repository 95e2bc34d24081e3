#include "gui/model/form.h"

#include "sim/base/fields.h"
#include "sim/base/file_format.h"
#include "sim/base/words.h"
#include "sim/study/scenario.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard::gui {

namespace {

std::string schema_text(const Json& schema, std::string_view key)
{
    const Json* const value = schema.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

std::optional<double> number_in(const Json& schema, std::string_view key)
{
    const Json* const value = schema.find(key);
    return value != nullptr && value->is_number() ? std::optional(value->as_double())
                                                  : std::nullopt;
}

FieldKind kind_of(const Json& schema)
{
    if (schema.find("properties") != nullptr)
        return FieldKind::group;
    if (const Json* const forms = schema.find("anyOf"))
        return std::any_of(forms->items().begin(), forms->items().end(),
                           [](const Json& form) { return schema_text(form, "type") == "object"; })
                   ? FieldKind::file
                   : FieldKind::json;
    if (const Json* const item = schema.find("items"); item && item->find("properties") != nullptr)
        return FieldKind::list;
    if (schema.find("enum") != nullptr)
        return FieldKind::choice;
    const std::string type = schema_text(schema, "type");
    if (type == "integer")
        return FieldKind::integer;
    if (type == "number")
        return FieldKind::number;
    if (type == "boolean")
        return FieldKind::boolean;
    if (type == "string")
        return schema.find("examples") != nullptr ? FieldKind::quantity : FieldKind::text;
    return FieldKind::json;
}

bool is_required(const Json& parent, const std::string& name)
{
    const Json* const required = parent.find("required");
    return required != nullptr && std::any_of(required->items().begin(), required->items().end(),
                                              [&](const Json& one) { return one == Json(name); });
}

FormField field_of(const Json& schema, std::string field, std::string name)
{
    FormField out;
    out.field = std::move(field);
    out.name = std::move(name);
    out.help = schema_text(schema, "description");
    out.kind = kind_of(schema);
    out.min = number_in(schema, "minimum");
    out.max = number_in(schema, "maximum");
    if (const Json* const value = schema.find("default"))
        out.default_value = *value;
    if (const Json* const names = schema.find("enum"))
        for (const Json& one : names->items())
            out.choices.push_back(one.as_string());
    if (const Json* const examples = schema.find("examples");
        examples && !examples->items().empty())
        out.example = examples->items().front().as_string();
    const bool list = out.kind == FieldKind::list;
    const Json& object = list ? *schema.find("items") : schema;
    const std::string prefix = out.field.empty() ? "" : out.field + (list ? ".*." : ".");
    if (const Json* const members = object.find("properties"))
        for (const Json::Member& member : members->members()) {
            if (member.first == "format")
                continue; // of the file, not of the job
            out.fields.push_back(field_of(member.second, prefix + member.first, member.first));
            out.fields.back().required = is_required(object, member.first);
        }
    return out;
}

} // namespace

std::string FormField::default_text() const
{
    return default_value.is_null() ? std::string() : edit_text(default_value);
}

std::string FormField::takes() const
{
    switch (kind) {
    case FieldKind::integer:
    case FieldKind::number: {
        const char* const what = kind == FieldKind::integer ? "whole number" : "number";
        if (min && max)
            return fmt::format("{}, {} to {}", what, *min, *max);
        return min ? fmt::format("{}, at least {}", what, *min) : what;
    }
    case FieldKind::quantity:
        return fmt::format("quantity like {}", example);
    case FieldKind::boolean:
        return "true or false";
    case FieldKind::choice:
        return fmt::format("one of {}", choices.size());
    case FieldKind::file:
        return "file or shipped name";
    case FieldKind::json:
        return "JSON";
    case FieldKind::text:
        return "text";
    case FieldKind::unknown:
        return "nothing: no reader knows it";
    case FieldKind::group:
    case FieldKind::list:
        break;
    }
    return {};
}

std::string FormField::unit() const
{
    const std::size_t space = kind == FieldKind::quantity ? example.rfind(' ') : std::string::npos;
    return space == std::string::npos ? std::string() : example.substr(space + 1);
}

std::string FormField::label() const
{
    const std::string in = unit();
    return in.empty() ? name : fmt::format("{} [{}]", name, in);
}

std::string FormField::with_unit(const std::string& text) const
{
    const std::string in = unit();
    return !in.empty() && to_number<double>(text) ? fmt::format("{} {}", text, in) : text;
}

std::vector<std::string> FormField::values() const
{
    return kind == FieldKind::boolean ? std::vector<std::string>{"true", "false"} : choices;
}

FormField form_of(const Json& schema)
{
    return field_of(schema, "", "");
}

const FormField& scenario_form()
{
    static const FormField root = field_of(fields_of<Scenario>().schema(), "", "scenario");
    return root;
}

const FormField* find_field(const FormField& root, const std::string& field)
{
    if (root.field == field)
        return &root;
    for (const FormField& inner : root.fields)
        if (inner.field == field || field.starts_with(inner.field + "."))
            return find_field(inner, field);
    return nullptr;
}

const FormField* field_at(const FormField& root, const std::string& pointer)
{
    const FormField* at = &root;
    std::string field;
    std::size_t from = pointer.empty() ? std::string::npos : 1;
    while (from != std::string::npos && at->kind != FieldKind::list) {
        const std::size_t slash = pointer.find('/', from);
        const std::string key =
            pointer.substr(from, slash == std::string::npos ? slash : slash - from);
        const auto inner = std::find_if(at->fields.begin(), at->fields.end(),
                                        [&](const FormField& one) { return one.name == key; });
        if (inner == at->fields.end())
            break;
        at = &*inner;
        from = slash == std::string::npos ? slash : slash + 1;
    }
    return at == &root ? nullptr : at;
}

namespace {

void add_unknown_keys(const FormField& form, const Json& object, const std::string& prefix,
                      std::vector<std::string>& out)
{
    for (const Json::Member& member : object.members()) {
        const std::string path = prefix + member.first;
        const auto known = std::ranges::find(form.fields, member.first, &FormField::name);
        if (known == form.fields.end()) {
            if (!is_file_key(member.first))
                out.push_back(path);
        } else if (known->kind == FieldKind::group && member.second.is_object())
            add_unknown_keys(*known, member.second, path + ".", out);
        else if (known->kind == FieldKind::list && member.second.is_array()) {
            const Json::Array& items = member.second.items();
            for (std::size_t i = 0; i < items.size(); ++i)
                if (items[i].is_object())
                    add_unknown_keys(*known, items[i], path + "." + std::to_string(i) + ".", out);
        }
    }
}

} // namespace

std::vector<std::string> unknown_keys(const FormField& root, const Json& scenario)
{
    std::vector<std::string> out;
    if (scenario.is_object())
        add_unknown_keys(root, scenario, "", out);
    return out;
}

std::string edit_text(const Json& value)
{
    return value.is_string() ? value.as_string() : to_text(value, JsonStyle::compact);
}

} // namespace trainyard::gui

#pragma once

// One table per type says every field's name, type, unit, default, range and help; reading,
// writing, JSON Schema, --help and forms all come from it.
//
//     template <> const FieldTable<Training>& fields_of<Training>()
//     {
//         static const auto table = FieldTable<Training>("training", "What is trained per step.")
//             .field("sequence_length", &Training::sequence_length, {.help = "tokens per sequence",
//             .min = 1, .required = true}) .field("precision", &Training::precision, {.help =
//             "number format of most GEMMs"});
//         return table;
//     }
//
// A field's default is its value in a default-constructed T.

#include "sim/base/field_values.h"

#include <functional>
#include <utility>

namespace trainyard {

struct FieldInfo {
    std::string help = {};
    std::optional<double> min =
        {}; // inclusive, in SI units (bytes, seconds, bytes/s) for quantities
    std::optional<double> max = {};
    bool required = false;
};

// A field as forms and docs see it.
struct FieldDescription {
    std::string name;
    FieldInfo info;
    std::string type_name; // "integer", "bandwidth (\"450 GB/s\")", ...
    Json default_value;    // null when there is none
    Json schema;           // JSON Schema of the value
};

template <class T>
class FieldTable {
public:
    struct Field {
        FieldDescription description;
        std::function<void(const Reader&, T&)> read;
        std::function<Json(const T&)> write;
    };

    FieldTable(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help))
    {}

    template <class M>
    FieldTable&& field(std::string name, M T::*member, FieldInfo info = {}) &&;

    const std::string& name() const { return name_; }
    const std::string& help() const { return help_; }
    const std::vector<Field>& fields() const { return fields_; }

    // Reads an object. Problems (unknown keys with a suggestion, wrong kinds, ranges, missing
    // required fields) go to the reader; what could not be read keeps its default.
    void read(const Reader& reader, T& value) const;

    // Members whose value equals the default are left out, required ones never.
    Json write(const T& value) const;

    Json schema() const;

private:
    std::string name_;
    std::string help_;
    std::vector<Field> fields_;
};

// The type-independent part of FieldTable::read: checks that the node is an object, reports unknown
// keys and missing required ones. Returns false when it is no object.
bool check_keys(const Reader& reader,
                const std::vector<std::pair<std::string, bool>>& names_and_required,
                std::string_view table_name);
void check_range(const Reader& reader, double value, const FieldInfo& info,
                 std::string (*text)(double));
Json object_schema(std::string_view title, std::string_view help,
                   const std::vector<const FieldDescription*>& fields);

template <class T>
template <class M>
FieldTable<T>&& FieldTable<T>::field(std::string name, M T::*member, FieldInfo info) &&
{
    Field f;
    f.description.name = std::move(name);
    f.description.info = info;
    f.description.type_name = FieldValue<M>::type_name();
    f.description.schema = FieldValue<M>::schema();
    if (!info.required)
        f.description.default_value = FieldValue<M>::write(T{}.*member);
    f.read = [member, info](const Reader& reader, T& value) {
        if (!FieldValue<M>::read(reader, value.*member))
            return;
        if constexpr (HasMagnitude<M>)
            check_range(reader, FieldValue<M>::magnitude(value.*member), info,
                        &FieldValue<M>::magnitude_text);
    };
    f.write = [member](const T& value) { return FieldValue<M>::write(value.*member); };
    fields_.push_back(std::move(f));
    return std::move(*this);
}

template <class T>
void FieldTable<T>::read(const Reader& reader, T& value) const
{
    std::vector<std::pair<std::string, bool>> names;
    for (const Field& f : fields_)
        names.emplace_back(f.description.name, f.description.info.required);
    if (!check_keys(reader, names, name_))
        return;
    for (const Field& f : fields_)
        if (reader.node().find(f.description.name) != nullptr)
            f.read(reader.member(f.description.name), value);
}

template <class T>
Json FieldTable<T>::write(const T& value) const
{
    Json out = Json::object();
    for (const Field& f : fields_) {
        Json written = f.write(value);
        if (f.description.info.required || !(written == f.description.default_value))
            out[f.description.name] = std::move(written);
    }
    return out;
}

template <class T>
Json FieldTable<T>::schema() const
{
    std::vector<const FieldDescription*> all;
    for (const Field& f : fields_)
        all.push_back(&f.description);
    return object_schema(name_, help_, all);
}

} // namespace trainyard

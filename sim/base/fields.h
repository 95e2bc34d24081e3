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

#include <cstddef>
#include <utility>

namespace trainyard {

struct FieldInfo {
    std::string_view help = {}; // which field() copies
    std::optional<double> min =
        {}; // inclusive, in SI units (bytes, seconds, bytes/s) for quantities
    std::optional<double> max = {};
    bool required = false;
};

// A field as forms and docs see it.
struct FieldDescription {
    std::string name;
    std::string help;
    std::optional<double> min; // as in FieldInfo
    std::optional<double> max;
    bool required = false;
    std::string type_name; // "integer", "bandwidth (\"450 GB/s\")", ...
    Json default_value;    // null when there is none
    Json schema;           // JSON Schema of the value
};

// What can be done with the values of one type, wherever they lie.
struct ValueAccess {
    std::string (*type_name)();
    Json (*schema)();
    bool (*read)(const Reader&, void* value);
    Json (*write)(const void* value);
    double (*magnitude)(const void* value); // null: it has none
    std::string (*magnitude_text)(double magnitude);
};

template <class M>
constexpr ValueAccess value_access()
{
    ValueAccess access{
        &FieldValue<M>::type_name,
        &FieldValue<M>::schema,
        [](const Reader& reader, void* value) {
            return FieldValue<M>::read(reader, *static_cast<M*>(value));
        },
        [](const void* value) { return FieldValue<M>::write(*static_cast<const M*>(value)); },
        nullptr,
        nullptr};
    if constexpr (HasMagnitude<M>) {
        access.magnitude = [](const void* value) {
            return FieldValue<M>::magnitude(*static_cast<const M*>(value));
        };
        access.magnitude_text = &FieldValue<M>::magnitude_text;
    }
    return access;
}

// The type-independent part of reading a struct: checks that the node is an object, reports unknown
// keys and missing required ones. Returns false when it is no object.
bool check_keys(const Reader& reader,
                const std::vector<std::pair<std::string, bool>>& names_and_required,
                std::string_view table_name);

// The part of a table that does not depend on its type, so that it is compiled once.
class FieldList {
public:
    struct Field {
        FieldDescription description;
        ValueAccess access;
        std::ptrdiff_t offset; // of the member, in its struct
    };

    FieldList(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help))
    {}

    const std::string& name() const { return name_; }
    const std::string& help() const { return help_; }
    const std::vector<Field>& fields() const { return fields_; }

    Json schema() const;

protected:
    // `member` is that of the struct `defaults`.
    void add(std::string_view name, const FieldInfo& info, const ValueAccess& access,
             const void* defaults, const void* member);
    void read_struct(const Reader& reader, void* value) const;
    Json write_struct(const void* value) const;

private:
    std::string name_;
    std::string help_;
    std::vector<Field> fields_;
};

template <class T>
class FieldTable : public FieldList {
public:
    using FieldList::FieldList;

    template <class M>
    FieldTable&& field(std::string_view name, M T::*member, const FieldInfo& info = {}) &&
    {
        add(name, info, value_access<M>(), &defaults_, &(defaults_.*member));
        return std::move(*this);
    }

    // Reads an object. Problems (unknown keys with a suggestion, wrong kinds, ranges, missing
    // required fields) go to the reader; what could not be read keeps its default.
    void read(const Reader& reader, T& value) const { read_struct(reader, &value); }

    // Members whose value equals the default are left out, required ones never.
    Json write(const T& value) const { return write_struct(&value); }

private:
    T defaults_{};
};

} // namespace trainyard

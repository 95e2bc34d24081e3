#pragma once

// What a form shows of the scenario's fields: a tree made of its schema, which comes from the field
// tables.

#include "sim/base/json.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::gui {

enum class FieldKind : std::uint8_t {
    group, // an object with fields of its own
    list,  // of such objects
    integer,
    number,
    boolean,
    choice,
    quantity, // text with a unit
    text,
    file,   // of a model or a cluster: a path, a shipped name, or the object itself
    json,   // another list or a map, as JSON text
    unknown // a key that no reader knows
};

struct FormField {
    std::string field; // "strategy.overlap.dp"; of the root empty; inside a list "list.*.name"
    std::string name;  // "dp"
    std::string help;
    FieldKind kind = FieldKind::group;
    bool required = false;
    std::optional<double> min; // inclusive
    std::optional<double> max;
    std::string example;              // of a quantity: "25 MiB"
    Json default_value;               // null: chosen by what else is given
    std::vector<std::string> choices; // of a choice
    std::vector<FormField> fields;    // of a group, or of each object of a list

    // The default in the words of `--set`; empty: none.
    std::string default_text() const;
    // "1 to 64", "quantity like 25 MiB": what is taken.
    std::string takes() const;
    // What a number without a unit is taken in: that of the table's example. Empty: of no quantity.
    std::string unit() const;
    // "bucket_cap [MiB]": the name with that unit.
    std::string label() const;
    // A plain number with the unit, any other text as it is.
    std::string with_unit(const std::string& text) const;
    // What can be chosen: of a choice its names, of a boolean both values.
    std::vector<std::string> values() const;
};

// Of a field table's schema.
FormField form_of(const Json& schema);

// Of all fields of a scenario, in the tables' order.
const FormField& scenario_form();

// The field of that name, anywhere in the tree; null: none.
const FormField* find_field(const FormField& root, const std::string& field);

// The field that a problem's pointer is about ("/strategy/tp"): the deepest that exists.
const FormField* field_at(const FormField& root, const std::string& pointer);

// Keys of a scenario that are no fields ("strategy.tpp"), in its order.
std::vector<std::string> unknown_keys(const FormField& root, const Json& scenario);

// A value as `--set` takes it: texts as they are, the rest as JSON.
std::string edit_text(const Json& value);

} // namespace trainyard::gui

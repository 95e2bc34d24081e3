#pragma once

// What a header of options needs to say how its types stand in files: the names of enumerations,
// and that a table of fields exists. The tables themselves are made with fields.h.

#include <optional>
#include <string_view>
#include <vector>

namespace trainyard {

class Json;
class Reader;

template <class T>
class FieldTable;

// The table of a struct. Declare the specialisation in the header of T, define it in a source file.
template <class T>
const FieldTable<T>& fields_of();

// How a value of a field is read, written and described (field_values.h).
template <class T>
struct FieldValue;

// The names of an enumeration, as files spell them. Specialise `enum_names` for each enumeration
// used in a field.
template <class E>
struct EnumName {
    E value;
    std::string_view name;
};
template <class E>
std::vector<EnumName<E>> enum_names();

// The same, made once.
template <class E>
const std::vector<EnumName<E>>& known_names()
{
    static const std::vector<EnumName<E>> names = enum_names<E>();
    return names;
}

template <class E>
std::string_view to_name(E value)
{
    for (const EnumName<E>& entry : known_names<E>())
        if (entry.value == value)
            return entry.name;
    return "?";
}

template <class E>
std::optional<E> from_name(std::string_view name)
{
    for (const EnumName<E>& entry : known_names<E>())
        if (entry.name == name)
            return entry.value;
    return std::nullopt;
}

} // namespace trainyard

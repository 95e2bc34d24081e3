#pragma once

// How one value of a field is read, written and described: numbers, text, quantities, enumerations,
// lists, maps, optional values, and nested structs with a field table of their own.

#include "sim/base/field_names.h"
#include "sim/base/quantity.h"
#include "sim/base/reader.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// FieldValue<T>::read returns false after having reported why the node cannot be read.
template <class T>
struct FieldValue {
    static std::string type_name() { return fields_of<T>().name(); }
    static bool read(const Reader& reader, T& out)
    {
        const std::size_t before = reader.problem_count();
        fields_of<T>().read(reader, out);
        return !reader.errors_since(before);
    }
    static Json write(const T& value) { return fields_of<T>().write(value); }
    static Json schema() { return fields_of<T>().schema(); }
};

// Values with a size that a range can bound; in SI units for quantities.
template <class T>
concept HasMagnitude = requires(const T& value)
{
    FieldValue<T>::magnitude(value);
};

#define TRAINYARD_BASIC_FIELD(Type)                                                                \
    template <>                                                                                    \
    struct FieldValue<Type> {                                                                      \
        static std::string type_name();                                                            \
        static bool read(const Reader& reader, Type& out);                                         \
        static Json write(const Type& value);                                                      \
        static Json schema();

#define TRAINYARD_SIZED_FIELD(Type)                                                                \
    TRAINYARD_BASIC_FIELD(Type)                                                                    \
    static double magnitude(const Type& value);                                                    \
    static std::string magnitude_text(double magnitude); /* "8", "25 MiB" */                       \
    }

TRAINYARD_BASIC_FIELD(bool)
};
TRAINYARD_BASIC_FIELD(std::string)
}
;
TRAINYARD_BASIC_FIELD(Json) // taken as it is
}
;
TRAINYARD_SIZED_FIELD(int);
TRAINYARD_SIZED_FIELD(std::int64_t);
TRAINYARD_SIZED_FIELD(std::uint64_t);
TRAINYARD_SIZED_FIELD(double);
TRAINYARD_SIZED_FIELD(Seconds);
TRAINYARD_SIZED_FIELD(Bytes);
TRAINYARD_SIZED_FIELD(Bandwidth);
TRAINYARD_SIZED_FIELD(Flops);
TRAINYARD_SIZED_FIELD(FlopRate);

#undef TRAINYARD_SIZED_FIELD
#undef TRAINYARD_BASIC_FIELD

// Helpers without types, so that the templates below stay small.
bool read_enum_name(const Reader& reader, const std::vector<std::string>& names,
                    std::size_t& index);
Json enum_schema(const std::vector<std::string>& names);
Json array_schema(Json item);
Json map_schema(Json value);

template <class E>
requires std::is_enum_v<E>
struct FieldValue<E> {
    static std::vector<std::string> names()
    {
        std::vector<std::string> all;
        for (const EnumName<E>& entry : enum_names<E>())
            all.emplace_back(entry.name);
        return all;
    }
    static std::string type_name()
    {
        std::string joined;
        for (const std::string& name : names())
            joined += (joined.empty() ? "" : " | ") + name;
        return joined;
    }
    static bool read(const Reader& reader, E& out)
    {
        std::size_t index = 0;
        if (!read_enum_name(reader, names(), index))
            return false;
        out = enum_names<E>()[index].value;
        return true;
    }
    static Json write(const E& value) { return Json(to_name(value)); }
    static Json schema() { return enum_schema(names()); }
};

// null means "not given".
template <class T>
struct FieldValue<std::optional<T>> {
    static std::string type_name() { return FieldValue<T>::type_name(); }
    static bool read(const Reader& reader, std::optional<T>& out)
    {
        if (reader.node().is_null()) {
            out.reset();
            return true;
        }
        T value{};
        if (!FieldValue<T>::read(reader, value))
            return false;
        out = std::move(value);
        return true;
    }
    static Json write(const std::optional<T>& value)
    {
        return value ? FieldValue<T>::write(*value) : Json();
    }
    static Json schema() { return FieldValue<T>::schema(); }
    // An absent value is in every range: not a number compares false with both ends.
    static double magnitude(const std::optional<T>& value) requires HasMagnitude<T>
    {
        return value ? FieldValue<T>::magnitude(*value) : std::numeric_limits<double>::quiet_NaN();
    }
    static std::string magnitude_text(double magnitude) requires HasMagnitude<T>
    {
        return FieldValue<T>::magnitude_text(magnitude);
    }
};
template <class T>
struct FieldValue<std::vector<T>> {
    static std::string type_name() { return "list of " + FieldValue<T>::type_name(); }
    static bool read(const Reader& reader, std::vector<T>& out)
    {
        if (!reader.node().is_array()) {
            reader.error("expected a list, found " + std::string(reader.node().kind_name()));
            return false;
        }
        bool good = true;
        out.clear();
        for (std::size_t i = 0; i < reader.node().items().size(); ++i) {
            T item{};
            good = FieldValue<T>::read(reader.element(i), item) && good;
            out.push_back(std::move(item));
        }
        return good;
    }
    static Json write(const std::vector<T>& value)
    {
        Json out = Json::array();
        for (const T& item : value)
            out.push_back(FieldValue<T>::write(item));
        return out;
    }
    static Json schema() { return array_schema(FieldValue<T>::schema()); }
};

template <class T>
struct FieldValue<std::map<std::string, T>> {
    static std::string type_name() { return "map of " + FieldValue<T>::type_name(); }
    static bool read(const Reader& reader, std::map<std::string, T>& out)
    {
        if (!reader.node().is_object()) {
            reader.error("expected an object, found " + std::string(reader.node().kind_name()));
            return false;
        }
        bool good = true;
        for (const Json::Member& member : reader.node().members())
            good = FieldValue<T>::read(reader.member(member), out[member.first]) && good;
        return good;
    }
    static Json write(const std::map<std::string, T>& value)
    {
        Json out = Json::object();
        for (const auto& [key, item] : value)
            out[key] = FieldValue<T>::write(item);
        return out;
    }
    static Json schema() { return map_schema(FieldValue<T>::schema()); }
};

} // namespace trainyard

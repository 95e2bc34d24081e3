#pragma once

#include "sim/base/field_values.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

namespace trainyard {

// Members of one JSON object into the fields of a struct. Absent and null members leave the field
// as it is.
class MemberTaker {
public:
    explicit MemberTaker(Reader reader) : reader_(std::move(reader)) {}

    template <class T>
    MemberTaker& take(std::string_view key, T& field)
    {
        if (given(key))
            read(reader_.member(key), field);
        return *this;
    }

    // Calls `fill` with the members of the object `key`.
    template <class Fill>
    MemberTaker& inside(std::string_view key, Fill fill)
    {
        if (!given(key))
            return *this;
        const Reader at = reader_.member(key);
        if (at.node().is_object())
            fill(MemberTaker(at));
        else
            at.error(fmt::format("expected an object, found {}", at.node().kind_name()));
        return *this;
    }

    const Reader& reader() const { return reader_; }

private:
    bool given(std::string_view key) const
    {
        const Json* node = reader_.node().find(key);
        return node != nullptr && !node->is_null();
    }

    template <class T>
    static void read(const Reader& at, std::optional<T>& field)
    {
        T value{};
        if (read(at, value))
            field = std::move(value);
    }
    static bool read(const Reader& at, std::string& field)
    {
        return FieldValue<std::string>::read(at, field);
    }
    static bool read(const Reader& at, Json& field)
    {
        field = at.node();
        return true;
    }
    static bool read(const Reader& at, bool& field) { return FieldValue<bool>::read(at, field); }
    template <class T>
    static bool read(const Reader& at, std::vector<T>& field)
    {
        return FieldValue<std::vector<T>>::read(at, field);
    }

    // Sizes and counts: none may be negative, and 512.0 is as good as 512.
    template <class N>
    requires std::is_arithmetic_v<N>
    static bool read(const Reader& at, N& field)
    {
        if (!at.node().is_number()) {
            at.error(fmt::format("expected a number, found {}", at.node().kind_name()));
            return false;
        }
        const double value = at.node().as_double();
        const double limit = std::is_integral_v<N> ? std::ldexp(1.0, std::numeric_limits<N>::digits)
                                                   : std::numeric_limits<double>::infinity();
        if (!(value >= 0 && value < limit)) {
            at.error(fmt::format("{} is out of range", value),
                     std::is_integral_v<N> ? fmt::format("from 0 to {}", limit - 1) : "0 or more");
            return false;
        }
        if (std::is_integral_v<N> && value != std::floor(value)) {
            at.error(fmt::format("expected a whole number, found {}", value));
            return false;
        }
        field = static_cast<N>(value);
        return true;
    }

    Reader reader_;
};

} // namespace trainyard

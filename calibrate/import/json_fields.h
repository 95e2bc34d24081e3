#pragma once

// Members of JSON that other people's programs wrote: taken where they are what they should be.

#include "sim/base/json.h"

#include <cmath>
#include <optional>

namespace trainyard {

inline std::optional<double> number_at(const Json& json, std::string_view key)
{
    const Json* const found = json.find(key);
    if (found == nullptr || !found->is_number() || !std::isfinite(found->as_double()))
        return std::nullopt;
    return found->as_double();
}

inline std::optional<std::int64_t> integer_at(const Json& json, std::string_view key)
{
    const Json* const found = json.find(key);
    return found != nullptr && found->is_integer() ? std::optional(found->as_integer())
                                                   : std::nullopt;
}

// Empty when absent or no text.
inline std::string text_at(const Json& json, std::string_view key)
{
    const Json* const found = json.find(key);
    return found != nullptr && found->is_string() ? found->as_string() : std::string{};
}

// The elements of a list; none when it is absent or no list.
inline const Json::Array& list_at(const Json& json, std::string_view key)
{
    static const Json::Array none;
    const Json* const found = json.find(key);
    return found != nullptr && found->is_array() ? found->items() : none;
}

} // namespace trainyard

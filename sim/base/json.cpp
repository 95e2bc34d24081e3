#include "sim/base/json.h"

#include "sim/base/files.h"
#include "sim/base/random.h"

#include <nlohmann/json.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace trainyard {

Json::Json(std::uint64_t value)
{
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        value_ = static_cast<std::int64_t>(value);
    else
        value_ = static_cast<double>(value);
}

double Json::as_double() const
{
    return is_integer() ? static_cast<double>(as_integer()) : std::get<double>(value_);
}

const Json* Json::find(std::string_view key) const
{
    if (!is_object())
        return nullptr;
    for (const Member& member : members())
        if (member.first == key)
            return &member.second;
    return nullptr;
}

Json* Json::find(std::string_view key)
{
    return const_cast<Json*>(std::as_const(*this).find(key));
}

Json& Json::operator[](std::string_view key)
{
    if (is_null())
        value_ = Object{};
    if (Json* found = find(key))
        return *found;
    members().emplace_back(std::string(key), Json());
    return members().back().second;
}

void Json::push_back(Json item)
{
    if (is_null())
        value_ = Array{};
    items().push_back(std::move(item));
}

void Json::set_lines(int line)
{
    line_ = line;
    if (is_object())
        for (Member& member : members())
            member.second.set_lines(line);
    else if (is_array())
        for (Json& item : items())
            item.set_lines(line);
}

std::string_view Json::kind_name() const
{
    static constexpr std::string_view names[] = {
        "null", "true or false", "a whole number", "a number", "a string", "a list", "an object"};
    return names[value_.index()];
}

namespace {

nlohmann::ordered_json to_nlohmann(const Json& value)
{
    if (value.is_bool())
        return value.as_bool();
    if (value.is_integer())
        return value.as_integer();
    if (value.is_number())
        return std::isfinite(value.as_double()) ? nlohmann::ordered_json(value.as_double())
                                                : nlohmann::ordered_json();
    if (value.is_string())
        return value.as_string();
    if (value.is_array()) {
        auto out = nlohmann::ordered_json::array();
        for (const Json& item : value.items())
            out.push_back(to_nlohmann(item));
        return out;
    }
    if (value.is_object()) {
        auto out = nlohmann::ordered_json::object();
        for (const Json::Member& member : value.members())
            out.push_back({member.first, to_nlohmann(member.second)});
        return out;
    }
    return nullptr;
}

} // namespace

std::string pointer_token(std::string_view key)
{
    std::string out;
    for (const char c : key)
        out += c == '~' ? std::string("~0") : c == '/' ? std::string("~1") : std::string(1, c);
    return out;
}

std::uint64_t json_hash(const Json& value)
{
    enum Kind : std::uint64_t { null, boolean, integer, number, string, array, object };
    if (value.is_bool())
        return hash_key(boolean, std::uint64_t{value.as_bool()});
    if (value.is_integer())
        return hash_key(integer, static_cast<std::uint64_t>(value.as_integer()));
    if (value.is_number())
        return hash_key(number, std::bit_cast<std::uint64_t>(value.as_double()));
    if (value.is_string())
        return hash_key(string, content_hash(value.as_string()));
    if (value.is_array()) {
        std::uint64_t hash = hash_key(array, value.items().size());
        for (const Json& item : value.items())
            hash = hash_key(hash, json_hash(item));
        return hash;
    }
    if (value.is_object()) {
        std::uint64_t hash = hash_key(object, value.members().size());
        for (const auto& [name, part] : value.members())
            hash = hash_key(hash, content_hash(name), json_hash(part));
        return hash;
    }
    return null;
}

std::string to_text(const Json& value, JsonStyle style)
{
    return to_nlohmann(value).dump(style == JsonStyle::pretty ? 2 : -1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

} // namespace trainyard

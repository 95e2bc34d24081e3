#pragma once

// A JSON value with the line each part came from: what files are read into and written from.
//
// Parsing is nlohmann/json's (comments accepted); this type adds positions and keeps member order,
// and keeps the heavy header out of everyone else's compile.

#include "sim/base/diagnostic.h"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace trainyard {

class Json {
public:
    using Array = std::vector<Json>;
    using Member = std::pair<std::string, Json>;
    using Object = std::vector<Member>;

    Json() = default;
    Json(std::nullptr_t) {}
    Json(bool value) : value_(value) {}
    Json(int value) : value_(static_cast<std::int64_t>(value)) {}
    Json(unsigned value) : value_(static_cast<std::int64_t>(value)) {}
    Json(std::int64_t value) : value_(value) {}
    Json(std::uint64_t value); // beyond int64 it becomes a double
    Json(double value) : value_(value) {}
    Json(const char* value) : value_(std::string(value)) {}
    Json(std::string_view value) : value_(std::string(value)) {}
    Json(std::string value) : value_(std::move(value)) {}
    Json(Array value) : value_(std::move(value)) {}
    Json(Object value) : value_(std::move(value)) {}
    template <class Item>
    requires std::convertible_to<const Item&, Json> Json(const std::vector<Item>& items)
        : value_(Array(items.begin(), items.end()))
    {}

    static Json array() { return Json(Array{}); }
    static Json object() { return Json(Object{}); }

    bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
    bool is_bool() const { return std::holds_alternative<bool>(value_); }
    bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
    bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
    bool is_string() const { return std::holds_alternative<std::string>(value_); }
    bool is_array() const { return std::holds_alternative<Array>(value_); }
    bool is_object() const { return std::holds_alternative<Object>(value_); }

    // Require the matching kind (as_double accepts integers).
    bool as_bool() const { return std::get<bool>(value_); }
    std::int64_t as_integer() const { return std::get<std::int64_t>(value_); }
    double as_double() const;
    const std::string& as_string() const { return std::get<std::string>(value_); }
    const Array& items() const { return std::get<Array>(value_); }
    Array& items() { return std::get<Array>(value_); }
    const Object& members() const { return std::get<Object>(value_); }
    Object& members() { return std::get<Object>(value_); }

    // The member of that name, or null when absent or when this is no object.
    const Json* find(std::string_view key) const;
    Json* find(std::string_view key);

    // The member of that name, added when absent. Requires an object, or null (which becomes one).
    Json& operator[](std::string_view key);

    // Appends to an array. Requires an array, or null (which becomes one).
    void push_back(Json item);

    // "a string", "an object", ...: for messages.
    std::string_view kind_name() const;

    // Where it stood in its file, 1-based; 0 when it was not read from one.
    int line() const { return line_; }
    void set_line(int line) { line_ = line; }
    void set_lines(int line); // of all parts too

    // Values only: lines do not count.
    friend bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

private:
    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_;
    int line_ = 0;
};

// An array of what `write` makes of each item.
template <class Items, class Write>
Json json_list(const Items& items, Write write)
{
    Json out = Json::array();
    for (const auto& item : items)
        out.push_back(write(item));
    return out;
}

struct JsonLimits {
    std::size_t max_bytes = 256U << 20;
    std::size_t max_values = 8'000'000; // of all kinds; about 80 bytes of memory each
    int max_depth = 64;
};

// Parses `text` (UTF-8, comments accepted); `file` is the name used in diagnostics. A member's line
// is that of its key. Reports a syntax error with its line, every duplicate key, a text that is
// empty or beyond the limits.
Checked<Json> parse_json(std::string_view text, const std::string& file,
                         const JsonLimits& limits = {});

// The same of text that is no file but `source`: problems say at which character instead of a line.
Checked<Json> parse_json_argument(std::string_view text, const std::string& source,
                                  const JsonLimits& limits = {});

// Reads and parses a file. A missing or unreadable file or a directory throws WorldError.
Checked<Json> read_json_file(const std::string& path, const JsonLimits& limits = {});

// One key inside an RFC 6901 pointer: "~" and "/" are written "~0" and "~1".
std::string pointer_token(std::string_view key);

enum class JsonStyle { compact, pretty };

// Text of `value`; numbers print shortest-round-trip. Non-finite numbers become null.
std::string to_text(const Json& value, JsonStyle style = JsonStyle::pretty);

// Of values and keys in their order; lines do not count. Equal values have equal hashes within one
// version of the program. Not for security.
std::uint64_t json_hash(const Json& value);

} // namespace trainyard

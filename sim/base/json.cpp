#include "sim/base/json.h"

#include "sim/base/files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

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

std::string_view Json::kind_name() const
{
    static constexpr std::string_view names[] = {
        "null", "true or false", "a whole number", "a number", "a string", "a list", "an object"};
    return names[value_.index()];
}

namespace {

// Characters of a text, counting the lines as nlohmann's lexer consumes them.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, int* line) : at_(at), line_(line) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++()
    {
        if (*at_ == '\n')
            ++*line_;
        ++at_;
        return *this;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }
    const char* at() const { return at_; }

private:
    const char* at_;
    int* line_;
};

// Builds the tree from nlohmann's events. A number is only known to have ended once the next
// character was read, so a value's line is that of its key where it has one.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
public:
    TreeBuilder(const int& line, const JsonLimits& limits, const std::string& file)
        : line_(line), limits_(limits), file_(file)
    {}

    bool null() override { return put(Json()); }
    bool boolean(bool value) override { return put(Json(value)); }
    bool number_integer(number_integer_t value) override { return put(Json(value)); }
    bool number_unsigned(number_unsigned_t value) override
    {
        return put(Json(std::uint64_t{value}));
    }
    bool number_float(number_float_t value, const string_t&) override { return put(Json(value)); }
    bool string(string_t& value) override { return put(Json(std::move(value))); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override
    {
        if (!seen_.back().insert(name).second) {
            problems_.push_back({file_, line_, "", fmt::format("key \"{}\" appears twice", name),
                                 "keep one of them", Severity::error});
            return false;
        }
        key_ = name;
        key_line_ = line_;
        return true;
    }

    bool parse_error(std::size_t, const std::string&,
                     const nlohmann::detail::exception& error) override
    {
        std::string what = error.what();
        if (const auto at = what.find("while parsing"); at != std::string::npos)
            what = what.substr(at);
        if (const auto detail = what.find(" - "); detail != std::string::npos)
            what = what.substr(detail + 3);
        if (what.find("unexpected end of input") != std::string::npos)
            what = "the text ends too early (truncated?)";
        problems_.push_back({file_, line_, "", "not valid JSON: " + what, "", Severity::error});
        return false;
    }

    Json take_root() { return std::move(root_); }
    Problems take_problems() { return std::move(problems_); }

private:
    Json* place(Json value)
    {
        value.set_line(open_.empty() || open_.back()->is_array() ? line_ : key_line_);
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Json& parent = *open_.back();
        if (parent.is_array()) {
            parent.items().push_back(std::move(value));
            return &parent.items().back();
        }
        parent.members().emplace_back(std::move(key_), std::move(value));
        return &parent.members().back().second;
    }
    bool put(Json value)
    {
        place(std::move(value));
        return true;
    }
    bool open(Json container)
    {
        if (static_cast<int>(open_.size()) >= limits_.max_depth) {
            problems_.push_back({file_, line_, "",
                                 fmt::format("nested deeper than {} levels", limits_.max_depth), "",
                                 Severity::error});
            return false;
        }
        open_.push_back(place(std::move(container)));
        seen_.emplace_back();
        return true;
    }
    bool close()
    {
        open_.pop_back();
        seen_.pop_back();
        return true;
    }

    const int& line_;
    JsonLimits limits_;
    std::string file_;
    Json root_;
    std::vector<Json*> open_; // stable: a container only grows while it is the innermost one
    std::vector<std::set<std::string>> seen_;
    std::string key_;
    int key_line_ = 0;
    Problems problems_;
};

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

Checked<Json> parse_json(std::string_view text, const std::string& file, const JsonLimits& limits)
{
    const auto refuse = [&](std::string message, std::string hint) {
        return tl::unexpected(
            Problems{{file, 0, "", std::move(message), std::move(hint), Severity::error}});
    };
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return refuse("the file is empty", "a JSON object is expected");
    if (text.size() > limits.max_bytes)
        return refuse(fmt::format("larger than {} MiB", limits.max_bytes >> 20), "");
    int line = 1;
    TreeBuilder builder(line, limits, file);
    const CountingIterator first(text.data(), &line);
    const CountingIterator last(text.data() + text.size(), &line);
    if (!nlohmann::json::sax_parse(first, last, &builder, nlohmann::json::input_format_t::json,
                                   true, true))
        return tl::unexpected(builder.take_problems());
    return builder.take_root();
}

Checked<Json> read_json_file(const std::string& path, const JsonLimits& limits)
{
    return parse_json(read_file(path, limits.max_bytes), path, limits);
}

std::string to_text(const Json& value, JsonStyle style)
{
    return to_nlohmann(value).dump(style == JsonStyle::pretty ? 2 : -1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

} // namespace trainyard

#include "sim/study/jobs/structured_text.h"

#include "sim/base/input_limits.h"

#include <fmt/core.h>
#include <toml++/toml.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <sstream>

namespace trainyard {
namespace {

Problems syntax_error(const std::string& file, int line, std::string message)
{
    return {{file, line, "", std::move(message), "", Severity::error}};
}

Json from_toml(const toml::node& node)
{
    Json out;
    if (const toml::table* table = node.as_table()) {
        out = Json::object();
        for (const auto& [key, value] : *table) {
            Json member = from_toml(value);
            member.set_line(static_cast<int>(key.source().begin.line));
            out[key.str()] = std::move(member);
        }
    } else if (const toml::array* array = node.as_array()) {
        out = Json::array();
        for (const toml::node& item : *array)
            out.push_back(from_toml(item));
    } else if (const auto text = node.value_exact<std::string>())
        out = Json(*text);
    else if (const auto whole = node.value_exact<std::int64_t>())
        out = Json(*whole);
    else if (const auto number = node.value_exact<double>())
        out = Json(*number);
    else if (const auto flag = node.value_exact<bool>())
        out = Json(*flag);
    else {
        std::ostringstream date;
        if (const auto* value = node.as_date())
            date << value->get();
        out = Json(date.str());
    }
    out.set_line(static_cast<int>(node.source().begin.line));
    return out;
}

// The plain scalar of YAML's core schema.
Json from_scalar(const YAML::Node& node)
{
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") // quoted
        return Json(text);
    if (text == "true" || text == "True" || text == "yes")
        return Json(true);
    if (text == "false" || text == "False" || text == "no")
        return Json(false);
    std::int64_t whole = 0;
    const char* const last = text.data() + text.size();
    if (const auto [end, error] = std::from_chars(text.data(), last, whole);
        error == std::errc() && end == last)
        return Json(whole);
    double number = 0;
    if (const auto [end, error] = std::from_chars(text.data(), last, number);
        error == std::errc() && end == last)
        return Json(number);
    return Json(text);
}

// Anchors may name one node many times: `left` bounds what is copied.
Json from_yaml(const YAML::Node& node, std::size_t& left, int depth)
{
    Json out;
    if (left == 0 || depth > input_limits.max_depth)
        throw YAML::Exception(node.Mark(), "too many values, or too deep");
    --left;
    if (node.IsMap()) {
        out = Json::object();
        for (const auto& member : node) {
            Json value = from_yaml(member.second, left, depth + 1);
            value.set_line(member.first.Mark().line + 1);
            if (!member.first.IsScalar())
                throw YAML::Exception(member.first.Mark(), "a key that is no text");
            out[member.first.Scalar()] = std::move(value);
        }
    } else if (node.IsSequence()) {
        out = Json::array();
        for (const auto& item : node)
            out.push_back(from_yaml(item, left, depth + 1));
    } else if (node.IsScalar())
        out = from_scalar(node);
    out.set_line(node.Mark().line + 1);
    return out;
}

} // namespace

Checked<Json> parse_toml(const std::string& text, const std::string& file)
{
    try {
        return from_toml(toml::parse(text, file));
    } catch (const toml::parse_error& error) {
        return tl::unexpected(syntax_error(file, static_cast<int>(error.source().begin.line),
                                           std::string(error.description())));
    }
}

Checked<Json> parse_yaml(const std::string& text, const std::string& file)
{
    constexpr std::size_t most_values = 100'000;
    try {
        const YAML::Node root = YAML::Load(text);
        std::size_t left = most_values;
        return from_yaml(root, left, 0);
    } catch (const YAML::Exception& error) {
        return tl::unexpected(syntax_error(file, error.mark.line + 1, error.msg));
    }
}

} // namespace trainyard

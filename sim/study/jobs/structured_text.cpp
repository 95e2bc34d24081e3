#include "sim/study/jobs/structured_text.h"

#include "sim/base/input_limits.h"
#include "sim/base/words.h"

#include <fmt/core.h>
#include <toml++/toml.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/yaml.h>

#include <optional>
#include <sstream>
#include <unordered_map>

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
        for (const auto& [key, value] : *table) { // no key twice
            Json member = from_toml(value);
            member.set_line(static_cast<int>(key.source().begin.line));
            out.members().emplace_back(std::string(key.str()), std::move(member));
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

// How deep the tables lie that dotted keys and headers make in one another, character by character:
// toml++ bounds brackets in brackets, but makes a table of every part of a key.
class TomlDepth {
public:
    explicit TomlDepth(std::string_view text) : text_(text) {}

    // The line on which it goes beyond `most`.
    std::optional<int> line_beyond(int most)
    {
        while (at_ < text_.size()) {
            take(text_[at_]);
            if (outer_ + parts_ > most)
                return line_;
        }
        return std::nullopt;
    }

private:
    void take(char c)
    {
        if (c == '"' || c == '\'')
            return skip_string(c);
        if (c == '#')
            at_ = std::min(text_.find('\n', at_), text_.size());
        else
            ++at_;
        if (c == '.')
            ++parts_;
        else if (c == '{' || c == '[') {
            open_.push_back(parts_ + 1);
            outer_ += parts_ + 1;
            parts_ = 0;
        } else if (c == '}' || c == ']') {
            if (!open_.empty()) {
                outer_ -= open_.back();
                open_.pop_back();
            }
            parts_ = 0;
        } else if (c == ',' || c == '\n') {
            parts_ = 0;
            line_ += c == '\n' ? 1 : 0;
        }
    }

    // Strings in three quotes may hold line breaks, those in "..." what a backslash hides.
    void skip_string(char quote)
    {
        const std::string three(3, quote);
        const bool long_one = text_.substr(at_).starts_with(three);
        const std::string_view end =
            long_one ? std::string_view(three) : std::string_view(three).substr(0, 1);
        at_ += end.size();
        while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
            if (!long_one && text_[at_] == '\n')
                return;
            if (quote == '"' && text_[at_] == '\\' && at_ + 1 < text_.size())
                ++at_;
            line_ += text_[at_] == '\n' ? 1 : 0;
            ++at_;
        }
        at_ = std::min(at_ + end.size(), text_.size());
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    int parts_ = 0;         // of the key being read, after its first
    int outer_ = 0;         // of what is open around it
    std::vector<int> open_; // what each bracket added to that
};

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
    if (const auto whole = to_number<std::int64_t>(text))
        return Json(*whole);
    if (const auto number = to_number<double>(text))
        return Json(*number);
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
        std::unordered_map<std::string_view, std::size_t> places;
        for (const auto& member : node) {
            Json value = from_yaml(member.second, left, depth + 1);
            value.set_line(member.first.Mark().line + 1);
            if (!member.first.IsScalar())
                throw YAML::Exception(member.first.Mark(), "a key that is no text");
            // Of a key that comes twice the last one counts.
            const std::string& key = member.first.Scalar();
            const auto [place, added] = places.emplace(key, out.members().size());
            if (added)
                out.members().emplace_back(key, std::move(value));
            else
                out.members()[place->second].second = std::move(value);
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
    if (const std::optional<int> line = TomlDepth(text).line_beyond(input_limits.max_depth))
        return tl::unexpected(syntax_error(
            file, *line, fmt::format("tables lie more than {} deep", input_limits.max_depth)));
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
    } catch (const YAML::DeepRecursion& error) { // yaml-cpp's own bound
        return tl::unexpected(
            syntax_error(file, error.mark.line + 1,
                         fmt::format("nested more than {} deep", input_limits.max_depth)));
    } catch (const YAML::Exception& error) {
        return tl::unexpected(syntax_error(file, error.mark.line + 1, error.msg));
    }
}

} // namespace trainyard

#include "sim/base/files.h"
#include "sim/base/json.h"
#include "sim/base/json_syntax.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace trainyard {
namespace {

// How far nlohmann's lexer has read.
struct TextPosition {
    int line = 1;
    std::size_t characters = 0;
    char last = '\0';

    // The lexer reads one character past a number or a wrong word; no token but a string spans
    // lines, and none ends with a line break.
    int line_of_token() const { return last == '\n' ? line - 1 : line; }
};

// Characters of a text that keep the position up to date as they are consumed.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, TextPosition* position) : at_(at), position_(position) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++()
    {
        position_->last = *at_;
        ++position_->characters;
        if (*at_ == '\n')
            ++position_->line;
        ++at_;
        return *this;
    }
    bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
    bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

private:
    const char* at_;
    TextPosition* position_;
};

// Where a text is from: for problems.
struct Origin {
    enum class Kind { file, argument };

    std::string name;
    Kind kind = Kind::file;
};

// Builds the tree from nlohmann's events.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
public:
    TreeBuilder(const TextPosition& position, const JsonLimits& limits, const Origin& origin)
        : position_(position), limits_(limits), origin_(origin)
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
    bool end_array() override
    {
        open_.pop_back();
        return true;
    }
    bool end_object() override
    {
        report_duplicates();
        open_.pop_back();
        return true;
    }

    bool key(string_t& name) override
    {
        key_ = std::move(name);
        key_line_ = position_.line_of_token();
        return true;
    }

    bool parse_error(std::size_t, const std::string&,
                     const nlohmann::detail::exception& error) override
    {
        JsonSyntaxProblem problem = explain_json_error(error.what());
        return refuse(std::move(problem.message), std::move(problem.hint));
    }

    Json take_root() { return std::move(root_); }
    Problems take_problems() { return std::move(problems_); }

private:
    // As problems give it.
    int line(int of_text) const { return origin_.kind == Origin::Kind::file ? of_text : 0; }

    bool refuse(std::string message, std::string hint = {})
    {
        if (origin_.kind == Origin::Kind::argument)
            message =
                fmt::format("at character {} of this JSON: {}", position_.characters, message);
        problems_.push_back({origin_.name, line(position_.line_of_token()), "", std::move(message),
                             std::move(hint), Severity::error});
        return false;
    }

    Json* place(Json value)
    {
        const bool is_member = !open_.empty() && open_.back()->is_object();
        value.set_line(is_member ? key_line_ : position_.line_of_token());
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
        if (++values_ > limits_.max_values)
            return refuse(fmt::format("more than {} values", limits_.max_values));
        place(std::move(value));
        return true;
    }
    bool open(Json container)
    {
        if (static_cast<int>(open_.size()) >= limits_.max_depth)
            return refuse(fmt::format("nested deeper than {} levels", limits_.max_depth));
        if (++values_ > limits_.max_values)
            return refuse(fmt::format("more than {} values", limits_.max_values));
        open_.push_back(place(std::move(container)));
        return true;
    }

    // Keys that the innermost object has twice.
    void report_duplicates()
    {
        std::vector<const Json::Member*> sorted;
        for (const Json::Member& member : open_.back()->members())
            sorted.push_back(&member);
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const auto* a, const auto* b) { return a->first < b->first; });
        for (std::size_t i = 1; i < sorted.size(); ++i)
            if (sorted[i - 1]->first == sorted[i]->first)
                problems_.push_back({origin_.name, line(sorted[i]->second.line()),
                                     pointer_to_innermost() + "/" + pointer_token(sorted[i]->first),
                                     fmt::format("key \"{}\" appears twice", sorted[i]->first),
                                     origin_.kind == Origin::Kind::argument
                                         ? "keep one of them"
                                         : fmt::format("keep one of them; the first stands in "
                                                       "line {}",
                                                       sorted[i - 1]->second.line()),
                                     Severity::error});
    }
    // Every open container is the last child of the one around it.
    std::string pointer_to_innermost() const
    {
        std::string pointer;
        for (std::size_t i = 0; i + 1 < open_.size(); ++i)
            pointer +=
                "/" + (open_[i]->is_array() ? std::to_string(open_[i]->items().size() - 1)
                                            : pointer_token(open_[i]->members().back().first));
        return pointer;
    }

    const TextPosition& position_;
    JsonLimits limits_;
    Origin origin_;
    Json root_;
    std::vector<Json*> open_; // stable: a container only grows while it is the innermost one
    std::size_t values_ = 0;
    std::string key_;
    int key_line_ = 0;
    Problems problems_;
};

Problems too_large(const std::string& file, const JsonLimits& limits)
{
    return {{file, 0, "", fmt::format("larger than {} MiB", limits.max_bytes >> 20),
             "is this the file you meant? Data of that size do not belong here", Severity::error}};
}

} // namespace

namespace {

Checked<Json> parse_text(std::string_view text, const Origin& origin, const JsonLimits& limits)
{
    const std::string& file = origin.name;
    const auto refuse = [&](int line, std::string message, std::string hint) {
        return rejected(file, std::move(message), std::move(hint), line);
    };
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return refuse(0, "the file is empty", "a JSON object is expected");
    if (text.size() > limits.max_bytes)
        return tl::unexpected(too_large(file, limits));
    if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
        const auto breaks =
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul),
                       '\n'); // the lexer would take it for the end
        return refuse(static_cast<int>(breaks) + 1, "holds a zero byte: this is not text",
                      "JSON in UTF-8 is expected");
    }
    TextPosition position;
    TreeBuilder builder(position, limits, origin);
    const CountingIterator first(text.data(), &position);
    const CountingIterator last(text.data() + text.size(), &position);
    nlohmann::json::sax_parse(first, last, &builder, nlohmann::json::input_format_t::json, true,
                              true);
    if (Problems problems = builder.take_problems(); !problems.empty())
        return tl::unexpected(std::move(problems));
    return builder.take_root();
}

} // namespace

Checked<Json> parse_json(std::string_view text, const std::string& file, const JsonLimits& limits)
{
    return parse_text(text, {file, Origin::Kind::file}, limits);
}

Checked<Json> parse_json_argument(std::string_view text, const std::string& source,
                                  const JsonLimits& limits)
{
    return parse_text(text, {source, Origin::Kind::argument}, limits);
}

Checked<Json> read_json_file(const std::string& path, const JsonLimits& limits)
{
    const std::optional<std::string> text = read_file_up_to(path, limits.max_bytes);
    if (!text)
        return tl::unexpected(too_large(path, limits));
    return parse_json(*text, path, limits);
}

} // namespace trainyard

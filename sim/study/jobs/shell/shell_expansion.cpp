#include "sim/study/jobs/shell/shell_expansion.h"

#include "sim/study/jobs/shell/shell_filters.h"
#include "sim/study/jobs/shell/shell_pattern.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace trainyard {
namespace {

constexpr int deepest = 16; // default values and arithmetic inside one another

bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

TracedText joined(const std::vector<TracedText>& values)
{
    TracedText out;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0)
            out.append(" ", values[i].line());
        out.append(values[i]);
    }
    return out;
}

std::size_t name_length(std::string_view text)
{
    std::size_t end = 0;
    while (end < text.size() &&
           (text[end] == '_' || std::isalnum(static_cast<unsigned char>(text[end])) != 0))
        ++end;
    return end;
}

// Behind the character at `at`, or behind an expansion that is not known: ${...} or $(...).
std::size_t end_of_unit(std::string_view text, std::size_t at)
{
    const bool parameter = text.substr(at).starts_with("${");
    if (!parameter && !text.substr(at).starts_with("$("))
        return at + 1;
    const std::string_view brackets = parameter ? "{}" : "()";
    int open = 0;
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        open += text[i] == brackets[0] ? 1 : text[i] == brackets[1] ? -1 : 0;
        if (open == 0)
            return i + 1;
    }
    return text.size();
}

// A default value without the quotes that only hold it together: ${N:-"8"} is 8.
TracedText without_quotes(const TracedText& text)
{
    const std::string& all = text.text;
    if (all.size() > 1 && all.front() == '\'' && all.find('\'', 1) == all.size() - 1)
        return text.part(1, all.size() - 2);
    TracedText out;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] != '"' || (i > 0 && all[i - 1] == '\\'))
            out.append(text.part(i, 1));
    return out;
}

// Words in the making: pieces are glued to the last word until a blank or a list starts the next.
class Words {
public:
    void glue(const TracedText& text)
    {
        if (!open_)
            words_.emplace_back();
        open_ = true;
        words_.back().append(text);
    }

    void split(const TracedText& text)
    {
        for (std::size_t i = 0; i < text.text.size();) {
            if (is_blank(text.text[i])) {
                open_ = false;
                ++i;
                continue;
            }
            std::size_t end = i;
            while (end < text.text.size() && !is_blank(text.text[end]))
                end = end_of_unit(text.text, end);
            glue(text.part(i, end - i));
            i = end;
        }
    }

    void next() { open_ = false; }
    std::vector<TracedText> take() { return std::move(words_); }

private:
    std::vector<TracedText> words_;
    bool open_ = false;
};

} // namespace

bool has_unknown(std::string_view text)
{
    return text.find("${") != std::string_view::npos || text.find("$(") != std::string_view::npos;
}

std::optional<std::string> ShellExpander::lookup(std::string_view name) const
{
    const auto found = variables_.find(name);
    if (found == variables_.end() || found->second.values.empty())
        return std::nullopt;
    return found->second.values.front().text;
}

std::vector<TracedText> ShellExpander::values(const ShellPiece& piece)
{
    TracedText out;
    const int line = piece.text.line();
    switch (piece.kind) {
    case ShellPiece::Kind::literal:
        return {piece.text};
    case ShellPiece::Kind::parameter:
        return parameter(piece.text, line);
    case ShellPiece::Kind::arithmetic: {
        // $1 and the like are put in first.
        const TracedText expression = expanded(piece.text);
        const auto value = shell_arithmetic(expression.text, lookup());
        out.append(value ? std::to_string(*value)
                         : "$((" + with_unknown_names(expression.text) + "))",
                   line);
        return {out};
    }
    case ShellPiece::Kind::command:
        out.append(output(piece.text).value_or("$(" + piece.text.text + ")"), line);
        return {out};
    }
    return {};
}

// What `inside` an expansion becomes once its own expansions are put in; nothing where they lie too
// deep in one another.
std::optional<TracedText> ShellExpander::inner_text(const TracedText& inside)
{
    if (depth_ == deepest) {
        too_deep_ = too_deep_ == 0 ? inside.line() : too_deep_;
        return std::nullopt;
    }
    ++depth_;
    TracedText out = text(quoted_pieces(inside));
    --depth_;
    return out;
}

// Arithmetic that could not be done, with what its names stand for where that is not known:
// "DP * 8" is "${1} * 8" where DP is the script's first argument.
std::string ShellExpander::with_unknown_names(const std::string& expression) const
{
    constexpr std::size_t longest = 1000;
    std::string out;
    for (std::size_t at = 0; at < expression.size();) {
        const std::size_t length = name_length(std::string_view(expression).substr(at));
        const std::string word =
            expression.substr(at, length > 0 ? length : end_of_unit(expression, at) - at);
        const bool name = length > 0 && std::isdigit(static_cast<unsigned char>(word.front())) == 0;
        const auto found = name ? variables_.find(word) : variables_.end();
        const bool unset = name && found == variables_.end();
        const bool unknown = found != variables_.end() && found->second.values.size() == 1 &&
                             has_unknown(found->second.values.front().text);
        out += unset ? "${" + word + "}" : unknown ? found->second.values.front().text : word;
        at += word.size();
    }
    return out.size() <= longest ? out : expression;
}

// What the commands of $(...) print, where that follows from their words.
std::optional<std::string> ShellExpander::output(const TracedText& commands)
{
    if (depth_ == deepest)
        return std::nullopt;
    std::vector<std::string> command;
    std::optional<std::string> text = std::string();
    ++depth_;
    for (const ShellToken& token : shell_tokens(commands).tokens) {
        if (token.kind == ShellToken::Kind::word)
            for (const TracedText& word : words(token))
                command.push_back(word.text);
        else if (token.operation == "|" && text)
            text = filtered(std::exchange(command, {}), *text);
        else
            text.reset();
    }
    --depth_;
    if (!text || std::any_of(command.begin(), command.end(), has_unknown))
        return std::nullopt;
    text = filtered(command, *text);
    while (text && text->ends_with('\n'))
        text->pop_back();
    return text && !has_unknown(*text) ? text : std::nullopt;
}

std::vector<TracedText> ShellExpander::parameter(const TracedText& inside, int line)
{
    TracedText unknown;
    unknown.append("${" + inside.text + "}", line);
    // ${#name} counts, ${!name} is what the name that `name` holds stands for.
    const char first = inside.text.size() > 1 ? inside.text.front() : '\0';
    TracedText rest = inside.part(first == '#' || first == '!' ? 1 : 0);
    std::size_t length = name_length(rest.text);
    if (length == 0 && !rest.text.empty())
        length = 1;
    const std::string name = rest.text.substr(0, length);
    rest = rest.part(length);
    const Selected found = selected(name, rest);
    const bool known = found.set && !has_unknown(joined(found.values).text);
    if (first == '#') {
        TracedText count;
        count.append(std::to_string(found.list ? found.values.size()
                                    : known    ? found.values.front().text.size()
                                               : 0),
                     line);
        return {known && rest.text.empty() ? count : unknown};
    }
    if (first == '!') {
        const std::string other = known && !found.list ? found.values.front().text : std::string();
        if (other.empty() || name_length(other) != other.size())
            return {unknown};
        TracedText named;
        named.append(other, line);
        named.append(rest);
        return parameter(named, line);
    }
    return with_operator(found, rest, unknown);
}

// Takes the subscript off what follows the name.
ShellExpander::Selected ShellExpander::selected(const std::string& name, TracedText& rest)
{
    const auto found = variables_.find(name);
    const bool declared = found != variables_.end();
    if (name == "@" || name == "*") // a script run without arguments has none
        return {declared ? found->second.values : std::vector<TracedText>{}, true, true, 1};
    const std::size_t close = rest.text.starts_with('[') ? rest.text.find(']') : std::string::npos;
    if (close == std::string::npos) {
        const bool set = declared && !found->second.values.empty();
        return {set ? std::vector{found->second.values.front()} : std::vector<TracedText>{}, set};
    }
    const TracedText subscript = rest.part(1, close - 1);
    rest = rest.part(close + 1);
    Selected out;
    if (!declared)
        return out;
    const std::vector<TracedText>& values = found->second.values;
    if (subscript.text == "@" || subscript.text == "*") {
        out = {values, true, true};
        for (const auto& [key, value] : found->second.named)
            out.values.push_back(value);
        return out;
    }
    const std::string key = expanded(without_quotes(subscript)).text;
    if (const auto named = found->second.named.find(key); named != found->second.named.end())
        return {{named->second}, true};
    const auto size = static_cast<std::int64_t>(values.size());
    const auto at = shell_arithmetic(key, lookup());
    if (at && *at >= -size && *at < size)
        return {{values[static_cast<std::size_t>(*at < 0 ? size + *at : *at)]}, true};
    return out;
}

// ${name[@]:from:count}
std::optional<std::vector<TracedText>> ShellExpander::slice(const Selected& of,
                                                            const std::string& operation)
{
    const std::size_t colon = std::min(operation.find(':', 1), operation.size());
    const auto size = static_cast<std::int64_t>(of.values.size());
    const auto from = shell_arithmetic(operation.substr(1, colon - 1), lookup());
    const auto count = colon == operation.size()
                           ? std::optional(size)
                           : shell_arithmetic(operation.substr(colon + 1), lookup());
    if (!from || !count || *from < of.first || *count < 0)
        return std::nullopt;
    const std::int64_t begin = std::min(*from - of.first, size);
    const std::int64_t end = begin + std::min(*count, size - begin);
    return std::vector<TracedText>(of.values.begin() + begin, of.values.begin() + end);
}

// ${name:-other} and its kin.
std::vector<TracedText> ShellExpander::with_operator(const Selected& of, const TracedText& rest,
                                                     const TracedText& unknown)
{
    const bool filled = of.set && !joined(of.values).text.empty();
    const std::vector<TracedText> own = of.set ? of.values : std::vector{unknown};
    const std::string& op = rest.text;
    const auto other = [&](std::size_t skip) -> std::vector<TracedText> {
        if (of.list) { // "${A[@]+"${A[@]}"}" is a list too
            std::vector<TracedText> out;
            for (const ShellToken& token : shell_tokens(rest.part(skip)).tokens)
                for (TracedText& word : words(token))
                    out.push_back(std::move(word));
            return out;
        }
        return {inner_text(without_quotes(rest.part(skip))).value_or(unknown)};
    };
    if (op.empty())
        return own;
    if (op.starts_with(":-") || op.starts_with(":="))
        return filled ? own : other(2);
    if (op.starts_with('-') || op.starts_with('='))
        return of.set ? own : other(1);
    if (op.starts_with(":+"))
        return filled ? other(2) : std::vector<TracedText>{};
    if (op.starts_with('+'))
        return of.set ? other(1) : std::vector<TracedText>{};
    if (op.starts_with(":?") || op.starts_with('?'))
        return own;
    if (!of.set)
        return {unknown};
    const TracedText operation = expanded(without_quotes(rest));
    if (of.list && op.front() == ':')
        return slice(of, operation.text).value_or(std::vector{unknown});
    std::vector<TracedText> out;
    for (const TracedText& value : of.values) {
        // What is not known is worth more as it is.
        const auto made = has_unknown(value.text) ? std::optional(value)
                          : has_unknown(operation.text)
                              ? std::nullopt
                              : with_text_operation(value, operation, lookup());
        out.push_back(made.value_or(unknown));
    }
    return out;
}

std::vector<TracedText> ShellExpander::words(const ShellToken& token)
{
    // {1..4}
    const std::string plain = token.plain();
    const std::size_t dots =
        plain.starts_with('{') && plain.ends_with('}') ? plain.find("..") : std::string::npos;
    if (const auto range = dots == std::string::npos
                               ? std::nullopt
                               : filtered({"seq", plain.substr(1, dots - 1),
                                           plain.substr(dots + 2, plain.size() - dots - 3)},
                                          ""))
    {
        Words numbers;
        numbers.split(traced(*range, token.line));
        return numbers.take();
    }
    Words out;
    for (const ShellPiece& piece : token.pieces) {
        const std::vector<TracedText> list =
            overflown() ? std::vector<TracedText>{} : values(piece);
        for (const TracedText& value : list)
            produced_ += value.text.size() + 1;
        const bool as_it_is = piece.quoted || piece.kind == ShellPiece::Kind::literal;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i > 0)
                out.next();
            if (as_it_is)
                out.glue(list[i]);
            else
                out.split(list[i]);
        }
    }
    return out.take();
}

TracedText ShellExpander::text(const std::vector<ShellPiece>& pieces)
{
    TracedText out;
    for (const ShellPiece& piece : pieces) {
        if (overflown())
            break;
        const TracedText value = joined(values(piece));
        produced_ += value.text.size() + 1;
        out.append(value);
    }
    return out;
}

TracedText ShellExpander::pattern(const std::vector<ShellPiece>& pieces)
{
    TracedText out;
    for (const ShellPiece& piece : pieces) {
        const TracedText value = text({piece});
        if (piece.quoted && !has_unknown(value.text))
            out.append(literal_pattern(value.text), value.line());
        else
            out.append(value);
    }
    return out;
}

} // namespace trainyard

#include "sim/study/jobs/shell/shell_expansion.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

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
        const TracedText inside = inner_text(piece.text).value_or(piece.text);
        const auto value =
            shell_arithmetic(inside.text, [this](std::string_view name) { return lookup(name); });
        out.append(value ? std::to_string(*value) : "$((" + inside.text + "))", line);
        return {out};
    }
    case ShellPiece::Kind::command:
        out.append("$(" + piece.text.text + ")", line);
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

std::vector<TracedText> ShellExpander::parameter(const TracedText& inside, int line)
{
    std::size_t length = name_length(inside.text);
    if (inside.text == "@" || inside.text == "*") { // a script run without arguments has none
        const auto found = variables_.find("@");
        return found == variables_.end() ? std::vector<TracedText>{} : found->second.values;
    }
    if (inside.text == "#")
        return with_operator("#", {}, inside, line);
    if (inside.text.starts_with('#'))
        return {length_of(inside, line)};
    if (length == 0 && !inside.text.empty() && inside.text.front() != '!')
        length = 1;
    const std::string name = inside.text.substr(0, length);
    return with_operator(name, inside.part(length), inside, line);
}

// ${#name}: characters; ${#name[@]}: entries.
TracedText ShellExpander::length_of(const TracedText& inside, int line) const
{
    const std::string name = inside.text.substr(1, name_length(inside.text.substr(1)));
    const std::string rest = inside.text.substr(1 + name.size());
    const auto found = variables_.find(name);
    const bool of_list = rest == "[@]" || rest == "[*]";
    TracedText out;
    if (found != variables_.end() && of_list &&
        std::ranges::none_of(found->second.values,
                             [](const TracedText& entry) { return has_unknown(entry.text); }))
        out.append(std::to_string(found->second.values.size()), line);
    else if (const auto text = lookup(name); text && rest.empty() && !has_unknown(*text))
        out.append(std::to_string(text->size()), line);
    else
        out.append("${" + inside.text + "}", line);
    return out;
}

// The entry of a list that "[I]" behind its name asks for; null where that is not known.
const TracedText* ShellExpander::entry_of(const std::vector<TracedText>& list,
                                          const TracedText& index)
{
    if (index.text.size() < 3 || !index.text.starts_with('[') || !index.text.ends_with(']'))
        return nullptr;
    const TracedText inside = index.part(1, index.text.size() - 2);
    const auto value = shell_arithmetic(inner_text(inside).value_or(inside).text,
                                        [this](std::string_view name) { return lookup(name); });
    const auto count = static_cast<std::int64_t>(list.size());
    if (!value || *value >= count || *value < -count)
        return nullptr;
    return &list[static_cast<std::size_t>(*value < 0 ? *value + count : *value)];
}

// ${name}, ${name[@]}, ${name:-other} and its kin.
std::vector<TracedText> ShellExpander::with_operator(const std::string& name,
                                                     const TracedText& rest,
                                                     const TracedText& whole, int line)
{
    const auto found = variables_.find(name);
    const bool set = found != variables_.end() && !found->second.values.empty();
    const bool filled = set && !joined(found->second.values).text.empty();
    TracedText unknown;
    unknown.append("${" + whole.text + "}", line);
    const std::string& op = rest.text;
    if (op == "[@]" || op == "[*]")
        return found != variables_.end() ? found->second.values : std::vector{unknown};
    if (op.empty() || op == "[0]")
        return {set ? found->second.values.front() : unknown};
    if (const TracedText* const entry = set ? entry_of(found->second.values, rest) : nullptr)
        return {*entry};
    const auto other = [&](std::size_t skip) -> std::vector<TracedText> {
        return {inner_text(without_quotes(rest.part(skip))).value_or(unknown)};
    };
    if (op.starts_with(":-") || op.starts_with(":="))
        return filled ? std::vector{found->second.values.front()} : other(2);
    if (op.starts_with('-') || op.starts_with('='))
        return set ? std::vector{found->second.values.front()} : other(1);
    if (op.starts_with(":+"))
        return filled ? other(2) : std::vector<TracedText>{};
    if (op.starts_with('+'))
        return set ? other(1) : std::vector<TracedText>{};
    if (op.starts_with(":?") || op.starts_with('?'))
        return {set ? found->second.values.front() : unknown};
    return {unknown};
}

std::vector<TracedText> ShellExpander::words(const ShellToken& token)
{
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

} // namespace trainyard

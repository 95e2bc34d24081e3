#include "calibrate/import/log_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace trainyard {
namespace {

bool is_separator(char c)
{
    return c == ' ' || c == '|' || c == ',';
}

// Where a colour code that starts at `at` (an ESC) ends.
std::size_t end_of_escape(std::string_view line, std::size_t at)
{
    std::size_t end = at + 1;
    if (end >= line.size() || line[end] != '[')
        return end;
    ++end;
    while (end < line.size() && std::isalpha(static_cast<unsigned char>(line[end])) == 0)
        ++end;
    return std::min(end + 1, line.size());
}

std::string_view after_label(std::string_view text, std::string_view label)
{
    const std::size_t found = text.find(label);
    if (found == std::string_view::npos)
        return {};
    text.remove_prefix(found + label.size());
    const std::size_t start = text.find_first_not_of(" :=");
    return start == std::string_view::npos ? std::string_view{} : text.substr(start);
}

template <class T>
std::optional<T> leading(std::string_view text)
{
    T value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc{})
        return std::nullopt;
    return value;
}

template <class T>
std::optional<T> whole(std::string_view text)
{
    T value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc{} || result.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace

std::string clean_line(std::string_view line)
{
    std::string out;
    out.reserve(line.size());
    for (std::size_t i = 0; i < line.size();) {
        if (line[i] == '\x1b') {
            i = end_of_escape(line, i);
            continue;
        }
        const char c = line[i++];
        if (c == '\t')
            out += ' ';
        else if (static_cast<unsigned char>(c) >= ' ' && c != '\x7f')
            out += c;
    }
    return out;
}

std::vector<Word> words_of(std::string_view line)
{
    std::vector<Word> words;
    for (std::size_t i = 0; i < line.size();) {
        if (is_separator(line[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < line.size() && !is_separator(line[end]))
            ++end;
        words.push_back({line.substr(i, end - i), i});
        i = end;
    }
    return words;
}

std::optional<double> number_in(std::string_view text)
{
    const std::optional<double> value = whole<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> integer_in(std::string_view text)
{
    return whole<std::int64_t>(text);
}

std::optional<double> number_after(std::string_view text, std::string_view label)
{
    const std::optional<double> value = leading<double>(after_label(text, label));
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> integer_after(std::string_view text, std::string_view label)
{
    return leading<std::int64_t>(after_label(text, label));
}

std::optional<std::string_view> text_after(std::string_view text, std::string_view label)
{
    const std::size_t found = text.find(label);
    if (found == std::string_view::npos)
        return std::nullopt;
    return trimmed(text.substr(found + label.size()));
}

} // namespace trainyard

#include "sim/report/text/paste.h"

namespace trainyard {

namespace {

// A word of a shell.
std::string shell_word(const std::string& text)
{
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-";
    if (text.find_first_not_of(plain) == std::string::npos)
        return text;
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

} // namespace

std::string setting_text(const Override& change)
{
    return shell_word(change.field + "=" + change.value);
}

std::string paste_text(std::span<const Override> changes)
{
    std::string out;
    for (const Override& change : changes)
        out += (out.empty() ? "--set " : " --set ") + setting_text(change);
    return out;
}

Json json_value(const std::string& text)
{
    Checked<Json> parsed = parse_json(text, "value");
    return parsed ? std::move(*parsed) : Json(text);
}

} // namespace trainyard

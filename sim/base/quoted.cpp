#include "sim/base/quoted.h"

namespace trainyard {

namespace {

// Between two of `quote`, each one inside replaced.
std::string between(char quote, std::string_view replacement, std::string_view text)
{
    std::string out(1, quote);
    for (const char letter : text)
        out += letter == quote ? std::string(replacement) : std::string(1, letter);
    return out + quote;
}

} // namespace

std::string csv_field(std::string_view text)
{
    return text.find_first_of(",\"\r\n") == std::string_view::npos ? std::string(text)
                                                                   : between('"', "\"\"", text);
}

std::string shell_word(std::string_view text)
{
    constexpr std::string_view plain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-";
    const bool safe = !text.empty() && text.find_first_not_of(plain) == std::string_view::npos;
    return safe ? std::string(text) : between('\'', "'\\''", text);
}

} // namespace trainyard

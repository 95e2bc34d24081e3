#include "sim/base/utf8.h"

#include <fmt/core.h>

#include <cstdint>

namespace trainyard {
namespace {

struct Character {
    std::size_t length = 0; // bytes; 0: no UTF-8
    std::uint32_t code = 0;
};

// The UTF-8 character that `text` starts with. The first byte of each length is as the shortest
// form has it; surrogates and what lies beyond Unicode are none.
Character first_of(std::string_view text)
{
    const auto first = static_cast<unsigned char>(text.front());
    Character out;
    out.length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (out.length == 0 || first >= 0xF5 || out.length > text.size())
        return {};
    out.code = out.length == 1 ? first : first & (0x7FU >> out.length);
    for (std::size_t i = 1; i < out.length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0U) != 0x80U)
            return {};
        out.code = out.code << 6U | (next & 0x3FU);
    }
    const bool overlong = (out.length == 3 && out.code < 0x800) ||
                          (out.length == 4 && (out.code < 0x10000 || out.code > 0x10FFFF));
    const bool surrogate = out.code >= 0xD800 && out.code <= 0xDFFF;
    return overlong || surrogate ? Character{} : out;
}

bool drives_terminals(std::uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

// Embeddings, overrides and isolates of the bidirectional algorithm, and the marks beside them.
bool reorders(std::uint32_t code)
{
    return code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

} // namespace

std::size_t append_printable(std::string& out, std::string_view text)
{
    const Character character = first_of(text);
    const std::size_t length = character.length == 0 ? 1 : character.length;
    if (character.length > 0 && !drives_terminals(character.code) && !reorders(character.code))
        out += text.substr(0, length);
    else
        for (std::size_t i = 0; i < length; ++i)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    return length;
}

std::string printable_lines(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const bool laid_out = text.front() == '\n' || text.front() == '\t';
        if (laid_out)
            out += text.front();
        text.remove_prefix(laid_out ? 1 : append_printable(out, text));
    }
    return out;
}

} // namespace trainyard

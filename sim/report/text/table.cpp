#include "sim/report/text/table.h"

#include <algorithm>
#include <cassert>

namespace trainyard {

namespace {

bool starts_code_point(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

// Escape sequences ("\x1b[...m") take no cells.
std::size_t skip_escape(std::string_view text, std::size_t at)
{
    if (text[at] != '\x1b')
        return at;
    const std::size_t end = text.find('m', at);
    return end == std::string_view::npos ? text.size() : end + 1;
}

std::string padded(const std::string& cell, std::size_t width, Align align)
{
    const std::string space(width - std::min(width, text_width(cell)), ' ');
    return align == Align::left ? cell + space : space + cell;
}

} // namespace

std::size_t text_width(std::string_view text)
{
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t next = skip_escape(text, i);
        if (next != i) {
            i = next;
            continue;
        }
        if (starts_code_point(text[i]))
            ++width;
        ++i;
    }
    return width;
}

std::string shortened(std::string_view text, std::size_t width)
{
    if (text_width(text) <= width)
        return std::string(text);
    std::size_t cells = 0;
    std::size_t end = 0;
    while (end < text.size()) {
        if (starts_code_point(text[end]) && ++cells == width)
            break;
        ++end;
    }
    return std::string(text.substr(0, end)) + "…";
}

std::string end_of(std::string_view text, std::size_t width)
{
    std::size_t cells = text_width(text);
    if (cells <= width)
        return std::string(text);
    std::size_t begin = 0;
    while (cells >= width && begin < text.size()) {
        ++begin;
        while (begin < text.size() && !starts_code_point(text[begin]))
            ++begin;
        --cells;
    }
    return "…" + std::string(text.substr(begin));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width)
{
    std::vector<std::string> lines{""};
    while (!text.empty()) {
        std::size_t space = std::min(text.find(' '), text.size());
        if (text.substr(space).starts_with(" %")) // stays with its number
            space = std::min(text.find(' ', space + 1), text.size());
        const std::string_view word = text.substr(0, space);
        text.remove_prefix(std::min(space + 1, text.size()));
        std::string& line = lines.back();
        if (!line.empty() && text_width(line) + 1 + text_width(word) > width)
            lines.emplace_back(word);
        else
            line += (line.empty() ? "" : " ") + std::string(word);
    }
    return lines;
}

void TextTable::add(std::vector<std::string> cells)
{
    assert(cells.size() <= columns_.size());
    rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t indent) const
{
    std::vector<std::size_t> widths(columns_.size());
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], text_width(row[i]));
    std::string out;
    for (const auto& row : rows_) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0 && widths[i] > 0)
                line += "  ";
            line += padded(row[i], widths[i], columns_[i]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

} // namespace trainyard

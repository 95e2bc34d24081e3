#include "sim/report/text/table.h"

#include "sim/report/text/paint.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <optional>

namespace trainyard {

namespace {

bool starts_code_point(char byte)
{
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

// Where the colours that stand at `at` end: they take no cells.
std::size_t skip_colours(std::string_view text, std::size_t at)
{
    while (const std::size_t length = Paint::code_at(text.substr(at)).length)
        at += length;
    return at;
}

std::string padded(const std::string& cell, std::size_t width, Align align)
{
    const std::string space(width - std::min(width, text_width(cell)), ' ');
    return align == Align::left ? cell + space : space + cell;
}

bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

// Where the first word of `text` ends, with what stays with it.
std::size_t end_of_word(std::string_view text)
{
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos)
        return text.size();
    const std::size_t bare = skip_colours(text, 0);
    const std::size_t begin = std::min(space, text.substr(bare).starts_with('(') ? bare + 1 : bare);
    const std::string_view word = text.substr(begin, space - begin);
    const char next = space + 1 < text.size() ? text[space + 1] : ' ';
    if (word == "$" && is_digit(next))
        return space + 1 + end_of_word(text.substr(space + 1));
    const bool number = !word.empty() && is_digit(word.front()) && is_digit(word.back());
    const bool option = word.starts_with("--") && next != ' ' && next != '-';
    if (next == '%' || option || (number && std::isalpha(static_cast<unsigned char>(next)) != 0))
        return std::min(text.find(' ', space + 1), text.size());
    return space;
}

// The lines of a painted cell, each with a colour at its beginning and its end at its end.
std::vector<std::string> painted_apart(std::vector<std::string> lines)
{
    std::string open;
    for (std::string& line : lines) {
        line = open + line;
        for (std::size_t at = 0; at < line.size();) {
            const std::size_t length = Paint::code_at(std::string_view(line).substr(at)).length;
            if (length > 0)
                open = line.substr(at, length);
            if (open == Paint::plain())
                open.clear();
            at += std::max<std::size_t>(1, length);
        }
        if (!open.empty())
            line += Paint::plain();
    }
    return lines;
}

} // namespace

std::size_t text_width(std::string_view text)
{
    std::size_t width = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t next = skip_colours(text, i);
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
        const std::string_view word = text.substr(0, end_of_word(text));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        std::string& line = lines.back();
        if (!line.empty() && text_width(line) + 1 + text_width(word) > width)
            lines.emplace_back(word);
        else
            line += (line.empty() ? "" : " ") + std::string(word);
    }
    return lines;
}

std::string hung(std::string_view lead, std::string_view text, std::size_t width)
{
    const std::size_t indent = text_width(lead);
    std::string out(lead);
    const std::vector<std::string> lines = wrapped(text, width - std::min(width, indent));
    for (std::size_t i = 0; i < lines.size(); ++i)
        out += (i == 0 ? "" : std::string(indent, ' ')) + lines[i] + "\n";
    return out;
}

void TextTable::add(std::vector<std::string> cells)
{
    assert(cells.size() <= columns_.size());
    rows_.push_back(std::move(cells));
}

std::size_t TextTable::Layout::total() const
{
    std::size_t sum = indent;
    for (std::size_t i = 0; i < widths.size(); ++i)
        sum += widths[i] + (i > 0 && widths[i] > 0 ? gap : 0);
    return sum;
}

std::vector<std::size_t> TextTable::natural_widths() const
{
    std::vector<std::size_t> widths(columns_.size());
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], text_width(row[i]));
    return widths;
}

std::string TextTable::text(std::size_t indent) const
{
    return laid_out({.widths = natural_widths(), .indent = indent});
}

// What a column takes when its cells wrap at `width`.
std::size_t TextTable::width_of(std::size_t column, std::size_t width) const
{
    std::size_t widest = 0;
    for (const auto& row : rows_)
        if (column < row.size())
            for (const std::string& line : wrapped(row[column], width))
                widest = std::max(widest, text_width(line));
    return widest;
}

// Wraps the widest columns as far as their words and `width` want.
void TextTable::narrow(Layout& layout, std::size_t width) const
{
    while (layout.total() > width) {
        std::optional<std::size_t> widest;
        std::size_t narrower = 0;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (layout.widths[i] == 0 || (widest && layout.widths[i] < layout.widths[*widest]))
                continue;
            const std::size_t next = width_of(i, layout.widths[i] - 1);
            if (next < layout.widths[i]) {
                widest = i;
                narrower = next;
            }
        }
        if (!widest)
            return;
        layout.widths[*widest] = narrower;
    }
}

std::string TextTable::text_within(std::size_t width) const
{
    Layout layout{.widths = natural_widths()};
    narrow(layout, width);
    if (layout.total() > width) {
        layout = {.widths = natural_widths(), .indent = 1, .gap = 1};
        narrow(layout, width);
    }
    return laid_out(layout);
}

std::string TextTable::laid_out(const Layout& layout) const
{
    std::string out;
    for (const auto& row : rows_) {
        std::vector<Lines> cells;
        std::size_t height = 1;
        for (std::size_t i = 0; i < row.size(); ++i) {
            cells.push_back(text_width(row[i]) <= layout.widths[i]
                                ? Lines{row[i]}
                                : painted_apart(wrapped(row[i], layout.widths[i])));
            height = std::max(height, cells.back().size());
        }
        for (std::size_t line = 0; line < height; ++line)
            out += line_of(cells, line, layout);
    }
    return out;
}

std::string TextTable::line_of(const std::vector<Lines>& cells, std::size_t number,
                               const Layout& layout) const
{
    std::string line(layout.indent, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0 && layout.widths[i] > 0)
            line += std::string(layout.gap, ' ');
        line +=
            padded(number < cells[i].size() ? cells[i][number] : "", layout.widths[i], columns_[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::vector<Align> words_last(const TableCells& cells)
{
    std::vector<Align> columns(cells.heads.size(), Align::right);
    columns.back() = Align::left;
    return columns;
}

std::string text_within(TableCells cells, const std::vector<Align>& columns, const Paint& paint,
                        std::size_t width)
{
    TextTable table(columns);
    for (std::string& head : cells.heads)
        head = paint.dim(head);
    table.add(std::move(cells.heads));
    for (std::vector<std::string>& row : cells.rows)
        table.add(std::move(row));
    return table.text_within(width);
}

} // namespace trainyard

#pragma once

// Aligned columns for a terminal.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

class Paint;

enum class Align { left, right };

// Character cells that UTF-8 text takes (one per code point; no wide characters are used here).
std::size_t text_width(std::string_view text);

// Cut to `width` cells, the last one an ellipsis if something was lost.
std::string shortened(std::string_view text, std::size_t width);

// The same with the end kept: of a path, the file.
std::string end_of(std::string_view text, std::size_t width);

// Lines of at most `width` cells, broken at spaces; longer words stay whole, numbers stay with
// their unit and currency, and options with their value.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// `text` after `lead`, in lines of at most `width` cells, those after the first indented by as much
// as `lead` takes; ends with a newline.
std::string hung(std::string_view lead, std::string_view text, std::size_t width);

// A table before it is laid out.
struct TableCells {
    std::vector<std::string> heads;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::size_t> strong = {}; // rows to be seen first
};

class TextTable {
public:
    // One alignment per column.
    explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

    // A row may be shorter than the table, never longer.
    void add(std::vector<std::string> cells);

    bool empty() const { return rows_.empty(); }
    const std::vector<Align>& columns() const { return columns_; }
    const std::vector<std::vector<std::string>>& rows() const { return rows_; }

    // Every line indented by `indent`, cells two apart, no trailing space; ends with a newline.
    std::string text(std::size_t indent = 2) const;

    // The same in at most `width` cells as far as words allow: the widest columns wrap.
    std::string text_within(std::size_t width) const;

private:
    struct Layout {
        std::vector<std::size_t> widths; // of columns
        std::size_t indent = 2;
        std::size_t gap = 2; // between columns

        std::size_t total() const;
    };
    using Lines = std::vector<std::string>; // of a cell

    std::vector<std::size_t> natural_widths() const;
    std::size_t width_of(std::size_t column, std::size_t width) const;
    void narrow(Layout& layout, std::size_t width) const;
    std::string laid_out(const Layout& layout) const;
    std::string line_of(const std::vector<Lines>& cells, std::size_t number,
                        const Layout& layout) const;

    std::vector<Align> columns_;
    std::vector<std::vector<std::string>> rows_;
};

// All columns to the right but the last, which is of words.
std::vector<Align> words_last(const TableCells& cells);

// With quiet heads, in at most `width` cells as far as words allow.
std::string text_within(TableCells cells, const std::vector<Align>& columns, const Paint& paint,
                        std::size_t width);

} // namespace trainyard

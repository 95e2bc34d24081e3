#pragma once

#include "sim/report/text/table.h"

namespace trainyard {

enum class HtmlCell {
    text, // on one line
    number,
    words // wrapped where the page is too narrow
};

struct HtmlColumn {
    std::string title;
    HtmlCell cell = HtmlCell::number;
};

// Cells are HTML already; escape what comes from names.
class HtmlTable {
public:
    explicit HtmlTable(std::vector<HtmlColumn> columns) : columns_(std::move(columns)) {}

    void add(const std::vector<std::string>& cells);

    // Empty where there are no rows.
    std::string html() const;

private:
    std::string_view class_of_column(std::size_t i) const;

    std::vector<HtmlColumn> columns_;
    std::string body_;
};

// `text_columns` hold words, but for column 0 they wrap; a row to be seen first has its first of
// these in bold.
std::string table_html(const TableCells& cells, const std::vector<std::size_t>& text_columns);

// A table for a terminal, its first row as heads: columns that stand right there hold numbers; of
// the others all but the first wrap. Leading blanks indent.
std::string table_html(const TextTable& table);

} // namespace trainyard

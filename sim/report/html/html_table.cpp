#include "sim/report/html/html_table.h"

#include "sim/report/html/svg.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

std::string_view HtmlTable::class_of_column(std::size_t i) const
{
    switch (columns_[i].cell) {
    case HtmlCell::number:
        return " class=\"n\"";
    case HtmlCell::words:
        return " class=\"w\"";
    case HtmlCell::text:
        break;
    }
    return "";
}

void HtmlTable::add(const std::vector<std::string>& cells)
{
    body_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
        body_ += fmt::format("<td{}>{}</td>", class_of_column(i), cells[i]);
    body_ += "</tr>\n";
}

std::string HtmlTable::html() const
{
    if (body_.empty())
        return "";
    std::string head;
    for (std::size_t i = 0; i < columns_.size(); ++i)
        head += fmt::format("<th scope=\"col\"{}>{}</th>", class_of_column(i),
                            escaped(columns_[i].title));
    return fmt::format("<div class=\"scroll\"><table><thead><tr>{}</tr></thead>\n<tbody>{}"
                       "</tbody></table></div>\n",
                       head, body_);
}

std::string table_html(const TableCells& cells, const std::vector<std::size_t>& text_columns)
{
    std::vector<HtmlColumn> columns;
    for (const std::string& head : cells.heads)
        columns.push_back({head});
    for (const std::size_t column : text_columns)
        columns[column].cell = column == 0 ? HtmlCell::text : HtmlCell::words;
    HtmlTable table(columns);
    for (std::size_t i = 0; i < cells.rows.size(); ++i) {
        std::vector<std::string> row;
        for (const std::string& cell : cells.rows[i])
            row.push_back(escaped(cell));
        if (std::ranges::find(cells.strong, i) != cells.strong.end())
            row[text_columns.front()] = "<b>" + row[text_columns.front()] + "</b>";
        table.add(row);
    }
    return table.html();
}

std::string table_html(const TextTable& table)
{
    if (table.rows().size() < 2)
        return "";
    const std::vector<std::string>& heads = table.rows().front();
    std::vector<HtmlColumn> columns;
    for (std::size_t i = 0; i < table.columns().size(); ++i) {
        const HtmlCell cell = table.columns()[i] == Align::right ? HtmlCell::number
                              : i == 0                           ? HtmlCell::text
                                                                 : HtmlCell::words;
        columns.push_back({i < heads.size() ? heads[i] : "", cell});
    }
    HtmlTable out(columns);
    for (std::size_t r = 1; r < table.rows().size(); ++r) {
        std::vector<std::string> row;
        for (const std::string& cell : table.rows()[r]) {
            const std::size_t blanks = std::min(cell.find_first_not_of(' '), cell.size());
            std::string html;
            for (std::size_t i = 0; i < blanks; ++i)
                html += "&nbsp;";
            row.push_back(html + escaped(cell.substr(blanks)));
        }
        row.resize(columns.size());
        out.add(row);
    }
    return out.html();
}

} // namespace trainyard

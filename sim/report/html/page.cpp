#include "sim/report/html/page.h"

#include "sim/report/html/palette.h"
#include "sim/report/html/style.h"
#include "sim/report/html/svg.h"

#include <fmt/core.h>

namespace trainyard {

std::string cards_html(const std::vector<Card>& cards)
{
    std::string out = "<div class=\"cards\">\n";
    for (const Card& card : cards)
        out += fmt::format("<div class=\"{}\"><div class=\"name\">{}</div><div class=\"value "
                           "{}\">{}</div><div class=\"note\">{}</div></div>\n",
                           card.card_class, escaped(card.name), card.value_class,
                           escaped(card.value), escaped(card.note));
    return out + "</div>\n";
}

std::string section(std::string_view title, const std::string& body)
{
    return body.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", title, body);
}

std::string list_html(const std::vector<std::string>& items)
{
    std::string out;
    for (const std::string& item : items)
        out += fmt::format("<li>{}</li>\n", escaped(item));
    return out.empty() ? "" : "<ul>\n" + out + "</ul>\n";
}

std::string html_page(const Page& page)
{
    const std::string title = escaped(page.title);
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
        "name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{}</title>\n"
        "<style>{}{}{}</style></head>\n<body><svg class=\"defs\" aria-hidden=\"true\"><defs>{}"
        "</defs></svg><main>\n<h1>{}</h1>\n<p class=\"sub\">{}</p>\n{}<footer>{}</footer>\n</main>"
        "</body></html>\n",
        title, picture_style(), page_style(), palette_style(), palette_patterns(), title,
        escaped(page.subtitle), page.body, escaped(page.footer));
}

} // namespace trainyard

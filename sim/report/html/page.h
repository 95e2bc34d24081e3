#pragma once

// What all report pages are made of.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

// A figure at the head of a page. Classes are trusted, all else is escaped.
struct Card {
    std::string name;
    std::string value;
    std::string note;
    std::string_view value_class = "";
    std::string_view card_class = "card"; // "card wide": a row of its own
};

std::string cards_html(const std::vector<Card>& cards);

// Nothing where the body is empty. `title` is trusted.
std::string section(std::string_view title, const std::string& body);

// Each item is escaped. Nothing where there are none.
std::string list_html(const std::vector<std::string>& items);

struct Page {
    std::string title;
    std::string subtitle;
    std::string body; // HTML
    std::string footer;
};

// One file that asks nothing of the network, light and dark.
std::string html_page(const Page& page);

} // namespace trainyard

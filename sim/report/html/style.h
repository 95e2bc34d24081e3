#pragma once

#include <string_view>

namespace trainyard {

// CSS of text and lines in SVG, light and dark.
std::string_view picture_style();

// CSS of the report page.
std::string_view page_style();

} // namespace trainyard

#pragma once

// Our texts as Qt's.

#include <QString>
#include <string_view>

namespace trainyard::gui {

inline QString text_of(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

// For rich text, which would take < and & for its own.
inline QString escaped(std::string_view text)
{
    return text_of(text).toHtmlEscaped();
}

} // namespace trainyard::gui

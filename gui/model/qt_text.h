#pragma once

// Our texts as Qt's.

#include <QString>
#include <string_view>

namespace trainyard::gui {

inline QString text_of(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

// As a heading or a sentence begins.
inline QString capitalised(std::string_view text)
{
    QString out = text_of(text);
    return out.replace(0, 1, out.left(1).toUpper());
}

// For rich text, which would take < and & for its own.
inline QString escaped(std::string_view text)
{
    return text_of(text).toHtmlEscaped();
}

} // namespace trainyard::gui

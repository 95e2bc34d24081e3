#pragma once

#include <QFont>
#include <QLabel>

namespace trainyard::gui {

inline QFont bold(QFont font)
{
    font.setBold(true);
    return font;
}

// A text of any length, as it is.
inline QLabel* wrapped_label()
{
    auto* const label = new QLabel;
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    return label;
}

} // namespace trainyard::gui

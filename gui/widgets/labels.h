#pragma once

#include <QFont>
#include <QLabel>

namespace trainyard::gui {

inline QFont bold(QFont font)
{
    font.setBold(true);
    return font;
}

// Times as large as the window's letters.
inline QFont sized(QFont font, double times)
{
    font.setPointSizeF(font.pointSizeF() * times);
    return font;
}

inline void colour_text(QLabel* label, const QColor& colour)
{
    QPalette palette = label->palette();
    palette.setColor(label->foregroundRole(), colour);
    label->setPalette(palette);
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

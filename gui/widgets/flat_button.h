#pragma once

#include <QToolButton>

namespace trainyard::gui {

// Of a view's own row of tools: flat, with its tip as its accessible name.
inline QToolButton* flat_button(const QString& text, const QString& tip)
{
    auto* const made = new QToolButton;
    made->setText(text);
    made->setToolTip(tip);
    made->setAccessibleName(tip);
    made->setAutoRaise(true);
    return made;
}

} // namespace trainyard::gui

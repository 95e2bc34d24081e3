#pragma once

#include <QToolButton>

namespace trainyard::gui {

// Its tip is its accessible name.
inline QToolButton* tipped_button(const QString& text, const QString& tip)
{
    auto* const made = new QToolButton;
    made->setText(text);
    made->setToolTip(tip);
    made->setAccessibleName(tip);
    return made;
}

// The same of a view's own row of tools: flat.
inline QToolButton* flat_button(const QString& text, const QString& tip)
{
    QToolButton* const made = tipped_button(text, tip);
    made->setAutoRaise(true);
    return made;
}

} // namespace trainyard::gui

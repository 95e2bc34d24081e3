#pragma once

#include <QCoreApplication>

namespace trainyard::gui {

// In the user's language, outside of widgets.
inline QString plan_words(const char* english)
{
    return QCoreApplication::translate("plan", english);
}

} // namespace trainyard::gui

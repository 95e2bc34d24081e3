#pragma once

#include <QCoreApplication>

namespace trainyard::gui {

// In the user's language, outside of widgets.
inline QString words(const char* english)
{
    return QCoreApplication::translate("explore", english);
}

} // namespace trainyard::gui

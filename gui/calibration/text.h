#pragma once

#include <QString>
#include <string>

namespace trainyard::gui {

// What the library says, for widgets.
inline QString text(const std::string& said)
{
    return QString::fromStdString(said);
}

} // namespace trainyard::gui

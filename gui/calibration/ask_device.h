#pragma once

// Asks which GPU measurements are of, where they do not say.

#include <QString>

class QWidget;

namespace trainyard::gui {

// One of known_devices(), none proposed: a profile of the wrong device gives wrong times
// everywhere. Empty: cancelled.
QString ask_device(QWidget* parent);

} // namespace trainyard::gui

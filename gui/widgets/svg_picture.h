#pragma once

#include "gui/widgets/panel.h"

namespace trainyard::gui {

// The view as SVG, with its patterns, in the letters of the screen.
QByteArray svg_of(Panel& panel, const QSize& size);

} // namespace trainyard::gui

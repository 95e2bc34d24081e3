#pragma once

// What the timeline's pane of details says.

#include "gui/timeline/slice_facts.h"
#include "gui/widgets/panel.h"

namespace trainyard::gui {

// Its links are "slice:N".
QString details_html(const SliceFacts& facts);

const std::vector<KeyHelp>& timeline_keys();
// Where nothing is pinned.
QString timeline_help();

} // namespace trainyard::gui

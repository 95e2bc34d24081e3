#pragma once

namespace trainyard::gui {

// Drops what Qt's offscreen platform says of every window ("This plugin does not support
// propagateSizeHints()"), which is nothing that anybody can mend. All else goes where it went.
void drop_offscreen_noise();

} // namespace trainyard::gui

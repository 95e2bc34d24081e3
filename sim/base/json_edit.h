#pragma once

// A JSON text brought up to date: what did not change keeps its layout, order and comments.

#include "sim/base/json.h"

namespace trainyard {

// `text` with the value `now`. Members that are gone leave with the comments before them, new ones
// come after the last in its layout, what changed is replaced in its place. Requires a text that
// parse_json takes.
std::string edited_json(std::string_view text, const Json& now);

} // namespace trainyard

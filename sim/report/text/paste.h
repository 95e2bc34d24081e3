#pragma once

#include "sim/study/scenario.h"

#include <span>

namespace trainyard {

// "strategy.tp=4", quoted where a shell needs it.
std::string setting_text(const Override& change);

// "--set strategy.tp=4 --set strategy.dp=8": changes as options to paste, quoted where a shell
// needs it.
std::string paste_text(std::span<const Override> changes);

// The value as --set takes it: JSON where it is such, else text.
Json json_value(const std::string& text);

} // namespace trainyard

#pragma once

#include "sim/report/summary.h"
#include "sim/report/text/paint.h"

namespace trainyard {

struct TerminalStyle {
    Colour colour = Colour::none; // ansi: the caller knows of a terminal and no NO_COLOR
    std::size_t width = 100;      // cells, at least 80
};

// The report that `simulate` prints: headline, where the time goes, health, communication, memory.
std::string terminal_text(const Outcome& outcome, const Summary& summary,
                          const TerminalStyle& style = {});

} // namespace trainyard

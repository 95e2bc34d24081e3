#pragma once

// Advice and what-ifs for people and programs.

#include "sim/report/text/paint.h"
#include "sim/study/sensitivity/advice.h"
#include "sim/study/sensitivity/what_if.h"

#include <span>

namespace trainyard {

// "5 settings tried, 2 left out (--advice 7 tries all)"
std::string tried_text(const AdviceReport& advice);

// "4.1 %", also below 0.
std::string gain_text(double gain);

// Settings with what they save. Empty when nothing was tried.
std::string advice_text(const AdviceReport& advice, bool fits, const Paint& paint,
                        std::size_t width = 100);

// Resources with what their improvement saves. Empty without rows.
std::string what_if_text(std::span<const WhatIf> rows, const Paint& paint, std::size_t width = 100);

Json to_json(const AdviceReport& advice);
Json to_json(std::span<const WhatIf> rows);

} // namespace trainyard

#pragma once

#include "sim/report/training/training_text.h"

namespace trainyard {

// Of a page: what a whole training takes, where its time goes, what moves the answer most, what was
// assumed.
std::string training_html(const TrainingReport& report);

} // namespace trainyard

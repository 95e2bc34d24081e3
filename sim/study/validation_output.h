#pragma once

// A validation as JSON, as a table for people, and as one line per record for spreadsheets.

#include "sim/study/validate.h"

namespace trainyard {

// "summary", "by_source", "by_gpu", "by_class" (objects by name), "records"; errors are fractions.
Json to_json(const ValidationReport& report);

// Every record: measured, predicted, error and interval, what was assumed, or why it was skipped.
std::string records_text(const ValidationReport& report);

// The summaries, the reasons for what was skipped, and the means over sources. Ends with a newline.
std::string summary_text(const ValidationReport& report);

// One line per record, header first, fields quoted where needed (RFC 4180).
std::string to_csv(const ValidationReport& report);

} // namespace trainyard

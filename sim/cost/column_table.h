#pragma once

// What measured tables share in files: {"columns": [titles], "rows": [[numbers], ...]}.

#include "sim/base/json.h"
#include "sim/base/quantity.h"

namespace trainyard {

Json column_table_schema();

// Microseconds to the tenth of a picosecond, so that what is read again is the same value.
double written_microseconds(Seconds time);

} // namespace trainyard

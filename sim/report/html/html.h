#pragma once

#include "sim/report/summary.h"

namespace trainyard {

// The whole report as one HTML file that needs no network: headline, breakdown, timeline (when the
// outcome has records), memory, communication, assumptions, inputs. Names in it are escaped.
std::string html_report(const Outcome& outcome, const Summary& summary);

} // namespace trainyard

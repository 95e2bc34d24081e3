#pragma once

// A model in words and numbers: what `trainyard model` prints.

#include "sim/workload/model_summary.h"

namespace trainyard {

// A table of its layers and what it takes, then what was assumed and which keys were left alone.
std::string describe(const ModelSummary& summary, const ImportedModel& read);

Json to_json(const ModelSummary& summary, const ImportedModel& read);

// One line each: parameters in all and of a token, layers by kind.
std::string model_table(const std::vector<ModelSummary>& models);

// "48 window of 128 + experts, 12 attention + experts"
std::string layers_by_kind(const ModelSummary& summary);

// "70.6 B"
std::string parameter_text(double parameters);

} // namespace trainyard

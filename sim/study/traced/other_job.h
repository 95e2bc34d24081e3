#pragma once

// Whether a recorded step is of a scenario's job: what shapes of products and the repetition of
// layers tell.

#include "sim/study/traced/trace_fit.h"

namespace trainyard {

// Why the recorded products are of another model, or nothing: next to none of their time is of one
// that has the model's width in its shapes, which nearly all products of a transformer have.
// Nothing too where shapes were not recorded, and of models that are no transformers.
std::optional<std::string> width_contradiction(const RunSummary& recorded, const Model& model);

// Forward kernels of the recording repeat otherwise than the scenario's layers: that is a problem
// where layers are missing and a rate that was fitted is faster than it is believed to be, which
// they explain, and else doubted in `fit`. `trace` names the file.
Problems judge_layers(TraceFit& fit, const std::vector<StageSides>& stages,
                      const std::string& trace);

} // namespace trainyard

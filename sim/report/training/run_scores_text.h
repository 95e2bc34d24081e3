#pragma once

#include "sim/base/json.h"
#include "sim/study/training/run_scores.h"

namespace trainyard {

enum class ScoreDetail { summary, runs };

// A row for each training with something to score, what was assumed of it, why others were not
// scored; then the errors of step, goodput and wall time, each apart.
std::string run_scores_text(const RunScores& scores, ScoreDetail detail = ScoreDetail::runs);

Json to_json(const RunScores& scores);

} // namespace trainyard

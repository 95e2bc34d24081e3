#pragma once

// A whole training in words and as JSON, for whatever report it is a part of.

#include "sim/base/json.h"
#include "sim/report/text/paint.h"
#include "sim/study/training/simulated_trainings.h"
#include "sim/study/training/training_sensitivity.h"

#include <span>

namespace trainyard {

inline constexpr std::string_view whole_training_format = "trainyard.training/1";

// What there is to show beside the answer.
struct TrainingReport {
    WholeTraining training;
    std::vector<TrainingSensitivity> sensitivities;
    std::optional<SimulatedTrainings> simulated; // its interval is shown where it is there
};

// "31.4 d", "2.5 h", "40 s".
std::string wall_text(Seconds time);

// Days, goodput, cost and energy; where the time goes; what matters most.
std::string training_text(const TrainingReport& report, const Paint& paint,
                          std::size_t width = 100);

// Times in s, money in the currency of the prices, energy in kWh; "request" reads back.
Json to_json(const TrainingReport& report);

} // namespace trainyard

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
    std::optional<SimulatedTrainings> simulated; // for files
};

// "31.4 d", "2.5 h", "40 s".
std::string wall_text(Seconds time);

// "$ 1.41 M": in the currency of the prices.
std::string money_text(double money);

std::string spares_text(int nodes);                   // "1 spare node"
std::string paid_text(const WholeTraining& training); // "$ 153 k with 1 spare node", where priced

std::string kwh_text(double kwh);     // "31.31 MWh"
std::string watts_text(double watts); // "36.3 kW"

std::string_view title_of(WallTime cause);

// "-1.2 d", "+7.71 k": against the answer; empty where nothing moves.
std::string moved_text(const std::optional<Seconds>& wall, Seconds from);
std::string moved_text(const std::optional<double>& money, const std::optional<double>& from);

// A figure of the answer, and what is told beside it.
struct TrainingFact {
    std::string name;
    std::string value;
    std::string more;
};
std::vector<TrainingFact> training_facts(const TrainingReport& report);

// Days, goodput, cost and energy; where the time goes; what matters most.
std::string training_text(const TrainingReport& report, const Paint& paint,
                          std::size_t width = 100);

// Times in s, money in the currency of the prices, energy in kWh; "request" reads back.
Json to_json(const TrainingReport& report);

} // namespace trainyard

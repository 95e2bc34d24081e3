#pragma once

// What it costs to run the layout that is predicted quickest instead of the one that is.
//
// Of measured runs of one job that differ in layout only, with measured throughputs r:
//
//   regret = 1 - r(predicted quickest) / r(quickest)
//
// 0 when the best was chosen; 1 when the chosen ran out of memory. A prediction may be off by a
// factor and have no regret: what counts is the order of layouts, not their times.

#include "sim/base/json.h"
#include "sim/base/quantity.h"
#include "sim/study/measured_layout.h"

#include <span>

namespace trainyard {

struct RecordVerdict;

// A choice among the layouts of one job.
struct LayoutRegret {
    std::vector<std::size_t> records; // indices of all that took part, in their order
    std::size_t chosen = 0;           // index of a record of the layout predicted quickest
    std::size_t best = 0;             // likewise, of the layout measured quickest
    Seconds chosen_time;              // measured, mean of the repeats; infinite: out of memory
    Seconds best_time;
    std::size_t layouts = 0; // different ones: repeats of one count with their mean time
    std::size_t quicker = 0; // layouts measured quicker than the chosen one
    double regret = 0;
    double at_random = 0; // mean of the regret over the layouts

    bool operator==(const LayoutRegret&) const = default;
};

struct ChoiceRegret {
    std::vector<LayoutRegret> choices; // in the order of their first records
    std::size_t runs = 0;              // in these
    std::size_t not_predicted = 0;     // left out: skipped or refused
    std::size_t not_fitting = 0;       // left out: predicted to need more memory than there is
    std::size_t too_few = 0;           // left out: the job was measured with fewer layouts

    // Over the choices; 0 when there are none.
    double mean = 0;
    double median = 0;
    double p90 = 0;
    double worst = 0;
    double at_random = 0;
    std::size_t best_chosen = 0;
    // Where there are more to choose from, and how often the chosen was one of them.
    std::size_t more_than_three = 0;
    std::size_t among_three_best = 0;

    bool operator==(const ChoiceRegret&) const = default;
};

inline constexpr std::size_t fewest_layouts = 3; // to choose from

// Of the run when it was measured; infinite when it ran out of memory. Requires one of both.
Seconds measured_time(const RecordVerdict& verdict);

// Of layouts predicted alike the slowest counts as chosen.
ChoiceRegret choice_regret(std::span<const RecordVerdict> verdicts);

// A section of the summary; empty when there was nothing to choose.
std::string choice_text(const ChoiceRegret& regret, std::span<const RecordVerdict> verdicts);

// Null when there was nothing to choose.
Json to_json(const ChoiceRegret& regret, std::span<const RecordVerdict> verdicts);

} // namespace trainyard

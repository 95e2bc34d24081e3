#pragma once

// How well few own steps predict others: every record, pair, triple, ... in turn as the only own
// steps, scored on all others. No record is in its own fit.

#include "sim/study/own_steps/rate_fit.h"

namespace trainyard {

struct OwnStepsScore {
    std::string name;        // of a source on a device, or of a class of models
    std::size_t records = 0; // of which the fits were made
    std::size_t fits = 0;
    double as_stated = 0;     // mean |predicted / measured - 1| of the records, without own steps
    double fitted = 0;        // mean over the fits of the mean over the others
    double covered = 0;       // share of the others within the interval of like jobs
    double high_over_low = 1; // of these intervals, the median

    bool operator==(const OwnStepsScore&) const = default;
};

struct OwnStepsScores {
    int own_steps = 1;
    // All records of one source, device and network in turn; scored on all others of them.
    std::vector<OwnStepsScore> machines;
    // The same, but fitted to and scored on like jobs alone (job_class.h), by class of models:
    // "dense-decoder", "moe-decoder", ...
    std::vector<OwnStepsScore> alike;
    std::vector<std::string> skipped; // ids with the reason

    bool operator==(const OwnStepsScores&) const = default;
};

// At most so many fits of one machine, evenly spread over the combinations.
inline constexpr std::size_t most_own_step_fits = 2000;

// `only`: ids or sources that hold this text. Each record is simulated once for each rate; fits are
// made of these responses (rate_responses.h), in which steps are sums of parts.
OwnStepsScores own_steps_scores(std::span<const RecordFile> files, int own_steps,
                                const std::string& only = {}, const WorkControl& work = {});

std::string own_steps_scores_text(const OwnStepsScores& scores);
Json to_json(const OwnStepsScores& scores);

} // namespace trainyard

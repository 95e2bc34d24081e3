#pragma once

// How far a step time, or the ratio of two, can be off.

#include "sim/base/vocabulary.h"
#include "sim/study/accuracy/step_errors.h"

namespace trainyard {

// A number with its 90 % interval and how far it can be trusted.
struct Prediction {
    Seconds value;
    Seconds low;
    Seconds high;
    Grade grade = Grade::datasheet;
    std::string basis; // where the interval comes from
    JobTraits traits = {};
    // log(predicted / measured) lies between the two with 0.9: low <= 0 <= high.
    double error_low = 0;
    double error_high = 0;

    bool operator==(const Prediction&) const = default;
};

// What steps measured by the user say of jobs like this one: what is left of the error, as log
// (predicted / measured), lies within +- `half` with 0.9. Absent: as after one own step of others.
struct OwnEvidence {
    int steps = 1;
    std::optional<double> half;

    bool operator==(const OwnEvidence&) const = default;
};

// What is known of a prediction beside its value.
struct Evidence {
    JobTraits traits;
    Grade grade = Grade::datasheet;
    // Half of the 90 % interval of the constant that decides matrix products, as a logarithm:
    // counts where no run on the device was measured, for errors of others do not hold it.
    double constants = 0;
    std::optional<OwnEvidence> own; // of jobs like this one

    bool operator==(const Evidence&) const = default;
};

// The interval of errors of the job's class, whole groups left out; wider for each of GPU, number
// format, software class and size that no run of its class had (factors joined as independent
// causes), narrower after own steps.
Prediction predict_step_time(Seconds value, const Evidence& evidence,
                             const StepErrors& errors = shipped_step_errors());

// Step times of two jobs against one another.
struct RatioPrediction {
    double value = 1; // b / a
    double low = 1;   // with 0.9
    double high = 1;
    double b_is_quicker = 0.5; // probability, of errors with a normal distribution
    std::string basis;

    bool operator==(const RatioPrediction&) const = default;
};

// Errors that both jobs have in common cancel: from pairs of measured runs of one publication that
// differ in what these differ in; where there are too few, from those that differ in one of these
// each, joined as independent causes; never wider than without anything in common.
RatioPrediction predict_ratio(const Prediction& a, const Prediction& b,
                              const StepErrors& errors = shipped_step_errors());

} // namespace trainyard

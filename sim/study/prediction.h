#pragma once

// How far a step time, the ratio of two, or a peak of memory can be off.

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
// causes), narrower after own steps. What no run had makes of published constants an extrapolation.
Prediction predict_step_time(Seconds value, const Evidence& evidence,
                             const StepErrors& errors = shipped_step_errors());

// What the fullest device holds at its peak, with an interval: the value where nothing measured is
// known.
struct PeakPrediction {
    Bytes value;
    Bytes low;
    Bytes high;
    double share = interval_share; // that the interval holds
    // Published: runs of such models, on that GPU, in that format and with that software were
    // measured; extrapolated: of such models, but not these; datasheet: none of such models.
    Grade grade = Grade::datasheet;
    std::string basis; // where the interval comes from; empty: there is none

    bool has_interval() const { return !basis.empty(); }
    bool operator==(const PeakPrediction&) const = default;
};

// As predict_step_time, of errors of measured peaks. What has no measured run like it widens the
// interval where leaving such runs out says by how much; it is named in any case.
PeakPrediction predict_peak(Bytes value, const JobTraits& job,
                            const PeakErrors& errors = shipped_step_errors().memory);

// Whether a peak has room, and how surely.
enum class MemoryFit : std::uint8_t {
    fits,          // up to the interval's end
    probably_fits, // but not up to its end
    probably_not,  // but at its beginning
    does_not
};

template <>
std::vector<EnumName<MemoryFit>> enum_names<MemoryFit>();

MemoryFit fit_of(const PeakPrediction& peak, Bytes capacity);

// Under "fits" in a table: "yes", "likely", "unlikely" or "no".
std::string_view fit_cell(MemoryFit fit);

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

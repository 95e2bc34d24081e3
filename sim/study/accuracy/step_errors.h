#pragma once

// How far predicted step times and peaks of memory were off, by class of job: a data file that
// `trainyard validate --calibrate-intervals` writes and every prediction reads.
//
// Errors are logarithms of predicted / measured; intervals hold nine in ten.

#include "sim/study/accuracy/conformal.h"
#include "sim/study/accuracy/job_traits.h"

namespace trainyard {

inline constexpr std::string_view step_errors_format = "trainyard.step-errors/1";
inline constexpr double interval_share = 0.9;

// Jobs of a class, and narrower ones of a generation, with their dispatcher stated or not.
struct ErrorClass {
    ModelClass model_class = ModelClass::dense;
    std::string generation;                // empty: all
    std::optional<bool> dispatcher_stated; // nothing: either
    std::string pooled;                    // with which classes, where its own groups are too few
    double low = 0;
    double high = 0;
    int groups = 0;
    int runs = 0;

    bool takes(const JobTraits& job) const;
    bool operator==(const ErrorClass&) const = default;
};

struct MeasuredRange {
    std::int64_t least = 0;
    std::int64_t most = 0;

    bool operator==(const MeasuredRange&) const = default;
};

// What was among the measured jobs of a class.
struct SeenJobs {
    ModelClass model_class = ModelClass::dense;
    std::vector<std::string> devices;
    std::vector<std::string> precisions;
    std::vector<std::string> software;
    int largest = 0; // devices
    // As JobTraits has them; nothing: of no measured job.
    std::optional<MeasuredRange> sequence_length = {};
    std::optional<MeasuredRange> pass_tokens = {};
    std::optional<MeasuredRange> pass_samples = {};
    std::optional<MeasuredRange> hidden_size = {};

    bool operator==(const SeenJobs&) const = default;
};

// What an interval is widened by, 1 or more: found by leaving out all runs on each device, in each
// number format, with each software class, and above or below each of some sizes.
struct Widening {
    double device = 1;
    double precision = 1;
    double software = 1;
    double doubling = 1; // of the devices beyond the largest
    // Of each halving below the smallest and doubling beyond the largest.
    double sequence_halving = 1;
    double sequence_doubling = 1;
    double pass_halving = 1;
    double pass_doubling = 1;
    double hidden_halving = 1;
    double hidden_doubling = 1;

    bool operator==(const Widening&) const = default;
};

struct SizeEnd {
    std::string_view name; // "sequences of less than {} tokens"
    double Widening::*widening;
};

// A size of jobs of which not all values were measured.
struct MeasuredSize {
    std::int64_t JobTraits::*of;
    std::optional<MeasuredRange> SeenJobs::*seen;
    SizeEnd below;
    SizeEnd above;
};

std::span<const MeasuredSize> measured_sizes();

// log(error ratio) of two jobs of one class and publication that differ in just that.
struct RatioClass {
    ModelClass model_class = ModelClass::dense;
    std::vector<std::string> differs; // as `differences` names it
    double half = 0;                  // nine in ten lie within +- this
    int groups = 0;
    int pairs = 0;

    bool operator==(const RatioClass&) const = default;
};

// What is left after one own step of the same model, GPU, format and software, up to 4 times
// larger, longer or smaller.
struct OwnStepClass {
    ModelClass model_class = ModelClass::dense;
    double half = 0;
    int groups = 0;
    int pairs = 0;

    bool operator==(const OwnStepClass&) const = default;
};

// Errors of runs that the fit did not see over those of the same runs in sample.
struct FitOptimism {
    ModelClass model_class = ModelClass::dense;
    double factor = 1;
    int runs = 0;

    bool operator==(const FitOptimism&) const = default;
};

// Of the peak of memory on the fullest device.
struct PeakErrors {
    double share = interval_share;   // of a new group's peaks that intervals hold
    std::vector<ErrorClass> classes; // likewise; empty: no measured run is known
    std::vector<SeenJobs> seen;
    Widening widening;

    bool operator==(const PeakErrors&) const = default;
};

// The narrowest of them that takes the job; null: none does.
const ErrorClass* class_for(const std::vector<ErrorClass>& classes, const JobTraits& job);
const SeenJobs* seen_of(const std::vector<SeenJobs>& seen, ModelClass model_class);

struct StepErrors {
    std::vector<ErrorClass> classes; // one for each class of models at least
    std::vector<SeenJobs> seen;
    Widening widening;
    std::vector<RatioClass> ratios;
    std::vector<OwnStepClass> own_steps;
    std::vector<FitOptimism> optimism; // in `low` and `high` already
    PeakErrors memory;

    // The narrowest class that takes the job. Requires one of its class of models.
    const ErrorClass& class_for(const JobTraits& job) const;
    double optimism_of(ModelClass model_class) const;

    bool operator==(const StepErrors&) const = default;
};

template <>
const FieldTable<StepErrors>& fields_of<StepErrors>();

Json to_json(const StepErrors& errors);
Checked<StepErrors> step_errors_from(const Json& json, const std::string& file);

// The file of the shipped profiles that holds them.
std::filesystem::path step_errors_file();
// Read at the first call. Throws WorldError when it cannot be.
const StepErrors& shipped_step_errors();

} // namespace trainyard

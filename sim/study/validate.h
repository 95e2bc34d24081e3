#pragma once

// Predictions against measured runs: one simulation per record, then how far off they were.

#include "sim/base/progress.h"
#include "sim/study/accuracy/calibrate_errors.h"
#include "sim/study/choice_regret.h"
#include "sim/study/prediction.h"
#include "sim/study/record.h"

#include <span>

namespace trainyard {

// A record, and what the simulator says of it.
struct RecordVerdict {
    std::string id;
    std::string source;       // key of the publication
    std::string gpu;          // family
    std::string architecture; // dense-decoder, moe-decoder, encoder, cnn, ...
    std::string strategy;     // "tp+pp", "fsdp", ...: the dimensions in use
    std::string quality;
    std::string device;   // whose constants it was predicted with; empty when skipped
    std::string software; // class, likewise
    std::optional<Seconds> measured;
    std::optional<Prediction> predicted; // absent when skipped, but for what ran out of memory
    std::optional<PeakPrediction> peak;  // of the fullest stage
    // Of the fullest GPU, predicted / measured - 1, where memory was measured.
    std::optional<double> allocated_error;
    std::optional<double> reserved_error;
    // Fewer bytes were measured than parameters and optimizer states take as assumed: they were
    // held in other formats, of which the record says nothing.
    bool holds_less = false;
    bool memory_counts = true; // else runs of its publication hold less: it tells of no peak
    bool fits = true;
    MeasuredLayout layout;
    bool out_of_memory = false;    // when it was measured; predicted all the same, but not scored
    bool shipped_constants = true; // else a profile that the record's own scenario names
    std::vector<std::string> assumptions;
    std::string skipped; // why; empty when scored

    // predicted / measured - 1. Requires both.
    double error() const;
    // Whether the measured time lies in the predicted interval. Requires both.
    bool covered() const;
    // Of what the allocator reserved, else of what it handed out, whichever was measured; nothing
    // where the memory does not count.
    std::optional<double> peak_error() const
    {
        if (!memory_counts)
            return std::nullopt;
        return reserved_error ? reserved_error : allocated_error;
    }
    // Whether the measured peak lies in the predicted interval. Requires a peak_error.
    bool peak_covered() const;

    bool operator==(const RecordVerdict&) const = default;
};

// Mean of |error|.
struct MeanError {
    std::size_t records = 0;
    double mean = 0;

    void add(double error);
    bool operator==(const MeanError&) const = default;
};

// Of peak memory, over the records that measured it.
struct MemoryErrors {
    std::string name; // "dense-decoder tp", ..., "all"
    MeanError allocated;
    MeanError reserved;

    bool operator==(const MemoryErrors&) const = default;
};

// Errors of a set of records, as fractions: 0.1 is ten per cent.
struct ErrorSummary {
    std::string name;
    std::size_t records = 0;
    std::size_t scored = 0;
    std::size_t skipped = 0;
    double mape = 0; // mean of |error|
    double median_ape = 0;
    double bias = 0; // mean of error; above zero: predicted too slow
    double p90_ape = 0;
    double max_ape = 0;
    double covered = 0; // share of measured times in their interval

    bool operator==(const ErrorSummary&) const = default;
};

// Intervals of a class of models: those that were predicted, and whole groups left out of the
// records at hand.
struct IntervalSummary {
    ClassCoverage groups;
    double covered = 0; // share of what was measured in the predicted interval
    double width = 0;   // high / low, median

    bool operator==(const IntervalSummary&) const = default;
};

struct ValidationReport {
    std::vector<RecordVerdict> records; // in the order of the files
    ErrorSummary all;
    std::vector<ErrorSummary> by_source;
    std::vector<ErrorSummary> by_gpu;
    std::vector<ErrorSummary> by_class; // "dense-decoder", then "dense-decoder tp+pp", ...

    std::vector<IntervalSummary> intervals; // of what was predicted with shipped constants
    std::vector<MemoryErrors> memory;       // by class, then all; empty when nobody measured it
    std::vector<IntervalSummary> peaks;     // as `intervals`, of peaks of memory
    ChoiceRegret choice;

    // Means of the sources' mean errors, so that a source with many near-repeats weighs no more
    // than another: over what was predicted with shipped constants, and over its dense decoders of
    // quality A.
    double mean_of_sources = 0;
    double dense_mean_of_sources = 0;
};

struct ValidateOptions {
    std::string only; // records whose id or source holds this; empty: all
    int threads = 2;
    WorkControl work; // `cancel` makes validate throw Cancelled
};

ValidationReport validate(std::span<const RecordFile> files, const ValidateOptions& options = {});

// What calibrated takes: runs that were scored and predicted with shipped constants.
std::vector<JudgedRun> judged_runs(std::span<const RecordVerdict> verdicts);

// What calibrated_peaks takes: those of them whose memory was measured.
std::vector<JudgedRun> judged_peaks(std::span<const RecordVerdict> verdicts);

// The summaries over verdicts: everything in the report but the verdicts themselves.
ValidationReport summarized(std::vector<RecordVerdict> verdicts);

} // namespace trainyard

#pragma once

// Predictions against measured runs: what `trainyard validate` reads and tells.

#include "sim/report/training/run_scores_text.h"
#include "sim/study/contradictions.h"
#include "sim/study/validation_output.h"

namespace trainyard {

// Files of measured steps and of whole trainings, told apart by what they say of themselves.
struct MeasuredInput {
    std::vector<RecordFile> steps;
    std::vector<PublishedRunFile> trainings;
};

// Every file's problems. Throws WorldError where one cannot be read.
Checked<MeasuredInput> read_measured(std::span<const std::string> files);

struct Validation {
    std::optional<ValidationReport> steps; // where there are any
    std::vector<Contradiction> doubtful;   // of them
    std::optional<RunScores> trainings;    // likewise

    bool scored() const; // anything
};

// Throws Cancelled.
Validation validate_measured(const MeasuredInput& input, const ValidateOptions& options);

// The document that `--json` prints, and the report.
Json to_json(const Validation& validation);
std::string report_text(const Validation& validation, ScoreDetail detail = ScoreDetail::runs);

} // namespace trainyard

#pragma once

#include "sim/study/training/published_run.h"
#include "sim/study/validate.h"

namespace trainyard {

// A prediction against what was published. Nothing where one of them is missing.
struct ScoredFigure {
    std::optional<StatedFigure> stated;
    std::optional<double> predicted;

    bool scored() const { return stated && predicted; }
    // predicted / stated - 1. Requires both.
    double error() const { return *predicted / stated->value - 1; }
};

// One training: its step apart from what failures and checkpoints make of it.
struct RunScore {
    std::string id;
    ScoredFigure step;    // s
    ScoredFigure goodput; // of steps as long as stated, else as predicted
    ScoredFigure wall;    // s: predicted steps and predicted goodput together
    std::vector<std::string> assumptions;
    std::string skipped; // why no step was predicted; empty when one was
};

struct ErrorOfFigure {
    std::size_t scored = 0;
    double median = 0; // of |error|
    double mean = 0;
    double bias = 0; // mean of error
};

struct RunScores {
    std::vector<RunScore> runs; // in the order of the files
    ErrorOfFigure step, goodput, wall;
};

// Failures, restarts and checkpoints are the defaults of `WholeTrainingRequest`, with one failure
// in 50,000 GPU hours, whatever the run.
RunScores score_runs(std::vector<PublishedRunFile> files, const ValidateOptions& options = {});

} // namespace trainyard

#pragma once

// What measured files hold: sweeps to fit, pairs to judge, and the node they are of.

#include "calibrate/fit/fit_input.h"
#include "calibrate/import/pair_matrix.h"
#include "calibrate/measure/discover/matrix_study.h"

namespace trainyard::gui {

struct MeasuredPairs {
    std::string source; // the file
    PairMatrix matrix;
};

struct Measurements {
    std::vector<std::string> files;
    FitInput input;
    std::vector<MeasuredPairs> pairs;
};

// A log of nccl-tests, bandwidths of pairs, a topology, or a journal of `trainyard calibrate`; not
// a profile, of which only `read_measurements` says whether it keeps samples.
bool is_measurement(const std::string& text);

// Everything that the file holds: sweeps, pairs, a topology, also several of them. Throws
// WorldError and Cancelled.
Checked<Measurements> read_measurements(const std::string& file, const WorkControl& work);

// Copies of what is known are counted once.
void append(Measurements& to, Measurements more);

// With the node's classes where the measurements are of a node as large.
MatrixVerdicts judge(const Measurements& measured, const PairMatrix& matrix);

} // namespace trainyard::gui

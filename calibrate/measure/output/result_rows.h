#pragma once

// What a run measured besides collectives over sizes, as people read it.

#include "calibrate/import/pair_matrix.h"
#include "calibrate/measure/samples.h"

namespace trainyard {

struct ResultRow {
    std::string what;    // "gemm 256 x 256 x 64 float32", "barrier among 4 ranks"
    Seconds time;        // of one op, the median over launches
    std::string reached; // "74.8 GFLOP/s"; empty: nothing that is made or moved
};

// Products by shape, then what moves bytes by size, then what was timed beside something; barriers
// and messages of many ranks after them. Pairs are in matrices, collectives over sizes in sweeps.
std::vector<ResultRow> result_rows(const MeasuredRun& run);

// In columns; empty: no rows.
std::string text_of(const std::vector<ResultRow>& rows);

// Every cell up to 16 ranks, else a line with their range.
std::string text_of(const PairMatrix& matrix);

} // namespace trainyard

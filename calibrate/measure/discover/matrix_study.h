#pragma once

// Imported pair matrices, judged by the rule for slow links.

#include "calibrate/measure/discover/verdict.h"

namespace trainyard {

struct MatrixVerdicts {
    PairVerdicts verdicts;
    std::string not_judged; // why; empty: it was judged
};

// Rates between GPUs, named "GPU 0", "GPU 1", ... `classes`: of those GPUs, as from classes_of;
// empty: not known. All pairs are then one class, which says nothing where more than a quarter of
// them are slow: they are joined in several ways. Latencies, copies from the host and matrices that
// are not square are not judged.
MatrixVerdicts judge(const PairMatrix& matrix, const Words& classes = {});

// "38 % below the others of its kind".
std::string shortfall_text(const SlowVerdict& verdict);

} // namespace trainyard

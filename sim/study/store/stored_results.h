#pragma once

// A store as others look at it: its points and whose they are, without a plan that goes on.

#include "sim/study/store/plan_store.h"

namespace trainyard {

struct StoredPoint {
    LayoutChoice choice;
    PointFacts facts;
};

struct StoredResults {
    std::string program;               // whose results they are: `program_name()` of another build
    std::vector<StoredQuestion> asked; // every scenario once, in the order of the plans
    std::vector<StoredPoint> points;   // of all of them
};

// Also of a store of another program, whose times may differ. Throws Cancelled, and WorldError
// where it is none, is damaged or of another schema; the file is left as it is.
StoredResults stored_results(const std::string& path, const WorkControl& work);

} // namespace trainyard

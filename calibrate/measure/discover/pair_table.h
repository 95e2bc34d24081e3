#pragma once

// The measured pairs of a study, with the level of each class and who is slow.

#include "calibrate/measure/discover/verdict.h"

#include <map>

namespace trainyard {

struct PairCell {
    OrderedPair pair;
    std::size_t cls = 0; // of classes
    double value = 0;    // the first one measured
    std::vector<double> again;
    bool slow = false; // every time
};

struct PairClass {
    std::string word;
    ClassLevel level;
};

struct PairTable {
    std::vector<PairCell> cells;
    std::vector<PairClass> classes;
    std::map<OrderedPair, std::size_t> by_pair;
    std::vector<std::string> recovered;
};

PairTable table_of(const PairStudy& study);

// "GPU 3", "GPU 3 -> GPU 5", "121".
std::string name_of(const PairStudy& study, int rank);
std::string arrow(const PairStudy& study, const OrderedPair& pair);
std::string in_gigabytes(double rate);

} // namespace trainyard

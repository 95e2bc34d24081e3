#pragma once

// Which link, GPU, switch or NIC is slow: from the rates of all ordered pairs.

#include "calibrate/import/pair_matrix.h"
#include "calibrate/measure/discover/class_level.h"
#include "calibrate/measure/discover/pair_classes.h"

namespace trainyard {

// Values of a pair that was measured again.
struct MeasuredAgain {
    OrderedPair pair;
    std::vector<double> values; // bytes/s

    bool operator==(const MeasuredAgain&) const = default;
};

struct PairStudy {
    std::vector<std::string> names;                 // of the ranks: "GPU 3", "node7 GPU 3"
    std::vector<std::vector<std::optional<double>>> // bytes/s from row to column; rows may lack
        rates;                                      // cells, which are then not measured
    Words classes;                                  // as from classes_of
    std::vector<MeasuredAgain> again;
    std::vector<SharedPart> parts; // as from shared_parts; none: only GPUs and links are blamed
    SlowRule rule;
};

// Pairs that look slow, to be measured twice more: what `verdicts` would blame now.
std::vector<OrderedPair> to_measure_again(const PairStudy& study);

enum class SlowKind : std::uint8_t {
    gpu,       // most pairs of it, both ways
    sending,   // most pairs from it
    receiving, // most pairs to it
    part,      // most pairs that cross a switch, a NIC or one direction of a link
    both_ways, // one pair, both ways
    one_way    // one pair, one way
};

struct SlowVerdict {
    SlowKind culprit = SlowKind::one_way;
    std::string what; // "GPU 3", "GPU 3 -> GPU 5", "switch pcie-0000:01:00.0"
    double share = 1; // of what its class reaches, median of the pairs
    std::string
        evidence; // "121 GB/s; the 55 other NV18 pairs 382 GB/s median; measured again: ..."
    std::vector<OrderedPair> pairs;

    bool operator==(const SlowVerdict&) const = default;
};

struct PairVerdicts {
    std::vector<SlowVerdict> slow;      // what explains most pairs first
    std::vector<std::string> recovered; // pairs that were slow once and not again

    bool operator==(const PairVerdicts&) const = default;
};

// A pair is slow when all its values are. What most judged pairs of a GPU, one direction of it or a
// part have in common is blamed, the one that explains most pairs first; what is left is blamed on
// links. A class all of whose pairs cross a part says nothing about that part.
PairVerdicts verdicts(const PairStudy& study);

} // namespace trainyard

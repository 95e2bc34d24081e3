#pragma once

// Measured records that contradict their neighbours: typing errors of a source show there first.

#include "sim/study/validate.h"

namespace trainyard {

// A record out of line with others of the same source, task, model and GPU.
struct Contradiction {
    std::string id;
    std::string why; // a sentence with the numbers

    bool operator==(const Contradiction&) const = default;
};

// Two rules, neither of which drops a record:
//
// * Error: with r = ln(predicted / measured), |r - median of the neighbours' r| is above 0.15 and
//   above three times their spread (1.4826 x median absolute deviation, the standard deviation of
//   normal errors). At least three neighbours.
// * Settings: of the same number of GPUs, precision and sequence length, the releases just before
//   and just after agree on the parallel sizes and the micro-batch, and this one does not.
//
// In the order of the records.
std::vector<Contradiction> contradictions(std::span<const RecordFile> files,
                                          std::span<const RecordVerdict> verdicts);

// A line for each of the first dozen, and how many more there are; empty when there is none.
std::string contradictions_text(std::span<const Contradiction> found);

Json to_json(std::span<const Contradiction> found);

} // namespace trainyard

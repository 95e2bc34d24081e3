#pragma once

// Has this machine changed since its profile was measured?

#include "calibrate/import/sweep.h"
#include "sim/cost/profile.h"

namespace trainyard {

// One curve measured again.
struct CurveChange {
    std::string what; // "all_reduce among 8 ranks, float"
    double ratio = 1; // time now / time then, geometric mean over sizes
    double worst = 1; // of one size, farthest from 1
    Bytes worst_size;
    bool changed = false; // by more than `unchanged`, and by more than the intervals explain

    bool operator==(const CurveChange&) const = default;
};

struct ChangeReport {
    std::vector<CurveChange> curves;
    std::vector<std::string> environment; // differences of software and variables
    std::vector<std::string> machine;     // differences of hardware and how it is set
    std::vector<std::string> not_there;   // curves, or their sizes, that the profile does not have

    bool changed() const;
    bool operator==(const ChangeReport&) const = default;
};

// Times of launches differ by a few percent; what matters is more.
inline constexpr double unchanged = 0.10;

// Compares tables of the same collective, ranks, type, algorithm and library, inside the sizes that
// both have.
ChangeReport changes_since(const Profile& then, std::span<const Sweep> now,
                           const Environment& environment);

// For people: a line per curve, changed ones first.
std::string describe(const ChangeReport& report);

} // namespace trainyard

#pragma once

// What a form of few constants leaves of measured times, tabulated over a few sizes.

#include "sim/base/field_names.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trainyard {

// Measured / form over a few sizes: its logarithm is multilinear in the sizes' logarithms between
// the knots, and flat beyond the first and the last. Without knots it is 1.
struct SizeCorrection {
    std::vector<std::vector<std::int64_t>> knots; // of each size, ascending
    std::vector<int> per_mille;                   // 1000 log(measured / form), last size fastest

    double factor(std::span<const double> sizes) const; // as many as there are lists of knots
    double largest(std::size_t size) const;             // knot; infinite without knots
    bool operator==(const SizeCorrection&) const = default;
};

// |predicted / measured - 1| of rows that the fit did not see.
struct SurfaceErrors {
    int rows = 0; // that were measured
    double median = 0;
    double p90 = 0;

    bool operator==(const SurfaceErrors&) const = default;
};

template <>
const FieldTable<SizeCorrection>& fields_of<SizeCorrection>();
template <>
const FieldTable<SurfaceErrors>& fields_of<SurfaceErrors>();
// Reports lists of knots that are not `sizes` ascending ones, and values that do not fit them.
void check_correction(const Reader& reader, const SizeCorrection& correction, std::size_t sizes);

// The larger of two times, rounded where they are alike: (a^4 + b^4)^(1/4).
double either(double a, double b);

} // namespace trainyard

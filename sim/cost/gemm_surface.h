#pragma once

// Measured GEMM times over shapes: a grid of (m, n, k), and the surface between its points.

#include "sim/base/field_names.h"
#include "sim/base/quantity.h"
#include "sim/workload/kernel.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

struct GemmPoint {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    Seconds time;

    bool operator==(const GemmPoint&) const = default;
};

// Times over all combinations of the m, n and k that occur. Read from {"columns": ["m", "n", "k",
// "time [us]"], "rows": [[...], ...]} in any order; times must not fall when a side grows.
class GemmSurface {
public:
    GemmSurface() = default;
    // Requires a full grid, one point per shape, with times that do not fall.
    explicit GemmSurface(std::vector<GemmPoint> points);

    bool empty() const { return times_.empty(); }

    // log T is linear in log m, log n and log k between the points, which are met exactly. Below
    // the smallest side the mean of the first slopes goes on, no steeper than in proportion; above
    // the largest the time grows in proportion: the rate stays. Products of a batch count as rows
    // of one. Monotone in every side. Requires a surface that is not empty.
    Seconds time(const GemmShape& shape) const;

    // All rates times `factor`.
    GemmSurface sped_up(double factor) const;

    // In the order of m, n, k.
    std::vector<GemmPoint> points() const;

    bool operator==(const GemmSurface&) const = default;

private:
    std::array<std::vector<std::int64_t>, 3> sides_; // m, n, k, ascending
    std::vector<Seconds> times_;                     // k fastest
    std::array<double, 3> first_slope_{1, 1, 1};     // d log T / d log side at the smallest
};

template <>
struct FieldValue<GemmSurface> {
    static std::string type_name();
    static bool read(const Reader& reader, GemmSurface& out);
    static Json write(const GemmSurface& value);
    static Json schema();
};

} // namespace trainyard

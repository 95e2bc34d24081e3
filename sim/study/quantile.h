#pragma once

#include <algorithm>
#include <vector>

namespace trainyard {

// The value below which a share of the values lies: linear between the order statistics, as
// spreadsheets and NumPy do. Requires values, sorted.
inline double quantile(const std::vector<double>& sorted, double share)
{
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

} // namespace trainyard

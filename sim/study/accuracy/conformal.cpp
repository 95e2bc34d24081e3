#include "sim/study/accuracy/conformal.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

std::map<std::string, int> runs_by_group(std::span<const GroupedError> errors)
{
    std::map<std::string, int> out;
    for (const GroupedError& error : errors)
        ++out[error.group];
    return out;
}

} // namespace

int group_count(std::span<const GroupedError> errors)
{
    return static_cast<int>(runs_by_group(errors).size());
}

std::optional<double> new_group_quantile(std::vector<GroupedError> errors, double share)
{
    const std::map<std::string, int> runs = runs_by_group(errors);
    std::ranges::sort(errors, {}, &GroupedError::error);
    // Sums of fractions miss whole numbers by some ulps.
    constexpr double slack = 1e-9;
    const double wanted = share * static_cast<double>(runs.size() + 1) - slack;
    double reached = 0;
    for (const GroupedError& error : errors) {
        reached += 1.0 / runs.at(error.group);
        if (reached >= wanted)
            return error.error;
    }
    return std::nullopt;
}

std::optional<ErrorRange> symmetric_range_of(std::vector<GroupedError> errors, double share)
{
    ErrorRange out{0, 0, group_count(errors), static_cast<int>(errors.size())};
    for (GroupedError& error : errors)
        error.error = std::abs(error.error);
    const std::optional<double> half = new_group_quantile(std::move(errors), share);
    if (!half)
        return std::nullopt;
    out.high = *half;
    out.low = -*half;
    return out;
}

std::optional<ErrorRange> range_of(const std::vector<GroupedError>& errors, double share)
{
    assert(0 < share && share < 1);
    const double tail = (1 + share) / 2;
    std::vector<GroupedError> mirrored = errors;
    for (GroupedError& error : mirrored)
        error.error = -error.error;
    const std::optional<double> high = new_group_quantile(errors, tail);
    const std::optional<double> low = new_group_quantile(std::move(mirrored), tail);
    if (!high || !low)
        return symmetric_range_of(errors, share);
    return ErrorRange{std::min(0.0, -*low), std::max(0.0, *high), group_count(errors),
                      static_cast<int>(errors.size())};
}

} // namespace trainyard

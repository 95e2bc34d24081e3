#include "sim/report/sweep/main_effects.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

// Points whose figure is known, by the numbers of their values.
struct Observed {
    std::vector<std::vector<std::uint32_t>> levels; // by axis
    std::vector<double> values;
};

Observed observed(const SweepGrid& grid, std::span<const std::size_t> indices,
                  std::span<const double> values)
{
    Observed out;
    for (std::size_t axis = 0; axis < grid.axes.size(); ++axis)
        out.levels.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i]))
            continue;
        out.values.push_back(values[i]);
        std::size_t rest = indices[i];
        for (std::size_t axis = grid.axes.size(); axis-- > 0;) {
            const std::size_t count = grid.axes[axis].values.size();
            out.levels[axis].push_back(static_cast<std::uint32_t>(rest % count));
            rest /= count;
        }
    }
    return out;
}

// Mean of `values` at each of the levels; NaN at those without any.
MainEffect means_of(std::size_t count, std::span<const std::uint32_t> levels,
                    std::span<const double> values)
{
    MainEffect out;
    out.means.assign(count, 0);
    out.counts.assign(count, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
        out.means[levels[i]] += values[i];
        ++out.counts[levels[i]];
    }
    for (std::size_t level = 0; level < count; ++level)
        out.means[level] = out.counts[level] > 0
                               ? out.means[level] / static_cast<double>(out.counts[level])
                               : std::numeric_limits<double>::quiet_NaN();
    return out;
}

double sum_of_squares(std::span<const double> values)
{
    double sum = 0;
    for (const double value : values)
        sum += value * value;
    return sum;
}

// What is left of the values once each field's term is taken out (Gauss-Seidel on the normal
// equations, "backfitting").
double left_of(const SweepGrid& grid, const Observed& of, std::vector<double> residual)
{
    constexpr int most_rounds = 60;
    constexpr double close = 1e-10; // of what was left a round before
    double left = sum_of_squares(residual);
    for (int round = 0; round < most_rounds; ++round) {
        for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
            const MainEffect term =
                means_of(grid.axes[axis].values.size(), of.levels[axis], residual);
            for (std::size_t i = 0; i < residual.size(); ++i)
                residual[i] -= term.means[of.levels[axis][i]];
        }
        const double now = sum_of_squares(residual);
        if (left - now <= close * left)
            return now;
        left = now;
    }
    return left;
}

} // namespace

MainEffects main_effects(const SweepGrid& grid, std::span<const std::size_t> indices,
                         std::span<const double> values)
{
    const Observed of = observed(grid, indices, values);
    MainEffects out;
    out.points = of.values.size();
    out.whole = out.points == grid.points();
    std::size_t beyond_first = 0;
    for (const SweepAxis& axis : grid.axes)
        beyond_first += axis.values.size() - 1;
    out.few = out.points < 2 || (!out.whole && out.points < least_per_value * beyond_first);
    if (out.points == 0) {
        for (const SweepAxis& axis : grid.axes)
            out.effects.push_back(means_of(axis.values.size(), {}, {}));
        return out;
    }
    const auto count = static_cast<double>(out.points);
    for (const double value : of.values)
        out.mean += value / count;
    std::vector<double> centred = of.values;
    for (double& value : centred)
        value -= out.mean;
    const double all = sum_of_squares(centred);
    out.deviation = std::sqrt(all / count);
    for (std::size_t axis = 0; axis < grid.axes.size(); ++axis) {
        MainEffect effect = means_of(grid.axes[axis].values.size(), of.levels[axis], of.values);
        double between = 0;
        for (std::size_t level = 0; level < effect.means.size(); ++level)
            if (effect.counts[level] > 0)
                between += static_cast<double>(effect.counts[level]) *
                           std::pow(effect.means[level] - out.mean, 2);
        // Figures that are all alike differ by rounding alone.
        const bool alike = out.deviation <= 1e-12 * std::abs(out.mean);
        effect.share = alike || all <= 0 ? 0 : std::clamp(between / all, 0.0, 1.0);
        out.effects.push_back(std::move(effect));
    }
    if (all > 0)
        out.added = std::clamp(1 - left_of(grid, of, std::move(centred)) / all, 0.0, 1.0);
    return out;
}

} // namespace trainyard

#include "calibrate/measure/statistics/drift.h"

#include "calibrate/fit/order_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace trainyard {
namespace {

constexpr double significant = 3.29; // deviations of a normal distribution, 0.1 % two-sided
constexpr double most_correlated = 0.95;

struct Ranks {
    std::vector<double> of; // 1 to n; equal values share their mean rank
    double ties = 0;        // sum of t^3 - t over groups of t equal values
};

Ranks ranks_of(std::span<const double> values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    Ranks out{std::vector<double>(values.size()), 0};
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin + 1;
        while (end < order.size() && values[order[end]] == values[order[begin]])
            ++end;
        const double equal = static_cast<double>(end - begin);
        for (std::size_t i = begin; i < end; ++i)
            out.of[order[i]] = static_cast<double>(begin + end + 1) / 2;
        out.ties += equal * equal * equal - equal;
        begin = end;
    }
    return out;
}

double mean(std::span<const double> values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> without_step(std::span<const double> values, std::size_t half)
{
    std::vector<double> out(values.begin(), values.end());
    const double before = mean(values.first(half));
    const double after = mean(values.subspan(half));
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] -= i < half ? before : after;
    return out;
}

std::vector<double> without_slope(std::span<const double> values)
{
    const double level = mean(values);
    const double middle = static_cast<double>(values.size() - 1) / 2;
    double product = 0;
    double square = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double place = static_cast<double>(i) - middle;
        product += place * (values[i] - level);
        square += place * place;
    }
    std::vector<double> out(values.begin(), values.end());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] -= level + product / square * (static_cast<double>(i) - middle);
    return out;
}

// Correlation of neighbours of a series whose mean is 0. Two levels or a slope have been taken off
// it, which makes the plain figure too low by about (2 + 4 r) / n.
double neighbours_correlation(const std::vector<double>& values)
{
    double product = 0;
    double square = values.front() * values.front();
    for (std::size_t i = 1; i < values.size(); ++i) {
        product += values[i - 1] * values[i];
        square += values[i] * values[i];
    }
    if (square == 0)
        return 0;
    const double n = static_cast<double>(values.size());
    const double plain = product / square;
    return std::clamp(plain + (2 + 4 * plain) / n, 0.0, most_correlated);
}

// How many deviations the ranks of the last half are from what chance gives.
double deviations(std::span<const double> values)
{
    const Ranks ranks = ranks_of(values);
    const std::size_t half = values.size() / 2;
    const double h = static_cast<double>(half);
    const double n = static_cast<double>(values.size());
    const double variance = h * h / 12 * ((n + 1) - ranks.ties / (n * (n - 1)));
    if (variance <= 0)
        return 0;
    const double sum =
        std::accumulate(ranks.of.begin() + static_cast<std::ptrdiff_t>(half), ranks.of.end(), 0.0);
    const double off = std::max(std::abs(sum - h * (n + 1) / 2) - 0.5, 0.0);
    const double r = std::min(neighbours_correlation(without_step(ranks.of, half)),
                              neighbours_correlation(without_slope(ranks.of)));
    return off / std::sqrt(variance * (1 + r) / (1 - r));
}

} // namespace

double drift_of(std::span<const double> times)
{
    const std::size_t half = times.size() / 2;
    if (half < 2)
        return 0;
    std::vector<double> first(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(half));
    std::vector<double> last(times.end() - static_cast<std::ptrdiff_t>(half), times.end());
    std::vector<double> both = first; // of an odd number without the one in the middle
    both.insert(both.end(), last.begin(), last.end());
    const double before = median(std::move(first));
    if (before <= 0 || deviations(both) < significant)
        return 0;
    return median(std::move(last)) / before - 1;
}

} // namespace trainyard

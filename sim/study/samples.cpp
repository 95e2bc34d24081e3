#include "sim/study/samples.h"

#include <algorithm>

namespace trainyard {

Seconds quantile(const Samples& samples, double q)
{
    std::vector<SimTime> ordered = samples.step_times;
    std::ranges::sort(ordered);
    const double place = q * static_cast<double>(ordered.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, ordered.size() - 1);
    const double part = place - static_cast<double>(below);
    const double low = to_seconds(ordered[below]).value();
    return Seconds(low + part * (to_seconds(ordered[above]).value() - low));
}

Seconds mean(const Samples& samples)
{
    double sum = 0;
    for (const SimTime time : samples.step_times)
        sum += to_seconds(time).value();
    return Seconds(sum / static_cast<double>(samples.step_times.size()));
}

std::vector<int> histogram(const Samples& samples, int bins)
{
    std::vector<int> counts(static_cast<std::size_t>(bins));
    const auto [least, most] = std::ranges::minmax(samples.step_times);
    const double width = static_cast<double>((most - least).value());
    for (const SimTime time : samples.step_times) {
        const double place =
            width > 0 ? static_cast<double>((time - least).value()) / width * bins : 0;
        ++counts[std::min(static_cast<std::size_t>(place), counts.size() - 1)];
    }
    return counts;
}

} // namespace trainyard

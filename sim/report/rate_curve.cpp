#include "sim/report/rate_curve.h"

#include <algorithm>

namespace trainyard {

void RateCurve::change(SimTime time, double rate)
{
    if (!times.empty() && times.back() == time) {
        rates.back() = rate;
        return;
    }
    amounts.push_back(amount_until(time));
    times.push_back(time);
    rates.push_back(rate);
}

double RateCurve::rate_at(SimTime time) const
{
    const auto next = std::ranges::upper_bound(times, time);
    return next == times.begin() ? 0.0 : rates[static_cast<std::size_t>(next - times.begin()) - 1];
}

double RateCurve::amount_until(SimTime time) const
{
    const bool last = !times.empty() && times.back() <= time;
    const auto next = last ? times.end() : std::ranges::upper_bound(times, time);
    if (next == times.begin())
        return 0.0;
    const auto i = static_cast<std::size_t>(next - times.begin()) - 1;
    return amounts[i] + rates[i] * to_seconds(time - times[i]).value();
}

std::vector<double> RateCurve::means(SimTime from, SimTime to, std::size_t parts) const
{
    std::vector<double> means(parts);
    SimTime begin = from;
    double before = amount_until(from);
    for (std::size_t part = 0; part < parts; ++part) {
        const double share = static_cast<double>(part + 1) / static_cast<double>(parts);
        const SimTime end =
            from +
            SimTime(static_cast<std::int64_t>(share * static_cast<double>((to - from).value())));
        const double until = amount_until(end);
        if (end > begin)
            means[part] = (until - before) / to_seconds(end - begin).value();
        begin = end;
        before = until;
    }
    return means;
}

RateCurve sum_of(std::span<const WeightedCurve> curves)
{
    struct Change {
        SimTime time;
        double more = 0;
        int running = 0; // curves that begin (1) or end (-1) to have a rate
    };
    std::vector<Change> changes;
    for (const WeightedCurve& one : curves) {
        double rate = 0;
        for (std::size_t i = 0; i < one.curve->times.size(); ++i) {
            const double next = one.curve->rates[i] * one.weight;
            changes.push_back(
                {one.curve->times[i], next - rate, (next != 0 ? 1 : 0) - (rate != 0 ? 1 : 0)});
            rate = next;
        }
    }
    std::ranges::sort(changes, {}, &Change::time);
    RateCurve sum;
    double rate = 0;
    int running = 0;
    for (const Change& change : changes) {
        running += change.running;
        rate = running == 0 ? 0.0 : rate + change.more; // what rounding left over goes
        sum.change(change.time, rate);
    }
    return sum;
}

} // namespace trainyard

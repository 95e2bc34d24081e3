#include "calibrate/fit/clean_sweep.h"

#include "calibrate/fit/order_statistics.h"
#include "sim/base/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace trainyard {
namespace {

constexpr double spike_factor = 1.4;

using Times = std::map<Bytes, std::vector<double>>; // seconds of each row of a size

std::map<Bytes, double> medians(const Times& times)
{
    std::map<Bytes, double> out;
    for (const auto& [size, all] : times)
        out[size] = median(all);
    return out;
}

// Above both neighbours, of which there are two.
bool is_spike(double time, double before, double after)
{
    return time > spike_factor * before && time > spike_factor * after;
}

void remove_spikes(CleanSweep& sweep, const std::map<Bytes, double>& in_place)
{
    const std::vector<TimedSize> original = sweep.points;
    for (std::size_t i = 1; i + 1 < original.size(); ++i) {
        const double before = original[i - 1].time.value();
        const double after = original[i + 1].time.value();
        const auto other = in_place.find(original[i].size);
        if (other == in_place.end() || !is_spike(original[i].time.value(), before, after) ||
            is_spike(other->second, before, after))
            continue;
        const Seconds taken(other->second);
        sweep.points[i].time = taken;
        sweep.replaced.push_back({original[i].size, original[i].time, taken});
        sweep.flags.push_back(fmt::format("spike at {}: {} out of place, {} in place taken",
                                          to_text(original[i].size), to_display(original[i].time),
                                          to_display(taken)));
    }
}

// How far the times fall while the size grows, at worst.
void flag_falls(const std::vector<TimedSize>& points, std::vector<std::string>& flags)
{
    constexpr double noticed = 1.15;
    double highest = 0;
    double worst = 1;
    Bytes where{};
    for (const TimedSize& point : points) {
        highest = std::max(highest, point.time.value());
        if (highest / point.time.value() > worst) {
            worst = highest / point.time.value();
            where = point.size;
        }
    }
    if (worst > noticed)
        flags.push_back(fmt::format("not monotone: {} takes {:.0f} % less than a smaller size",
                                    to_text(where), 100 * (1 - 1 / worst)));
}

void flag_wrong_results(const Sweep& sweep, std::vector<std::string>& flags)
{
    std::int64_t wrong = 0;
    for (const SweepRow& row : sweep.rows)
        for (const auto& timing : {row.out_of_place, row.in_place})
            if (timing)
                wrong += timing->wrong.value_or(0);
    if (wrong > 0)
        flags.push_back(fmt::format("{} wrong results", wrong));
}

} // namespace

CleanSweep clean(const Sweep& sweep, Buffers buffers)
{
    CleanSweep out;
    out.flags = sweep.flags;
    Times out_of_place;
    Times in_place;
    int without = 0;
    for (const SweepRow& row : sweep.rows) {
        bool any = false;
        const auto take = [&](const std::optional<SweepTiming>& timing, Times& to) {
            if (timing && timing->time.value() > 0 && row.size > Bytes(0)) {
                to[row.size].push_back(timing->time.value());
                any = true;
            }
        };
        take(row.out_of_place, out_of_place);
        take(row.in_place, in_place);
        without += any ? 0 : 1;
    }
    if (without > 0)
        out.flags.push_back(fmt::format("{} rows without bytes or time left out", without));
    const bool wants_out = buffers == Buffers::out_of_place;
    const Times& wanted = wants_out ? out_of_place : in_place;
    const Times& chosen = wanted.empty() ? (wants_out ? in_place : out_of_place) : wanted;
    if (wanted.empty() && !chosen.empty())
        out.flags.push_back(wants_out ? "in-place times only" : "out-of-place times only");
    for (const auto& [size, time] : medians(chosen))
        out.points.push_back({size, Seconds(time)});
    if (&chosen == &out_of_place)
        remove_spikes(out, medians(in_place));
    flag_falls(out.points, out.flags);
    flag_wrong_results(sweep, out.flags);
    return out;
}

} // namespace trainyard

#include "calibrate/import/bus_ratio.h"

#include "sim/cost/collective_form.h"

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// The algorithm bandwidth in GB/s, from its own digits and from those of the time.
Range algorithm_rate(Bytes size, const SweepTiming& timing)
{
    const double rate = timing.algorithm_bandwidth.value() / 1e9;
    const double half = rounding(rate, 2);
    const double time = timing.time.value() * 1e6;
    const double time_half = rounding(time, 0);
    const double bytes = static_cast<double>(size.value()) * 1e-3; // over us: GB/s
    Range out{rate - half, rate + half};
    if (time > time_half) {
        // Times are means of ranks printed beside rates of the same mean: a thousandth of slack.
        out.low = std::max(out.low, bytes / (time + time_half) * 0.999);
        out.high = std::min(out.high, bytes / (time - time_half) * 1.001);
    }
    return out;
}

std::optional<Range> ratio_of(Bytes size, const SweepTiming& timing)
{
    if (timing.algorithm_bandwidth.value() < 0.2e9 || !rate_agrees(size, timing))
        return std::nullopt;
    const double bus = timing.bus_bandwidth.value() / 1e9;
    const double half = rounding(bus, 2);
    Range rate = algorithm_rate(size, timing);
    if (!(rate.low > 0) || rate.low > rate.high)
        return std::nullopt;
    return Range{(bus - half) / rate.high, (bus + half) / rate.low};
}

} // namespace

double rounding(double printed, int decimals)
{
    double unit = std::pow(10.0, -decimals);
    for (int more = decimals; more < 6; ++more) {
        const double scaled = printed / unit;
        if (std::abs(scaled - std::round(scaled)) < 1e-4)
            break;
        unit /= 10;
    }
    return unit / 2;
}

bool rate_agrees(Bytes size, const SweepTiming& timing)
{
    const double rate = timing.algorithm_bandwidth.value() / 1e9;
    const double time = timing.time.value() * 1e6;
    const double bytes = static_cast<double>(size.value()) * 1e-3;
    const double time_half = rounding(time, 0);
    const double rate_half = rounding(rate, 2);
    if (!(time > 0))
        return size.value() == 0;
    const double low = bytes / (time + time_half) * 0.995 - rate_half;
    const double high =
        time > time_half ? bytes / (time - time_half) * 1.005 + rate_half : HUGE_VAL;
    return rate >= low - 1e-9 && rate <= high + 1e-9;
}

BusRatio bus_ratio(const std::vector<SweepRow>& rows)
{
    BusRatio out{{0, HUGE_VAL}, 0, false};
    for (const SweepRow& row : rows)
        for (const auto& timing : {row.out_of_place, row.in_place}) {
            const auto range = timing ? ratio_of(row.size, *timing) : std::nullopt;
            if (!range)
                continue;
            out.range.low = std::max(out.range.low, range->low);
            out.range.high = std::min(out.range.high, range->high);
            ++out.rows;
        }
    out.rows_disagree = out.rows > 0 && out.range.low > out.range.high;
    return out;
}

std::optional<std::pair<int, int>> ranks_within(CollectiveKind collective, Range ratio)
{
    const double most = collective == CollectiveKind::all_reduce ? 2 : 1;
    if (bus_factor(collective, 2) == 1 && bus_factor(collective, 4) == 1) {
        const bool fits = ratio.low <= 1 + 1e-9 && ratio.high >= 1 - 1e-9;
        return fits ? std::optional(std::pair(2, most_ranks)) : std::nullopt;
    }
    // most (n - 1) / n = r  <=>  n = most / (most - r)
    const auto ranks = [most](double r) {
        return r >= most ? double{most_ranks} : std::min(most / (most - r), double{most_ranks});
    };
    if (ratio.high <= 0 || ratio.low >= most + 1e-9)
        return std::nullopt;
    const int low = std::max(2, static_cast<int>(std::ceil(ranks(ratio.low) - 1e-6)));
    const int high = static_cast<int>(std::floor(ranks(ratio.high) + 1e-6));
    return low <= high ? std::optional(std::pair(low, high)) : std::nullopt;
}

Share share_of(const std::vector<SweepRow>& rows, int bytes_per_element)
{
    Share out;
    for (const SweepRow& row : rows) {
        if (row.count <= 0 || row.size.value() == 0 || bytes_per_element <= 0)
            continue;
        const double share = static_cast<double>(row.size.value()) /
                             (static_cast<double>(row.count) * bytes_per_element);
        const auto whole = static_cast<std::int64_t>(std::llround(std::min(share, 1e9)));
        if (whole < 1 || static_cast<double>(whole) != share || (out.value && *out.value != whole))
            out.mixed = true;
        else
            out.value = whole;
    }
    return out;
}

} // namespace trainyard

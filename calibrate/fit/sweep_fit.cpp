#include "calibrate/fit/sweep_fit.h"

#include "calibrate/fit/configuration.h"
#include "calibrate/fit/order_statistics.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

SweepFit fit_sweep(const Sweep& sweep, Buffers buffers)
{
    SweepFit out;
    out.source = sweep.source;
    out.collective = sweep.collective;
    out.ranks = sweep.ranks;
    out.nodes = sweep.nodes;
    CleanSweep cleaned = clean(sweep, buffers);
    out.points = std::move(cleaned.points);
    out.flags = std::move(cleaned.flags);
    if (out.points.empty()) {
        out.flags.push_back("no usable rows");
        return out;
    }
    if (out.points.size() < enough_points)
        out.flags.push_back(
            fmt::format("{} size{} only", out.points.size(), out.points.size() == 1 ? "" : "s"));
    out.curve = fit_curve(out.points);
    out.lines = fit_lines(out.points);
    out.in_sample = in_sample_errors(out.curve, out.points);
    out.left_out = leave_one_out(out.points);
    out.leave_one_out = tally(out.left_out);
    for (const TimedSize& point : out.points)
        out.compact.add(point.size, time_at(out.lines, point.size) / point.time - 1);
    return out;
}

FitSummary summarise(std::span<const SweepFit> fits)
{
    FitSummary out;
    std::vector<double> in_sample;
    std::vector<double> left_out;
    std::vector<double> compact;
    for (const SweepFit& fit : fits) {
        ++out.sweeps;
        if (fit.points.size() < enough_points)
            continue;
        in_sample.push_back(fit.in_sample.mean());
        left_out.push_back(fit.leave_one_out.mean());
        compact.push_back(fit.compact.mean());
        out.by_collective[fit.collective].add(fit.leave_one_out);
        out.all.add(fit.leave_one_out);
    }
    out.scored = left_out.size();
    if (left_out.empty())
        return out;
    out.in_sample_median = median(in_sample);
    out.loo_median = median(left_out);
    out.loo_p90 = percentile(left_out, 0.9);
    out.compact_median = median(compact);
    return out;
}

ErrorTally held_out_launch_errors(const std::vector<std::vector<TimedSize>>& launches)
{
    ErrorTally out;
    if (launches.size() < 2)
        return out;
    for (std::size_t i = 0; i < launches.size(); ++i) {
        std::vector<std::vector<TimedSize>> rest = launches;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        std::vector<TimedSize> others;
        for (const MergedSize& size : merged(rest))
            others.push_back(size.point);
        out.add(held_out_errors(launches[i], others));
    }
    return out;
}

ErrorTally held_out_launch_errors(std::span<const Sweep> sweeps)
{
    ErrorTally out;
    for (const Launches& group : by_configuration(sweeps)) {
        std::vector<std::vector<TimedSize>> launches;
        for (const Sweep* sweep : group.sweeps)
            launches.push_back(clean(*sweep).points);
        out.add(held_out_launch_errors(launches));
    }
    return out;
}

} // namespace trainyard

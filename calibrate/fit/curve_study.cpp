#include "calibrate/fit/curve_study.h"

#include "calibrate/fit/curve.h"

#include <algorithm>

namespace trainyard {
namespace {

// The launches' own sweeps, of which `launches` points to copies.
struct OwnLaunches {
    std::vector<Sweep> sweeps;
    Launches launches;
};

OwnLaunches kept_of(const Launches& launches, const Exclusions& excluded)
{
    OwnLaunches out;
    for (const Sweep* sweep : launches.sweeps)
        out.sweeps.push_back(*sweep);
    out.sweeps = without(out.sweeps, excluded);
    out.launches.configuration = launches.configuration;
    for (const Sweep& sweep : out.sweeps)
        out.launches.sweeps.push_back(&sweep);
    return out;
}

bool has(const Sweep& sweep, Buffers buffers)
{
    return std::any_of(sweep.rows.begin(), sweep.rows.end(), [&](const SweepRow& row) {
        return (buffers == Buffers::in_place ? row.in_place : row.out_of_place).has_value();
    });
}

std::vector<MergedSize> sizes_of(const Launches& launches, Buffers buffers)
{
    std::vector<std::vector<TimedSize>> points;
    for (const Sweep* sweep : launches.sweeps)
        if (has(*sweep, buffers))
            points.push_back(clean(*sweep, buffers).points);
    return merged(points);
}

void add_flag(std::vector<std::string>& flags, const std::string& flag)
{
    if (std::find(flags.begin(), flags.end(), flag) == flags.end())
        flags.push_back(flag);
}

// Flags, and what cleaning replaced, of the launches that are fitted.
void add_doubts(const Launches& launches, CurveStudy& out)
{
    for (const Sweep* sweep : launches.sweeps) {
        if (!has(*sweep, out.buffers))
            continue;
        const CleanSweep cleaned = clean(*sweep, out.buffers);
        for (const std::string& flag : cleaned.flags)
            add_flag(out.flags, launches.sweeps.size() > 1 ? sweep->source + ": " + flag : flag);
        for (const ReplacedSize& one : cleaned.replaced)
            out.replaced.push_back({sweep->source, one.size, one.measured, one.taken});
    }
}

StudiedSize studied(const MergedSize& size)
{
    StudiedSize out;
    out.size = size.point.size;
    out.time = size.point.time;
    out.low = size.low;
    out.high = size.high;
    out.launches = size.launches;
    return out;
}

// Fitted times and errors of every size; `kept` are the points of the curve.
void judge(CurveStudy& study, std::span<const TimedSize> kept)
{
    const KnotCurve& curve = study.table.samples;
    if (curve.empty())
        return;
    const std::vector<Residual> residuals = leave_one_out(kept);
    study.left_out = tally(residuals);
    for (StudiedSize& size : study.sizes) {
        size.fitted = time_at(curve, size.size);
        const auto residual =
            std::find_if(residuals.begin(), residuals.end(),
                         [&](const Residual& one) { return one.size == size.size; });
        if (size.excluded)
            size.left_out = *size.fitted / size.time - 1;
        else if (residual != residuals.end())
            size.left_out = residual->error;
    }
}

std::string why_no_curve(const Configuration& what, std::size_t sizes, const MeasuredOn& on)
{
    if (!split_of(what.ranks, what.nodes, on.rack_domain))
        return "the ranks do not divide among the nodes: no curve";
    return sizes == 0 ? "no size is left: no curve" : "one size is left: no curve";
}

} // namespace

std::vector<Sweep> without(std::span<const Sweep> sweeps, const Exclusions& excluded)
{
    std::vector<Sweep> out(sweeps.begin(), sweeps.end());
    if (excluded.empty())
        return out;
    for (Sweep& sweep : out) {
        const Configuration configuration = configuration_of(sweep);
        const auto is_out = [&](Bytes size, Buffers buffers) {
            return excluded.contains({configuration, buffers, size});
        };
        std::erase_if(sweep.rows, [&](SweepRow& row) {
            const bool had_any = row.out_of_place || row.in_place;
            if (is_out(row.size, Buffers::out_of_place))
                row.out_of_place.reset();
            if (is_out(row.size, Buffers::in_place))
                row.in_place.reset();
            return had_any && !row.out_of_place && !row.in_place;
        });
    }
    return out;
}

bool is_timed(const Launches& launches, Buffers buffers)
{
    return std::any_of(launches.sweeps.begin(), launches.sweeps.end(),
                       [&](const Sweep* sweep) { return has(*sweep, buffers); });
}

CurveStudy study_curve(const Launches& launches, Buffers buffers, const Exclusions& excluded,
                       const MeasuredOn& on)
{
    CurveStudy out;
    out.configuration = launches.configuration;
    out.buffers = buffers;
    const OwnLaunches kept = kept_of(launches, excluded);
    std::vector<TimedSize> points;
    for (const MergedSize& size : sizes_of(kept.launches, buffers)) {
        out.sizes.push_back(studied(size));
        points.push_back(size.point);
    }
    for (const MergedSize& size : sizes_of(launches, buffers))
        if (excluded.contains({launches.configuration, buffers, size.point.size})) {
            out.sizes.push_back(studied(size));
            out.sizes.back().excluded = true;
        }
    std::sort(out.sizes.begin(), out.sizes.end(),
              [](const StudiedSize& a, const StudiedSize& b) { return a.size < b.size; });
    add_doubts(kept.launches, out);
    if (std::optional<KnotTable> table = table_of(kept.launches, buffers, on))
        out.table = std::move(*table);
    else
        add_flag(out.flags, why_no_curve(launches.configuration, points.size(), on));
    judge(out, points);
    return out;
}

std::vector<CurveStudy> study_curves(std::span<const Sweep> sweeps, const Exclusions& excluded,
                                     const MeasuredOn& on)
{
    std::vector<CurveStudy> out;
    for (const Launches& launches : by_configuration(sweeps))
        for (const Buffers buffers : {Buffers::out_of_place, Buffers::in_place})
            if (is_timed(launches, buffers))
                out.push_back(study_curve(launches, buffers, excluded, on));
    return out;
}

CurveStudy study_table(const KnotTable& table)
{
    CurveStudy out;
    out.configuration.collective = table.collective;
    out.configuration.backend = table.backend;
    out.configuration.ranks = table.ranks_per_domain * table.domains;
    out.configuration.nodes = table.domains;
    out.configuration.algorithm = table.algorithm;
    out.configuration.protocol = table.protocol;
    out.configuration.data_type = table.data_type;
    out.configuration.nccl_version = table.environment.nccl;
    out.configuration.variables = table.environment.variables;
    out.buffers = table.in_place ? Buffers::in_place : Buffers::out_of_place;
    out.table = table;
    return out;
}

std::optional<double> median_error(const CurveStudy& study)
{
    std::vector<double> errors;
    for (const StudiedSize& size : study.sizes)
        if (size.left_out && !size.excluded)
            errors.push_back(std::abs(*size.left_out));
    return errors.empty() ? std::nullopt : std::optional(median(std::move(errors)));
}

Interval prediction_interval(const CurveStudy& study, Bytes size)
{
    const KnotCurve& curve = study.table.samples;
    if (study.left_out.count() > 0)
        return prediction_interval(curve, study.left_out, size);
    KnotCurve low = curve;
    KnotCurve high = curve;
    for (std::size_t i = 0; i < curve.knots.size(); ++i) {
        low.knots[i].time = curve.knots[i].low;
        high.knots[i].time = curve.knots[i].high;
    }
    return {time_at(low, size).value(), time_at(high, size).value()};
}

} // namespace trainyard

#include "calibrate/fit/measured_tables.h"

#include "calibrate/fit/sweep_fit.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {
namespace {

std::optional<double> if_any(const ErrorTally& tally, SizeBand band)
{
    return tally.count(band) > 0 ? std::optional(tally.mean(band)) : std::nullopt;
}

// Shares in files need no more digits than their meaning.
std::optional<double> rounded(std::optional<double> share)
{
    if (share)
        share = std::round(*share * 1e5) / 1e5;
    return share;
}

using LaunchPoints = std::vector<std::vector<TimedSize>>;

CurveErrors errors_of(const KnotCurve& curve, std::span<const TimedSize> points,
                      const LaunchPoints& launches)
{
    const ErrorTally left_out = leave_one_out_errors(points);
    CurveErrors out;
    out.in_sample = rounded(in_sample_errors(curve, points).mean());
    if (left_out.count() > 0)
        out.leave_one_out = rounded(left_out.mean());
    out.leave_one_out_64k = rounded(if_any(left_out, SizeBand::up_to_64k));
    out.leave_one_out_1m = rounded(if_any(left_out, SizeBand::up_to_1m));
    out.leave_one_out_16m = rounded(if_any(left_out, SizeBand::up_to_16m));
    out.leave_one_out_above = rounded(if_any(left_out, SizeBand::above));
    if (const ErrorTally held_out = held_out_launch_errors(launches); held_out.count() > 0)
        out.held_out_launch = rounded(held_out.mean());
    return out;
}

// The launches' own interval where several have the size, but never narrower than that of noise
// over the square root of their number.
void take_intervals(KnotCurve& curve, const std::vector<MergedSize>& sizes)
{
    for (Knot& knot : curve.knots) {
        const auto size = std::find_if(sizes.begin(), sizes.end(), [&](const MergedSize& merged) {
            return merged.point.size == knot.size;
        });
        if (size == sizes.end() || size->launches < 2)
            continue;
        const double root = std::sqrt(static_cast<double>(size->launches));
        const double noise = (knot.high - knot.time) / knot.time / root;
        knot.low = std::min(size->low, knot.time * (1 - noise));
        knot.high = std::max(size->high, knot.time * (1 + noise));
    }
}

std::string source_text(const Launches& launches)
{
    constexpr std::size_t named = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(named, launches.sweeps.size()); ++i)
        names += (i > 0 ? ", " : "") + launches.sweeps[i]->source;
    if (launches.sweeps.size() > named)
        names += fmt::format(" and {} more", launches.sweeps.size() - named);
    return launches.sweeps.size() == 1
               ? names
               : fmt::format("median of {} sweeps: {}", launches.sweeps.size(), names);
}

// "2.9" before "2.10".
std::vector<int> numbers_of(const std::string& version)
{
    std::vector<int> out;
    bool inside = false;
    constexpr int most = 100'000;
    for (const char letter : version) {
        const bool digit = letter >= '0' && letter <= '9';
        if (digit && !inside)
            out.push_back(0);
        if (digit && out.back() < most)
            out.back() = 10 * out.back() + (letter - '0');
        inside = digit;
    }
    return out;
}

bool is_integer_type(const std::string& type)
{
    return type.starts_with("int") || type.starts_with("uint");
}

// The usable times of each launch; none where it has no such buffers.
LaunchPoints points_of(const Launches& launches, Buffers buffers)
{
    LaunchPoints out;
    for (const Sweep* sweep : launches.sweeps) {
        const bool has = std::any_of(sweep->rows.begin(), sweep->rows.end(), [&](const auto& row) {
            return (buffers == Buffers::in_place ? row.in_place : row.out_of_place).has_value();
        });
        out.push_back(has ? clean(*sweep, buffers).points : std::vector<TimedSize>{});
    }
    return out;
}

std::vector<RawSample> samples_of(const LaunchPoints& launches)
{
    std::vector<RawSample> out;
    for (std::size_t i = 0; i < launches.size(); ++i)
        for (const TimedSize& point : launches[i])
            out.push_back({point.size, point.time, static_cast<int>(i)});
    return out;
}

// What was measured over what, without any time.
KnotTable described(const Configuration& what, const DomainSplit& split, Buffers buffers,
                    const MeasuredOn& on)
{
    KnotTable out;
    out.collective = what.collective;
    out.backend = what.backend;
    out.ranks_per_domain = split.ranks_per_domain;
    out.domains = split.domains;
    out.nvlink = on.nvlink;
    if (split.domains > 1) {
        out.network = on.network;
        out.nics_per_domain = on.nics_per_domain;
        out.nic_rate = on.nic_rate;
    }
    out.algorithm = what.algorithm;
    out.protocol = what.protocol;
    out.in_place = buffers == Buffers::in_place;
    out.data_type = what.data_type;
    out.grade = on.grade;
    out.environment.nccl = what.nccl_version;
    out.environment.variables = what.variables;
    return out;
}

} // namespace

std::optional<DomainSplit> split_of(int ranks, int nodes, int rack_domain)
{
    if (ranks < 1 || nodes < 1 || ranks % nodes != 0)
        return std::nullopt;
    const int inside = rack_domain > 0 ? std::min(ranks, rack_domain) : ranks / nodes;
    if (ranks % inside != 0)
        return std::nullopt;
    return DomainSplit{inside, ranks / inside};
}

std::optional<KnotTable> table_of(const Launches& launches, Buffers buffers, const MeasuredOn& on)
{
    const Configuration& what = launches.configuration;
    const auto split = split_of(what.ranks, what.nodes, on.rack_domain);
    if (!split)
        return std::nullopt;
    const LaunchPoints points = points_of(launches, buffers);
    const std::vector<MergedSize> sizes = merged(points);
    if (sizes.size() < 2)
        return std::nullopt;
    std::vector<TimedSize> medians;
    for (const MergedSize& size : sizes)
        medians.push_back(size.point);
    KnotTable out = described(what, *split, buffers, on);
    out.raw.samples = samples_of(points);
    out.source = source_text(launches);
    out.launches = static_cast<int>(launches.sweeps.size());
    out.samples = fit_curve(medians);
    take_intervals(out.samples, sizes);
    out.lines = fit_lines(medians);
    out.errors = errors_of(out.samples, medians, points);
    return out;
}

std::vector<KnotTable> tables_of(std::span<const Sweep> sweeps, const MeasuredOn& on)
{
    std::vector<KnotTable> out;
    for (const Launches& launches : by_configuration(sweeps))
        for (const Buffers buffers : {Buffers::out_of_place, Buffers::in_place})
            if (auto table = table_of(launches, buffers, on))
                out.push_back(std::move(*table));
    std::stable_sort(out.begin(), out.end(), [](const KnotTable& a, const KnotTable& b) {
        const auto rank = [](const KnotTable& table) {
            return std::tuple(table.in_place, is_integer_type(table.data_type));
        };
        if (rank(a) != rank(b))
            return rank(a) < rank(b);
        const auto newer = numbers_of(a.environment.nccl);
        const auto other = numbers_of(b.environment.nccl);
        return newer != other ? newer > other : a.launches > b.launches;
    });
    return out;
}

std::vector<Sweep> sweeps_of(const KnotTable& table)
{
    std::map<int, Sweep> launches;
    for (const RawSample& sample : table.raw.samples) {
        Sweep& sweep = launches[sample.launch];
        SweepRow row;
        row.size = sample.size;
        SweepTiming timing{};
        timing.time = sample.time;
        (table.in_place ? row.in_place : row.out_of_place) = timing;
        sweep.rows.push_back(row);
    }
    std::vector<Sweep> out;
    for (auto& [number, sweep] : launches) {
        sweep.source = launches.size() == 1
                           ? table.source
                           : fmt::format("launch {} of {}", number + 1, table.source);
        if (table.in_place)
            sweep.source += ", in place";
        sweep.collective = table.collective;
        sweep.backend = table.backend;
        sweep.ranks = table.ranks_per_domain * table.domains;
        sweep.nodes = table.domains;
        sweep.data_type = table.data_type;
        sweep.algorithm = table.algorithm;
        sweep.protocol = table.protocol;
        sweep.nccl_version = table.environment.nccl;
        sweep.variables = table.environment.variables;
        out.push_back(std::move(sweep));
    }
    return out;
}

} // namespace trainyard

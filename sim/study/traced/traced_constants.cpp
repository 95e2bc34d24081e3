#include "sim/study/traced/traced_constants.h"

#include "sim/study/traced/expected_rates.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

constexpr double reach_of_ninety = 1.645; // standard deviations

bool of_known_beginning(const TransferRow& row)
{
    return row.source == MovingFrom::stated || row.source == MovingFrom::arrivals;
}

bool tells_a_knot(const TransferRow& row)
{
    constexpr std::size_t enough = 3;
    return row.kind && row.kind != CollectiveKind::send_receive &&
           row.kind != CollectiveKind::barrier && row.bytes > 0 && row.ranks > 1 &&
           row.recorded >= enough && of_known_beginning(row) && row.moving.value() > 0;
}

// Sizes of one collective over one shape.
struct RecordedCurve {
    CollectiveKind kind = CollectiveKind::all_reduce;
    GroupShape shape;
    std::vector<Knot> knots; // by size
    std::vector<double> weights;
};

void add_knot(RecordedCurve& curve, const TransferRow& row)
{
    const Knot knot{Bytes(row.bytes), row.moving, row.quickest, row.slow};
    const auto weight = static_cast<double>(row.recorded);
    const auto at = std::lower_bound(curve.knots.begin(), curve.knots.end(), knot.size,
                                     [](const Knot& k, Bytes size) { return k.size < size; });
    const auto place = at - curve.knots.begin();
    if (at == curve.knots.end() || at->size != knot.size) {
        curve.knots.insert(at, knot);
        curve.weights.insert(curve.weights.begin() + place, weight);
        return;
    }
    double& sum = curve.weights[static_cast<std::size_t>(place)]; // of two purposes
    at->time = (1 / (sum + weight)) * (sum * at->time + weight * knot.time);
    at->low = std::min(at->low, knot.low);
    at->high = std::max(at->high, knot.high);
    sum += weight;
}

std::vector<RecordedCurve> recorded_curves(const RunSummary& run, const Topology& topology)
{
    std::vector<RecordedCurve> out;
    for (const TransferRow& row : run.transfers) {
        const std::optional<GroupShape> shape =
            tells_a_knot(row) ? shape_of(run, row, topology) : std::nullopt;
        if (!shape)
            continue;
        auto at = std::find_if(out.begin(), out.end(), [&](const RecordedCurve& curve) {
            return curve.kind == *row.kind && curve.shape == *shape;
        });
        if (at == out.end())
            at = out.insert(out.end(), {*row.kind, *shape, {}, {}});
        add_knot(*at, row);
    }
    return out;
}

// Sizes that lie far enough apart for a curve through them to go beyond them.
bool tells_a_curve(const RecordedCurve& curve)
{
    constexpr std::size_t least_sizes = 3;
    constexpr std::uint64_t least_reach = 8;
    return curve.knots.size() >= least_sizes &&
           curve.knots.back().size.value() >= least_reach * curve.knots.front().size.value();
}

// Neighbours that fall become their mean.
void make_monotone(RecordedCurve& curve)
{
    for (std::size_t i = 1; i < curve.knots.size(); ++i)
        for (std::size_t j = i; j > 0 && curve.knots[j].time < curve.knots[j - 1].time; --j) {
            const double a = curve.weights[j - 1];
            const double b = curve.weights[j];
            const Seconds mean =
                (1 / (a + b)) * (a * curve.knots[j - 1].time + b * curve.knots[j].time);
            curve.knots[j - 1].time = curve.knots[j].time = mean;
        }
    for (std::size_t i = 1; i < curve.knots.size(); ++i) // rounding
        curve.knots[i].time = std::max(curve.knots[i].time, curve.knots[i - 1].time);
}

Knot times_factor(Knot knot, double factor)
{
    knot.time *= factor;
    knot.low *= factor;
    knot.high *= factor;
    return knot;
}

// Of recorded times to those of `sweep`, at any size: between recorded sizes linear over their
// logarithms, beyond them as at the last.
double bend_at(const RecordedCurve& curve, const KnotCurve& sweep, Bytes size)
{
    const auto ratio = [&](const Knot& knot) { return knot.time / time_at(sweep, knot.size); };
    const auto above = std::lower_bound(curve.knots.begin(), curve.knots.end(), size,
                                        [](const Knot& knot, Bytes at) { return knot.size < at; });
    if (above == curve.knots.end())
        return ratio(curve.knots.back());
    if (above == curve.knots.begin())
        return ratio(*above);
    const Knot& below = *(above - 1);
    const auto log_of = [](Bytes bytes) {
        return std::log(static_cast<double>(std::max<std::uint64_t>(bytes.value(), 1)));
    };
    const double share =
        (log_of(size) - log_of(below.size)) / (log_of(above->size) - log_of(below.size));
    return (1 - share) * ratio(below) + share * ratio(*above);
}

// The sweep with the recorded sizes in it and the others moved along.
KnotCurve bent(const RecordedCurve& curve, const KnotCurve& sweep)
{
    KnotCurve out{curve.knots};
    for (const Knot& knot : sweep.knots)
        if (std::none_of(curve.knots.begin(), curve.knots.end(),
                         [&](const Knot& recorded) { return recorded.size == knot.size; }))
            out.knots.push_back(times_factor(knot, bend_at(curve, sweep, knot.size)));
    std::sort(out.knots.begin(), out.knots.end(),
              [](const Knot& a, const Knot& b) { return a.size < b.size; });
    for (std::size_t i = 1; i < out.knots.size(); ++i)
        out.knots[i].time = std::max(out.knots[i].time, out.knots[i - 1].time);
    return out;
}

class ConstantsWriter {
public:
    ConstantsWriter(const Profile& profile, const RunSummary& run, const Topology& topology,
                    const std::string& source)
        : run_(run),
          topology_(topology),
          source_(source),
          backend_(backend_of(run)),
          out_{profile, {}, {}, {}}
    {}

    void add_curves()
    {
        for (RecordedCurve& curve : recorded_curves(run_, topology_)) {
            make_monotone(curve);
            add(curve);
        }
    }

    void add_losses(const BesideTransfers& beside)
    {
        if (!beside.moving)
            return;
        // The other form's terms are SMs and links of devices.
        if (backend_ != Backend::nccl || out_.profile.hardware.interference.of(backend_).measured())
        {
            add_measured_losses(beside);
            return;
        }
        const Means means = means_of_transfers();
        if (means.traffic > 0)
            set("software.overlap_slowdown", out_.profile.software.overlap_slowdown / means.traffic,
                *beside.moving, means.held);
    }

    TracedConstants take() && { return std::move(out_); }

private:
    // Shares of compute lost, over the time in which recorded transfers move data.
    struct Means {
        double held = 0;    // by their kernels
        double traffic = 0; // besides
    };

    void add(const RecordedCurve& curve)
    {
        const CostModel before(out_.profile);
        const KnotTable* const other = before.knots_for(curve.kind, curve.shape, backend_);
        if (other == nullptr && !tells_a_curve(curve))
            return; // a rate is all that it tells, which is fitted apart
        KnotTable table;
        table.collective = curve.kind;
        table.backend = backend_;
        table.ranks_per_domain = curve.shape.ranks_per_domain;
        table.domains = curve.shape.domains;
        table.nvlink = curve.shape.ranks_per_domain > 1 ? curve.shape.nvlink : Bandwidth();
        if (curve.shape.domains > 1) {
            table.nics_per_domain = curve.shape.network.nics * curve.shape.nodes_per_domain;
            table.nic_rate = curve.shape.network.nic_rate;
            table.network = out_.profile.hardware.network.name;
        }
        table.source = source_;
        if (other != nullptr)
            table.source =
                fmt::format("{}, between and beyond its sizes after {}", source_, other->source);
        table.samples =
            other != nullptr ? bent(curve, in_step(*other, curve)) : KnotCurve{curve.knots};
        Profile with = out_.profile;
        with.hardware.knots.insert(with.hardware.knots.begin(), table);
        // A step's collectives take longer than a sweep's, which is a constant of its own.
        const double slowed = slowdown_in_steps(with, curve);
        if (!(slowed > 0))
            return; // the shape is not one that sweeps are of
        for (Knot& knot : with.hardware.knots.front().samples.knots)
            knot = times_factor(knot, 1 / slowed);
        out_.profile = std::move(with);
        out_.curves.push_back({curve.kind, curve.shape.ranks, curve.shape.domains,
                               curve.knots.size(), other != nullptr});
    }

    // The sweep as its collectives take in a step.
    KnotCurve in_step(const KnotTable& sweep, const RecordedCurve& curve) const
    {
        const double slowed = slowdown_in_steps(out_.profile, curve);
        KnotCurve out = sweep.samples;
        for (Knot& knot : out.knots)
            knot = times_factor(knot, slowed > 0 ? slowed : 1);
        return out;
    }

    // Time in a step over that of the sweep, by which it is timed; 0: it is not timed by one.
    double slowdown_in_steps(const Profile& profile, const RecordedCurve& curve) const
    {
        const CostModel cost(profile);
        const KnotTable* const table = cost.knots_for(curve.kind, curve.shape, backend_);
        if (table == nullptr)
            return 0;
        const Bytes size = table->samples.knots.back().size;
        return cost.collective(curve.kind, size, curve.shape, backend_).total /
               time_at(table->samples, size);
    }

    Means means_of_transfers() const
    {
        const CostModel cost(out_.profile);
        Means out;
        double all = 0;
        for (const TransferRow& row : run_.transfers) {
            const std::optional<GroupShape> shape =
                tells_a_knot(row) ? shape_of(run_, row, topology_) : std::nullopt;
            if (!shape)
                continue;
            const TransferTime time =
                cost.collective(*row.kind, Bytes(row.bytes), *shape, backend_);
            const double weight = row.count * row.moving.value();
            all += weight;
            out.held += weight * time.sm_share;
            out.traffic += weight * time.traffic_share;
        }
        if (all > 0) {
            out.held /= all;
            out.traffic /= all;
        }
        return out;
    }

    void add_measured_losses(const BesideTransfers& beside)
    {
        const BackendInterference& known = out_.profile.hardware.interference.of(backend_);
        set(fmt::format("hardware.interference.{}.compute_moving", to_name(backend_)),
            1 / known.transfer_slowdown.value_or(1), *beside.moving,
            known.compute_waiting.value_or(0));
    }

    double constant(const std::string& path) const
    {
        const Hardware& hardware = out_.profile.hardware;
        if (path == "software.overlap_slowdown")
            return out_.profile.software.overlap_slowdown;
        return hardware.interference.of(backend_).compute_moving.value_or(0);
    }

    // The constant that a share of compute lost asks for, `per_share` of it each, without what
    // `else_lost` explains.
    void set(const std::string& path, double per_share, const LostShare& lost, double else_lost)
    {
        const auto of = [&](double share) { return per_share * std::max(share - else_lost, 0.0); };
        const double reach = reach_of_ninety * lost.spread;
        const TracedLoss told{path,
                              constant(path),
                              of(lost.value),
                              of(lost.value - reach),
                              of(lost.value + reach),
                              lost.kernels};
        Checked<Profile> with =
            with_override(out_.profile, path,
                          Json::Object{{"value", told.after},
                                       {"low", told.low},
                                       {"high", told.high},
                                       {"grade", "measured"},
                                       {"source", fmt::format("{}, {} kernels beside transfers",
                                                              source_, lost.kernels)}});
        if (!with) {
            out_.left_out.push_back(fmt::format("{}: {:.3g} would be needed by {} kernels beside "
                                                "transfers, which is no value of it",
                                                path, told.after, lost.kernels));
            return;
        }
        out_.profile = std::move(*with);
        out_.losses.push_back(told);
    }

    const RunSummary& run_;
    const Topology& topology_;
    const std::string& source_;
    Backend backend_;
    TracedConstants out_;
};

} // namespace

TracedConstants traced_constants(const Profile& profile, const RunSummary& run,
                                 const BesideTransfers& beside, const Topology& topology,
                                 const std::string& source)
{
    ConstantsWriter writer(profile, run, topology, source);
    writer.add_curves();
    writer.add_losses(beside);
    return std::move(writer).take();
}

} // namespace trainyard

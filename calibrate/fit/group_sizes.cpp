#include "calibrate/fit/group_sizes.h"

#include "calibrate/fit/size_band.h"
#include "sim/cost/collective_form.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace trainyard {
namespace {

// Time at a size that need not be whole; beyond the last knot in proportion to the size, since a
// ratio of two prolonged curves is wanted, not their differences.
double log_time(const KnotCurve& curve, double size)
{
    const Knot& last = curve.knots.back();
    const double end = static_cast<double>(last.size.value());
    if (size > end)
        return std::log(last.time.value() * size / end);
    return std::log(time_at(curve, Bytes(static_cast<std::uint64_t>(size))).value());
}

void set_interval(Knot& knot, double share)
{
    knot.low = knot.time / (1 + share);
    knot.high = knot.time * (1 + share);
}

// Times that do not fall: each at least the one before it.
void make_monotone(KnotCurve& curve)
{
    for (std::size_t i = 1; i < curve.knots.size(); ++i)
        curve.knots[i].time = std::max(curve.knots[i].time, curve.knots[i - 1].time);
}

class BetweenRanks {
public:
    BetweenRanks(CollectiveKind kind, const RankedCurve& a, const RankedCurve& b, int ranks)
        : a_(a),
          b_(b),
          ranks_(ranks),
          by_log_(std::log2(1.0 * ranks / a.ranks) / std::log2(1.0 * b.ranks / a.ranks)),
          by_factor_(by_log_)
    {
        const double begin = bus_factor(kind, a.ranks);
        const double end = bus_factor(kind, b.ranks);
        if (begin != end) // broadcasts move the same bytes among any number of ranks
            by_factor_ = (bus_factor(kind, ranks) - begin) / (end - begin);
    }

    double log_time_at(double size) const { return 0.5 * (same_share(size) + same_buffer(size)); }

private:
    double same_share(double size) const
    {
        const double share = size / ranks_;
        return mix(log_time(*a_.curve, share * a_.ranks), log_time(*b_.curve, share * b_.ranks),
                   by_log_);
    }

    double same_buffer(double size) const
    {
        const double begin = log_time(*a_.curve, size);
        const double alpha = a_.curve->knots.front().time.value();
        const double latency = std::min(1.0, alpha / std::exp(begin)); // its share of the time
        return mix(begin, log_time(*b_.curve, size),
                   latency * by_log_ + (1 - latency) * by_factor_);
    }

    static double mix(double a, double b, double weight) { return a + weight * (b - a); }

    RankedCurve a_;
    RankedCurve b_;
    double ranks_;
    double by_log_;
    double by_factor_;
};

} // namespace

CurveEstimate estimate_ranks(CollectiveKind kind, const RankedCurve& a, const RankedCurve& b,
                             int ranks)
{
    constexpr double between_error = 0.12;
    constexpr double error_per_doubling = 0.20;
    const int least = std::min(a.ranks, b.ranks);
    const int most = std::max(a.ranks, b.ranks);
    const int nearest = ranks > most ? most : least;
    CurveEstimate out;
    if (ranks > most || ranks < least) {
        out.distance = std::abs(std::log2(1.0 * ranks / nearest));
        out.basis = fmt::format("{:.3g} doublings {} {} ranks, by {} and {}", out.distance,
                                ranks > most ? "beyond" : "below", nearest, least, most);
    } else {
        out.basis = fmt::format("between {} and {} ranks", least, most);
    }
    const double error =
        out.distance > 0 ? error_per_doubling * std::max(1.0, out.distance) : between_error;
    const BetweenRanks between(kind, a, b, ranks);
    const RankedCurve& larger = a.ranks > b.ranks ? a : b;
    for (const Knot& knot : larger.curve->knots)
        out.curve.knots.push_back(
            {knot.size,
             Seconds(std::exp(between.log_time_at(static_cast<double>(knot.size.value())))),
             {},
             {}});
    make_monotone(out.curve);
    for (Knot& knot : out.curve.knots)
        set_interval(knot, error);
    return out;
}

CurveEstimate estimate_domains(CollectiveKind kind, const KnotCurve& curve,
                               const GroupShape& measured, const GroupShape& shape,
                               const CollectiveClasses& classes)
{
    const std::vector<TimeLine> from = time_lines(kind, measured, classes);
    const std::vector<TimeLine> to = time_lines(kind, shape, classes);
    CurveEstimate out;
    out.distance = std::abs(std::log2(1.0 * shape.domains / measured.domains));
    out.basis = fmt::format("{:.3g} doublings of domains from {} to {}", out.distance,
                            measured.domains, shape.domains);
    for (const Knot& knot : curve.knots) {
        const double ratio =
            lowest(to, knot.size).at(knot.size) / lowest(from, knot.size).at(knot.size);
        out.curve.knots.push_back({knot.size, knot.time * ratio, {}, {}});
    }
    make_monotone(out.curve);
    const double growth = std::sqrt(std::max(1.0, out.distance));
    for (Knot& knot : out.curve.knots)
        set_interval(knot, (band_of(knot.size) == SizeBand::above ? 0.2 : 0.5) * growth);
    return out;
}

} // namespace trainyard

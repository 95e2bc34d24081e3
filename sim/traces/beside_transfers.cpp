#include "sim/traces/beside_transfers.h"

#include "sim/traces/trace_steps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace trainyard {
namespace {

constexpr std::size_t enough_kernels = 20;

// A kernel and what runs beside it, in s.
struct AccompaniedKernel {
    double length = 0;
    double waiting = 0;
    double moving = 0;
    DeviceWork work = DeviceWork::other;
};

// Stretches of a rank's time in which transfers are there; none overlaps another.
class TransferStretches {
public:
    TransferStretches(const RankActivity& rank, const std::vector<TransferMoving>& times)
    {
        for (const TraceOp& op : rank.ops)
            if (op.transfer != TraceOp::no_transfer) {
                const TransferMoving& time = times[op.transfer];
                const bool known =
                    time.source == MovingFrom::stated || time.source == MovingFrom::arrivals;
                add({op.span.start, time.moving_from}, known ? waiting_ : unknown_);
                add({time.moving_from, op.span.end}, known ? moving_ : unknown_);
            }
        for (std::vector<TraceSpan>* spans : {&waiting_, &moving_, &unknown_})
            join(*spans);
    }

    // Nothing where a transfer of unknown beginning runs beside it.
    std::optional<AccompaniedKernel> beside(const TraceOp& op) const
    {
        if (overlap(unknown_, op.span) > TraceTime())
            return std::nullopt;
        const TraceTime moving = overlap(moving_, op.span);
        // Where another moves, waiting ones count no more.
        const TraceTime waiting = std::min(overlap(waiting_, op.span), op.span.length() - moving);
        return AccompaniedKernel{to_seconds(op.span.length()).value(), to_seconds(waiting).value(),
                                 to_seconds(moving).value(), op.work};
    }

private:
    static void add(const TraceSpan& span, std::vector<TraceSpan>& to)
    {
        if (span.end > span.start)
            to.push_back(span);
    }

    static void join(std::vector<TraceSpan>& spans)
    {
        std::sort(spans.begin(), spans.end(), [](const TraceSpan& a, const TraceSpan& b) {
            return std::pair(a.start, a.end) < std::pair(b.start, b.end);
        });
        std::vector<TraceSpan> out;
        for (const TraceSpan& span : spans)
            if (!out.empty() && span.start <= out.back().end)
                out.back().end = std::max(out.back().end, span.end);
            else
                out.push_back(span);
        spans = std::move(out);
    }

    static TraceTime overlap(const std::vector<TraceSpan>& spans, const TraceSpan& with)
    {
        auto at =
            std::upper_bound(spans.begin(), spans.end(), with.start,
                             [](TraceTime time, const TraceSpan& span) { return time < span.end; });
        TraceTime out;
        for (; at != spans.end() && at->start < with.end; ++at)
            out += std::min(at->end, with.end) - std::max(at->start, with.start);
        return out;
    }

    std::vector<TraceSpan> waiting_;
    std::vector<TraceSpan> moving_;
    std::vector<TraceSpan> unknown_;
};

// Deviations from the means of kernels alike: of the instruments and of what they explain.
struct Deviation {
    double waiting_share = 0;
    double moving_share = 0;
    double waiting = 0;
    double moving = 0;
    double length = 0;
};

class LossRegression {
public:
    void add(const std::vector<AccompaniedKernel>& alike)
    {
        AccompaniedKernel mean;
        double waiting_share = 0;
        double moving_share = 0;
        const double share = 1 / static_cast<double>(alike.size());
        for (const AccompaniedKernel& kernel : alike) {
            mean.length += share * kernel.length;
            mean.waiting += share * kernel.waiting;
            mean.moving += share * kernel.moving;
            waiting_share += share * kernel.waiting / kernel.length;
            moving_share += share * kernel.moving / kernel.length;
        }
        for (const AccompaniedKernel& kernel : alike) {
            waiting_ += kernel.waiting > 0.05 * kernel.length ? 1 : 0;
            moving_ += kernel.moving > 0.05 * kernel.length ? 1 : 0;
            // Long kernels count as much as many short ones.
            deviations_.push_back({(kernel.waiting / kernel.length - waiting_share) * mean.length,
                                   (kernel.moving / kernel.length - moving_share) * mean.length,
                                   kernel.waiting - mean.waiting, kernel.moving - mean.moving,
                                   kernel.length - mean.length});
        }
    }

    void solve(BesideTransfers& out) const
    {
        const bool waits = waiting_ >= enough_kernels;
        const bool moves = moving_ >= enough_kernels;
        if (waits && moves)
            solve_both(out);
        else if (waits)
            out.waiting = alone(&Deviation::waiting_share, &Deviation::waiting, waiting_);
        else if (moves)
            out.moving = alone(&Deviation::moving_share, &Deviation::moving, moving_);
    }

private:
    double product(double Deviation::*a, double Deviation::*b) const
    {
        double sum = 0;
        for (const Deviation& of : deviations_)
            sum += of.*a * of.*b;
        return sum;
    }

    static std::optional<LostShare> credible(double value, double variance, std::size_t kernels)
    {
        constexpr double most = 0.95;
        const double spread = std::sqrt(std::max(variance, 0.0));
        if (!(value > 2 * spread) || value > most)
            return std::nullopt;
        return LostShare{value, spread, kernels};
    }

    double residual_variance(double waiting, double moving) const
    {
        double sum = 0;
        for (const Deviation& of : deviations_) {
            const double rest = of.length - waiting * of.waiting - moving * of.moving;
            sum += rest * rest;
        }
        return sum / static_cast<double>(deviations_.size());
    }

    std::optional<LostShare> alone(double Deviation::*instrument, double Deviation::*cause,
                                   std::size_t kernels) const
    {
        const double slope = product(instrument, cause);
        if (!(slope > 0))
            return std::nullopt;
        const double value = product(instrument, &Deviation::length) / slope;
        const bool waits = cause == &Deviation::waiting;
        const double noise = residual_variance(waits ? value : 0, waits ? 0 : value);
        return credible(value, noise * product(instrument, instrument) / (slope * slope), kernels);
    }

    void solve_both(BesideTransfers& out) const
    {
        using D = Deviation;
        const double a = product(&D::waiting_share, &D::waiting);
        const double b = product(&D::waiting_share, &D::moving);
        const double c = product(&D::moving_share, &D::waiting);
        const double d = product(&D::moving_share, &D::moving);
        const double determinant = a * d - b * c;
        if (!(std::abs(determinant) > 1e-9 * std::abs(a * d)))
            return;
        const double y = product(&D::waiting_share, &D::length);
        const double z = product(&D::moving_share, &D::length);
        const double waiting = (d * y - b * z) / determinant;
        const double moving = (a * z - c * y) / determinant;
        const double noise = residual_variance(waiting, moving);
        const double ww = product(&D::waiting_share, &D::waiting_share);
        const double wm = product(&D::waiting_share, &D::moving_share);
        const double mm = product(&D::moving_share, &D::moving_share);
        const double scale = noise / (determinant * determinant);
        out.waiting =
            credible(waiting, scale * (d * d * ww - 2 * b * d * wm + b * b * mm), waiting_);
        out.moving = credible(moving, scale * (c * c * ww - 2 * a * c * wm + a * a * mm), moving_);
    }

    std::vector<Deviation> deviations_;
    std::size_t waiting_ = 0; // kernels
    std::size_t moving_ = 0;
};

// What is far from the others was held up by something else.
void leave_out_held_up(std::vector<AccompaniedKernel>& alike)
{
    constexpr double most = 4;
    std::vector<double> lengths;
    for (const AccompaniedKernel& kernel : alike)
        lengths.push_back(kernel.length);
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    std::erase_if(alike, [&](const AccompaniedKernel& kernel) {
        return kernel.length > most * *middle || kernel.length <= 0;
    });
}

} // namespace

BesideTransfers beside_transfers(const JobTrace& job,
                                 const std::vector<std::vector<TransferMoving>>& times)
{
    using Kind = std::tuple<TraceNameId, TraceNameId, Phase, std::uint64_t>;
    LossRegression regression;
    std::vector<std::vector<AccompaniedKernel>> of_rank(job.ranks.size());
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
        const RankActivity& rank = job.ranks[r];
        const TransferStretches stretches(rank, times[r]);
        std::map<Kind, std::vector<AccompaniedKernel>> kinds;
        for (const TraceOp& op : rank.ops)
            if (op.transfer == TraceOp::no_transfer && !op.crosses_host &&
                step_at(rank.steps, op.span.start))
                if (const auto kernel = stretches.beside(op)) {
                    kinds[{op.name, op.shapes, op.phase, op.bytes}].push_back(*kernel);
                    of_rank[r].push_back(*kernel);
                }
        for (auto& [kind, alike] : kinds) {
            leave_out_held_up(alike);
            if (alike.size() > 1)
                regression.add(alike);
        }
    }
    BesideTransfers out;
    regression.solve(out);
    const double waiting = out.waiting ? out.waiting->value : 0;
    const double moving = out.moving ? out.moving->value : 0;
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
        out.lost.emplace_back();
        const double share = 1 / static_cast<double>(job.ranks[r].steps.size());
        for (const AccompaniedKernel& kernel : of_rank[r])
            out.lost.back()[static_cast<std::size_t>(kernel.work)] +=
                Seconds(share * (waiting * kernel.waiting + moving * kernel.moving));
    }
    return out;
}

} // namespace trainyard

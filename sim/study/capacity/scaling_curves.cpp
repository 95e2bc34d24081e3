#include "sim/study/capacity/scaling_curves.h"

#include "sim/study/breakdown.h"
#include "sim/study/capacity/sized_cluster.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

// The request of one batch, whatever it says of batches.
CapacityRequest with_batch(CapacityRequest request, std::int64_t batch)
{
    request.batch.reset();
    std::erase_if(request.axes,
                  [](const SweepAxis& axis) { return axis.field == "training.global_batch"; });
    request.axes.push_back({"training.global_batch", {fmt::format("{}", batch)}});
    return request;
}

double sequences_per_s(const ScaledSize& size)
{
    return static_cast<double>(size.global_batch) / size.sized.outcome->step_time.value.value();
}

// Of a sequence, over all GPUs.
double gpu_seconds(const ScaledSize& size, Seconds of_step)
{
    return of_step.value() * size.sized.gpus / static_cast<double>(size.global_batch);
}

double communication_gpu_seconds(const ScaledSize& size)
{
    const Outcome& outcome = *size.sized.outcome;
    const TimeShares mean = mean_shares(*outcome.result, *outcome.binding);
    return gpu_seconds(size, exposed_communication(mean) + mean[index_of(TimeKind::slowdown)]);
}

void compare(ScalingCurve& curve)
{
    if (curve.sizes.empty())
        return;
    const ScaledSize& first = curve.sizes.front();
    const auto all = [](const ScaledSize& size) {
        return gpu_seconds(size, size.sized.outcome->step_time.value);
    };
    double rest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < curve.sizes.size(); ++i)
        if (const double own = all(curve.sizes[i]) - communication_gpu_seconds(curve.sizes[i]);
            own < rest) {
            rest = own;
            curve.leanest = i;
        }
    for (ScaledSize& size : curve.sizes) {
        const double more = 1.0 * size.sized.gpus / first.sized.gpus;
        size.speedup = sequences_per_s(size) / sequences_per_s(first);
        size.efficiency = size.speedup / more;
        size.communication = more * all(first) / (rest + communication_gpu_seconds(size));
    }
    std::vector<double> more;
    std::vector<double> speedups;
    for (const ScaledSize& size : curve.sizes) {
        more.push_back(1.0 * size.sized.gpus / first.sized.gpus);
        speedups.push_back(size.speedup);
    }
    if (more.size() > 1) {
        curve.pays_up_to = knee(more, speedups);
        curve.law = fitted_law(more, speedups);
    }
}

class ScalingSearch {
public:
    ScalingSearch(const CapacityRequest& request, const ClusterKind& kind, Session& session)
        : request_(request), session_(session)
    {
        scaling_.kind = kind;
        if (request_.training.tokens == 0) // only steps count here
            request_.training.tokens = 1;
    }

    ClusterScaling run()
    {
        try {
            look_at_all();
        } catch (const Cancelled&) { // what was found is kept
            scaling_.interrupted = true;
        }
        for (ScalingCurve* const curve : {&scaling_.strong, &scaling_.weak}) {
            std::ranges::sort(curve->sizes, {},
                              [](const ScaledSize& size) { return size.sized.gpus; });
            compare(*curve);
        }
        scaling_.weak.law.reset(); // the law is about one amount of work
        return std::move(scaling_);
    }

private:
    // The largest first: its batch is that of the others.
    void look_at_all()
    {
        const std::vector<ClusterSize> sizes = sizes_within(request_.scaling, scaling_.kind);
        std::optional<ScaledSize> largest;
        for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
            if (!largest) {
                largest = best_of(request_, *size);
                if (largest) {
                    scaling_.strong.sizes.push_back(*largest);
                    scaling_.weak.sizes.push_back(*largest);
                }
                continue;
            }
            const std::int64_t batch = largest->global_batch;
            const int gpus = size->gpus();
            add(scaling_.strong, batch, *size);
            if (batch * gpus % largest->sized.gpus == 0)
                add(scaling_.weak, batch * gpus / largest->sized.gpus, *size);
        }
    }

    void add(ScalingCurve& curve, std::int64_t batch, const ClusterSize& cluster)
    {
        if (std::optional<ScaledSize> size = best_of(with_batch(request_, batch), cluster))
            curve.sizes.push_back(std::move(*size));
    }

    std::optional<ScaledSize> best_of(const CapacityRequest& request, const ClusterSize& cluster)
    {
        request_.work.check();
        ScaledSize size{sized_cluster(request, cluster.kind, cluster.nodes, session_)};
        request_.work.check();
        if (!size.sized.outcome)
            return std::nullopt;
        size.global_batch = size.sized.outcome->job.training.global_batch;
        return size;
    }

    CapacityRequest request_;
    Session& session_;
    ClusterScaling scaling_;
};

} // namespace

AmdahlLaw fitted_law(const std::vector<double>& more_gpus, const std::vector<double>& speedups)
{
    // With t = 1 / speedup the step against the smallest's, the sum of ((s + (1 - s) / m) / t -
    // 1)^2 is least where s = sum u (1 - v) / sum u^2, u = (1 - 1/m) / t, v = 1 / (m t).
    double above = 0;
    double below = 0;
    for (std::size_t i = 0; i < more_gpus.size(); ++i) {
        const double u = (1 - 1 / more_gpus[i]) * speedups[i];
        const double v = speedups[i] / more_gpus[i];
        above += u * (1 - v);
        below += u * u;
    }
    return {below > 0 ? std::clamp(above / below, 0.0, 1.0) : 0};
}

std::size_t knee(const std::vector<double>& more_gpus, const std::vector<double>& speedups)
{
    std::size_t best = 0;
    const auto power = [&](std::size_t i) { return speedups[i] * speedups[i] / more_gpus[i]; };
    for (std::size_t i = 1; i < more_gpus.size(); ++i)
        if (power(i) > power(best))
            best = i;
    return best;
}

ClusterScaling cluster_scaling(const CapacityRequest& request, const ClusterKind& kind,
                               Session& session)
{
    return ScalingSearch(request, kind, session).run();
}

} // namespace trainyard

#include "sim/study/capacity/strategy_guide.h"

#include "sim/study/capacity/sized_cluster.h"
#include "sim/study/session.h"

#include <fmt/core.h>

#include <algorithm>

namespace trainyard {

template <>
std::vector<EnumName<StrategyFamily>> enum_names<StrategyFamily>()
{
    return {{StrategyFamily::ddp, "ddp"},           {StrategyFamily::zero_1, "zero-1"},
            {StrategyFamily::zero_2, "zero-2"},     {StrategyFamily::zero_3, "zero-3"},
            {StrategyFamily::experts, "experts"},   {StrategyFamily::tensor, "tensor"},
            {StrategyFamily::pipeline, "pipeline"}, {StrategyFamily::all, "all"}};
}

namespace {

// What a family leaves to the search, in place of the usual values.
std::vector<SweepAxis> axes_of(StrategyFamily family)
{
    const auto axes = [](const char* zero, const char* tp, const char* pp, const char* ep) {
        std::vector<SweepAxis> out{parse_axis(std::string("strategy.zero=") + zero).value(),
                                   parse_axis(std::string("strategy.tp=") + tp).value(),
                                   parse_axis("strategy.cp=1").value(),
                                   parse_axis(std::string("strategy.pp=") + pp).value()};
        out.push_back(parse_axis(std::string("strategy.ep=") + ep).value());
        if (std::string_view(tp) == "1")
            out.push_back(parse_axis("strategy.etp=1").value());
        if (std::string_view(pp) == "1") // one stage
            out.push_back(parse_axis("strategy.vpp=1").value());
        return out;
    };
    switch (family) {
    case StrategyFamily::ddp:
        return axes("0", "1", "1", "1");
    case StrategyFamily::zero_1:
        return axes("1", "1", "1", "1");
    case StrategyFamily::zero_2:
        return axes("2", "1", "1", "1");
    case StrategyFamily::zero_3:
        return axes("3", "1", "1", "1");
    case StrategyFamily::experts:
        return axes("1", "1", "1", "2..256*2");
    case StrategyFamily::tensor:
        return axes("1", "2..64*2", "1", "1");
    case StrategyFamily::pipeline:
        return axes("1", "1", "2..32", "1");
    case StrategyFamily::all:
        break;
    }
    return {};
}

CapacityRequest restricted(CapacityRequest request, StrategyFamily family)
{
    for (SweepAxis& axis : axes_of(family)) {
        std::erase_if(request.axes,
                      [&](const SweepAxis& other) { return other.field == axis.field; });
        request.axes.push_back(std::move(axis));
    }
    return request;
}

void advise(GuideSize& size)
{
    double most = 0;
    for (std::size_t i = 0; i < strategy_family_count; ++i)
        if (size.best[i].outcome && pace_of(size.best[i]) > most) {
            most = pace_of(size.best[i]);
            size.quickest = static_cast<StrategyFamily>(i);
        }
    for (std::size_t i = 0; i < strategy_family_count && !size.advised; ++i)
        if (size.best[i].outcome && pace_of(size.best[i]) >= (1 - near_enough) * most)
            size.advised = static_cast<StrategyFamily>(i);
}

} // namespace

double pace_of(const SizedCluster& sized)
{
    return static_cast<double>(sized.outcome->job.training.global_batch) /
           sized.outcome->step_time.value.value();
}

namespace {

SizedCluster best_of(const CapacityRequest& request, StrategyFamily family,
                     const ClusterSize& cluster, Session& session)
{
    return sized_cluster(restricted(request, family), cluster.kind, cluster.nodes, session);
}

// Experts are cut where other matrices are: each TP is a space of its own.
SizedCluster best_of_tensor(const CapacityRequest& request, const ClusterSize& cluster,
                            Session& session)
{
    const CapacityRequest family = restricted(request, StrategyFamily::tensor);
    std::optional<SizedCluster> best;
    for (int tp = 2; tp <= cluster.gpus(); tp *= 2) {
        CapacityRequest own = family;
        for (const char* field : {"strategy.tp", "strategy.etp"}) {
            std::erase_if(own.axes, [&](const SweepAxis& axis) { return axis.field == field; });
            own.axes.push_back({field, {fmt::format("{}", tp)}});
        }
        SizedCluster sized = sized_cluster(own, cluster.kind, cluster.nodes, session);
        if (best && !sized.outcome && sized.least_memory &&
            (!best->least_memory || *sized.least_memory < *best->least_memory))
            best->least_memory = sized.least_memory;
        if (!best || (sized.outcome && (!best->outcome || pace_of(sized) > pace_of(*best))))
            best = std::move(sized);
    }
    return best ? std::move(*best) : best_of(request, StrategyFamily::tensor, cluster, session);
}

} // namespace

StrategyGuide strategy_guide(const CapacityRequest& request, const ClusterKind& kind,
                             Session& session)
{
    StrategyGuide guide{kind, {}};
    const std::optional<Model> model = model_of(request, kind);
    const bool has_experts = model && model->is_moe();
    CapacityRequest steps = request;
    if (steps.training.tokens == 0) // only steps count here
        steps.training.tokens = 1;
    try {
        steps.work.check();
        for (const ClusterSize& cluster : sizes_within(request.guide, kind)) {
            GuideSize size;
            size.gpus = cluster.gpus();
            for (std::size_t i = 0; i < strategy_family_count; ++i) {
                const auto family = static_cast<StrategyFamily>(i);
                size.best[i] = has_experts && family == StrategyFamily::tensor
                                   ? best_of_tensor(steps, cluster, session)
                                   : best_of(steps, family, cluster, session);
                steps.work.check();
            }
            advise(size);
            guide.sizes.push_back(std::move(size));
        }
    } catch (const Cancelled&) { // what was found is kept
        guide.interrupted = true;
    }
    return guide;
}

} // namespace trainyard

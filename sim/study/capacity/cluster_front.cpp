#include "sim/study/capacity/cluster_front.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

std::vector<const SizedCluster*> trained(const CapacityPlan& plan)
{
    std::vector<const SizedCluster*> out;
    for (const ClusterAnswer& answer : plan.clusters)
        for (const SizedCluster& sized : answer.sizes)
            if (sized.training)
                out.push_back(&sized);
    return out;
}

std::vector<Objective> usual_objectives(const CapacityPlan& plan)
{
    const std::vector<const SizedCluster*> sizes = trained(plan);
    const auto known = [&](Objective objective) {
        return std::ranges::all_of(sizes, [&](const SizedCluster* sized) {
            return value_of(objective, *sized).has_value();
        });
    };
    std::set<double> tokens;
    for (const SizedCluster* sized : sizes)
        tokens.insert(sized->training->request.tokens);
    std::vector<Objective> out{tokens.size() > 1 ? Objective::work : Objective::days,
                               known(Objective::cost) ? Objective::cost : Objective::gpus};
    if (known(Objective::energy))
        out.push_back(Objective::energy);
    return out;
}

bool more_is_better(Objective objective)
{
    return objective == Objective::work || objective == Objective::headroom;
}

} // namespace

std::optional<double> value_of(Objective objective, const SizedCluster& sized)
{
    if (!sized.training || !sized.outcome)
        return std::nullopt;
    const WholeTraining& training = *sized.training;
    switch (objective) {
    case Objective::days:
        return training.time.mean().value() / 86400;
    case Objective::cost:
        return training.cost.money;
    case Objective::gpus:
        return sized.gpus;
    case Objective::energy:
        return training.cost.energy_kwh;
    case Objective::work:
        return training.request.tokens;
    case Objective::headroom: {
        const MemoryEstimate& memory = sized.outcome->memory;
        return memory.capacity > Bytes(0) ? std::optional(1 - memory.peak() / memory.capacity)
                                          : std::nullopt;
    }
    }
    return std::nullopt;
}

ClusterFront cluster_front(const CapacityPlan& plan, std::vector<Objective> objectives)
{
    ClusterFront front{std::move(objectives), {}};
    if (front.objectives.empty())
        front.objectives = usual_objectives(plan);
    std::vector<ClusterFront::Place> places;
    std::vector<std::vector<double>> points;
    for (std::size_t kind = 0; kind < plan.clusters.size(); ++kind)
        for (std::size_t size = 0; size < plan.clusters[kind].sizes.size(); ++size) {
            std::vector<double> point;
            for (const Objective objective : front.objectives)
                if (const auto value = value_of(objective, plan.clusters[kind].sizes[size]))
                    point.push_back(more_is_better(objective) ? -*value : *value);
            if (point.size() < front.objectives.size())
                continue;
            places.push_back({kind, size});
            points.push_back(std::move(point));
        }
    for (const std::size_t i : pareto_front(points))
        front.places.push_back(places[i]);
    return front;
}

} // namespace trainyard

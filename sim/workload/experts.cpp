#include "sim/workload/experts.h"

#include "sim/base/fields.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

std::vector<double> expert_loads(const ExpertParallel& experts, int ranks)
{
    std::vector<double> loads(static_cast<std::size_t>(ranks), 1.0);
    if (experts.load == ExpertLoad::histogram)
        loads.assign(experts.shares.begin(), experts.shares.end());
    if (experts.load == ExpertLoad::power_law)
        for (std::size_t i = 0; i < loads.size(); ++i)
            loads[i] = std::pow(static_cast<double>(i + 1), -experts.exponent);
    if (experts.load != ExpertLoad::uniform) {
        const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / ranks;
        for (double& load : loads)
            load /= mean;
    }
    if (experts.capacity_factor)
        for (double& load : loads)
            load = std::min(load, *experts.capacity_factor);
    return loads;
}

double kept_share(const ExpertParallel& experts, int ranks)
{
    const std::vector<double> loads = expert_loads(experts, ranks);
    return std::accumulate(loads.begin(), loads.end(), 0.0) / ranks;
}

template <>
std::vector<EnumName<Dispatcher>> enum_names<Dispatcher>()
{
    using enum Dispatcher;
    return {{all_to_all, "all_to_all"},
            {one_copy_per_node, "one_copy_per_node"},
            {deepep, "deepep"},
            {hybridep, "hybridep"},
            {all_gather, "all_gather"}};
}

template <>
std::vector<EnumName<ExpertLoad>> enum_names<ExpertLoad>()
{
    using enum ExpertLoad;
    return {{uniform, "uniform"}, {histogram, "histogram"}, {power_law, "power_law"}};
}

template <>
std::vector<EnumName<ExpertPlacement>> enum_names<ExpertPlacement>()
{
    return {{ExpertPlacement::near, "near"}, {ExpertPlacement::spread, "spread"}};
}

template <>
const FieldTable<ExpertParallel>& fields_of<ExpertParallel>()
{
    using E = ExpertParallel;
    static const auto table =
        FieldTable<E>("experts", "How tokens reach their experts.")
            .field("dispatcher", &E::dispatcher,
                   {.help = "a copy per expert, one per node with some of them, or all tokens to "
                            "all ranks; else as the framework does"})
            .field("node_limit", &E::node_limit,
                   {.help = "a token's experts are on at most so many nodes; 0: on any",
                    .min = 0,
                    .max = 1e6})
            .field("load", &E::load, {.help = "how tokens spread over the ranks of a group"})
            .field("shares", &E::shares, {.help = "of the tokens, by expert rank, for histogram"})
            .field("exponent", &E::exponent,
                   {.help = "power_law: rank i gets (i + 1)^-exponent", .min = 0, .max = 10})
            .field("capacity_factor", &E::capacity_factor,
                   {.help = "a rank drops tokens beyond so many times the mean",
                    .min = 0.01,
                    .max = 1000})
            .field("overlap_shared", &E::overlap_shared,
                   {.help = "shared experts run beside dispatch and combination"})
            .field("placement", &E::placement,
                   {.help = "ranks of an expert group side by side, or as far apart as they go"});
    return table;
}

} // namespace trainyard

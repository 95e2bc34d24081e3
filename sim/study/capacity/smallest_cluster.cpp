#include "sim/study/capacity/smallest_cluster.h"

#include "sim/study/capacity/sized_cluster.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

constexpr int one_by_one = 32; // sizes, before steps grow
constexpr int most_sizes = 48;

// Layouts of more devices share what they keep a little better or worse than others.
constexpr double sure = 0.8;

} // namespace

std::optional<SizedCluster> smallest_cluster(const CapacityRequest& request, ClusterKind kind,
                                             std::optional<Bytes> least_memory, Session& session)
{
    CapacityRequest any = request;
    any.training = {};
    any.training.tokens = 1;
    const int given = std::exchange(kind.nodes, std::nullopt).value_or(1);
    int nodes = 1;
    if (const std::optional<Bytes> capacity = device_capacity(request, kind);
        least_memory && capacity)
        nodes = std::max(1, static_cast<int>(sure * given * (*least_memory / *capacity)));
    for (int looked_at = 0;
         looked_at < most_sizes && nodes <= request.most_gpus / kind.gpus_per_node; ++looked_at)
    {
        request.work.check();
        SizedCluster sized = sized_cluster(any, kind, nodes, session);
        request.work.check();
        if (sized.outcome)
            return sized;
        nodes = looked_at < one_by_one ? nodes + 1 : next_size(nodes);
    }
    return std::nullopt;
}

} // namespace trainyard

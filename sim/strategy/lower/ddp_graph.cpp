#include "sim/strategy/lower/ddp_graph.h"

#include "sim/strategy/lower/shard_exchange.h"
#include "sim/workload/parameters.h"

#include <algorithm>

namespace trainyard {

namespace {

// Host time per node of the graph: a lookup and an insertion in a hash set of pointers, an entry of
// the queue and the virtual calls that list its edges, all cold in the cache: two to four misses of
// some 80 ns. No measurement published; PyTorch's documentation only warns of the walk.
constexpr Seconds per_graph_node{0.25e-6};

// An operation that autograd records is one node; each kernel of forward stands for one.
int graph_nodes(const LayerWork& work)
{
    int nodes = 0;
    for (const WorkItem& item : work.forward)
        if (const auto* kernel = std::get_if<Kernel>(&item))
            nodes += kernel->launches;
    return nodes;
}

int tensors(const Model& model, const LayerKind& kind)
{
    const auto* transformer = std::get_if<Transformer>(&model.architecture);
    return transformer != nullptr ? static_cast<int>(parameter_tensors(*transformer, kind).size())
                                  : 1; // lists of layers give one figure per layer
}

} // namespace

DdpGraph::DdpGraph(const Job& job, const StageContent& stage) : job_(job), stage_(stage) {}

bool DdpGraph::forward_ends(std::size_t visit) const
{
    const Visit& v = stage_.visits[visit];
    const bool last_layer = v.layer + 1 == stage_.layers.size() ||
                            stage_.layers[v.layer + 1].chunk != stage_.layers[v.layer].chunk;
    return v.kind == PassKind::forward && last_layer;
}

bool DdpGraph::backward_ends(std::size_t visit) const
{
    const Visit& v = stage_.visits[visit];
    return completes_gradients(v.kind) &&
           (v.layer == 0 || stage_.layers[v.layer - 1].chunk != stage_.layers[v.layer].chunk);
}

bool DdpGraph::is_last(std::size_t visit) const
{
    const Visit& v = stage_.visits[visit];
    return std::none_of(
        stage_.visits.begin() + static_cast<std::ptrdiff_t>(visit) + 1, stage_.visits.end(),
        [&](const Visit& later) { return later.layer == v.layer && later.kind == v.kind; });
}

void DdpGraph::walk(StageWriter& writer, const Visit& visit) const
{
    int nodes = 0;
    for (const PlacedLayer& layer : stage_.layers)
        if (layer.chunk == stage_.layers[visit.layer].chunk)
            nodes += graph_nodes(stage_.work.kinds[layer.kind].work);
    writer.host_work("find unused parameters", per_graph_node * static_cast<double>(nodes),
                     Phase::gradient_sync);
}

void DdpGraph::agree(StageWriter& writer, const Visit& visit) const
{
    int count = 0;
    for (const PlacedLayer& layer : stage_.layers)
        if (layer.chunk == stage_.layers[visit.layer].chunk)
            count += tensors(job_.model, stage_.work.kinds[layer.kind].layer.kind);
    writer.transfer({.kind = CollectiveKind::all_reduce,
                     .group = GroupKind::dp,
                     .bytes = Bytes(4) * static_cast<std::uint64_t>(count),
                     .phase = Phase::gradient_sync,
                     .stream = data_parallel_stream,
                     .waits = {writer.computed(), writer.tail()},
                     .record = writer.reduced(),
                     .index = visit.index(stage_.layers[visit.layer])});
}

} // namespace trainyard

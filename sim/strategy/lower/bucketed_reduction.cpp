#include "sim/strategy/lower/bucketed_reduction.h"

#include "sim/strategy/model_states.h"

namespace trainyard {

namespace {

// The backward pass of the chunk ends with its first layer.
bool first_of_chunk(const StageContent& stage, std::size_t layer)
{
    return layer == 0 || stage.layers[layer - 1].chunk != stage.layers[layer].chunk;
}

} // namespace

double gradient_bytes(const Job& job)
{
    return state_bytes(job.training).gradients;
}

double parameter_bytes(const Job& job)
{
    return state_bytes(job.training).parameters;
}

BucketedReduction::BucketedReduction(const Job& job, const StageContent& stage, CollectiveKind kind,
                                     BucketSizes sizes)
    : stage_(stage),
      kind_(kind),
      overlap_(*job.strategy.overlap.dp),
      bytes_per_parameter_(gradient_bytes(job)),
      traffic_{{{GroupKind::dp, &LayerParameters::dense, &ItemLowering::GradientWork::dense,
                 BucketFill(sizes)},
                {GroupKind::edp, &LayerParameters::expert, &ItemLowering::GradientWork::expert,
                 BucketFill(sizes)}}}
{}

void BucketedReduction::after(StageWriter& writer, std::size_t visit, const LayerBlock& block)
{
    const Visit& v = stage_.visits[visit];
    if (!overlap_ || !v.last)
        return;
    const UseIndex index = v.index(stage_.layers[v.layer]);
    const LayerParameters& parameters = stage_.trained(v.layer);
    for (const ItemLowering::GradientWork& piece : block.gradients)
        for (Traffic& traffic : traffic_) {
            const double bytes =
                bytes_per_parameter_ * parameters.*traffic.parameters * piece.*traffic.share;
            for (const Bytes bucket : traffic.fill.add(bytes))
                start(writer, traffic, bucket, writer.bound(piece.ready), index);
        }
    if (first_of_chunk(stage_, v.layer))
        for (Traffic& traffic : traffic_)
            start(writer, traffic, traffic.fill.rest(), writer.computed(), index);
}

void BucketedReduction::rest(StageWriter& writer)
{
    if (overlap_)
        return;
    for (const Traffic& traffic : traffic_) {
        double parameters = 0;
        for (std::size_t layer = 0; layer < stage_.layers.size(); ++layer)
            parameters += stage_.trained(layer).*traffic.parameters;
        start(writer, traffic, scaled(Bytes(1), bytes_per_parameter_ * parameters),
              writer.computed(), {});
    }
}

void BucketedReduction::start(StageWriter& writer, const Traffic& traffic, Bytes bytes,
                              EventId ready, UseIndex index) const
{
    writer.transfer({.kind = kind_,
                     .group = traffic.group,
                     .bytes = bytes,
                     .phase = Phase::gradient_sync,
                     .stream = data_parallel_stream,
                     .waits = {ready},
                     .record = writer.reduced(),
                     .index = index});
}

} // namespace trainyard

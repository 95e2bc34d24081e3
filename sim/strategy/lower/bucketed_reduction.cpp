#include "sim/strategy/lower/bucketed_reduction.h"

#include "sim/strategy/model_states.h"

namespace trainyard {

namespace {

// The backward pass of the chunk ends with its first layer.
bool first_of_chunk(const StageContent& stage, std::size_t layer)
{
    return layer == 0 || stage.layers[layer - 1].chunk != stage.layers[layer].chunk;
}

// All ranks with the same parameters as one group.
StateShards undivided(GroupKind group, const StateShards& shards)
{
    return {.group = group, .ranks = shards.all()};
}

double updated_part(const Job& job, const StateShards& shards)
{
    return job.strategy.zero >= 1 ? 1.0 / shards.ranks : 1.0;
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

BucketedReduction::BucketedReduction(const Job& job, const StageContent& stage,
                                     const ReductionStyle& style, BucketSizes dense,
                                     BucketSizes expert)
    : stage_(stage),
      style_(style),
      offload_(job),
      traffic_{{{&LayerParameters::dense, &ItemLowering::GradientWork::dense,
                 BucketFill(dense, BucketEnd::whole),
                 ShardReduction(style.into_shards ? dense_shards(job)
                                                  : undivided(GroupKind::dp, dense_shards(job))),
                 updated_part(job, dense_shards(job))},
                {&LayerParameters::expert, &ItemLowering::GradientWork::expert,
                 BucketFill(expert, BucketEnd::whole),
                 ShardReduction(style.into_shards ? expert_shards(job)
                                                  : undivided(GroupKind::edp, expert_shards(job))),
                 updated_part(job, expert_shards(job))}}}
{}

void BucketedReduction::after(StageWriter& writer, std::size_t visit, const LayerBlock& block)
{
    const Visit& v = stage_.visits[visit];
    const bool reduces =
        style_.every_micro_batch ? completes_gradients(v.kind) : v.last && style_.overlap;
    if (!reduces)
        return;
    last_round_ = v.last;
    const bool ends_chunk = first_of_chunk(stage_, v.layer);
    if (style_.overlap)
        bucket_by_bucket(writer, v, block, ends_chunk);
    else if (ends_chunk)
        all_at_once(writer, stage_.layers[v.layer].chunk, v.index(stage_.layers[v.layer]));
}

void BucketedReduction::rest(StageWriter& writer)
{
    last_round_ = true;
    if (!style_.overlap && !style_.every_micro_batch)
        all_at_once(writer, std::nullopt, {});
}

void BucketedReduction::bucket_by_bucket(StageWriter& writer, const Visit& visit,
                                         const LayerBlock& block, bool ends_chunk)
{
    const UseIndex index = visit.index(stage_.layers[visit.layer]);
    const LayerParameters& parameters = stage_.trained(visit.layer);
    prepare(writer, leaving(parameters), index);
    for (const ItemLowering::GradientWork& piece : block.gradients)
        for (Traffic& traffic : traffic_) {
            const double bytes =
                style_.bytes_per_parameter * parameters.*traffic.parameters * piece.*traffic.share;
            const EventId ready =
                style_.bytes_before > 0 ? writer.computed() : writer.bound(piece.ready);
            for (const Bytes bucket : traffic.fill.add(bytes))
                start(writer, traffic, bucket, ready, index);
        }
    if (!ends_chunk)
        return;
    for (Traffic& traffic : traffic_) {
        start(writer, traffic, traffic.fill.rest(), writer.computed(), index);
        if (style_.every_micro_batch)
            traffic.fill.restart();
    }
    take_back(writer);
}

// Gradients of a chunk, or of the whole stage.
void BucketedReduction::all_at_once(StageWriter& writer, std::optional<int> chunk, UseIndex index)
{
    LayerParameters sum;
    for (std::size_t layer = 0; layer < stage_.layers.size(); ++layer)
        if (!chunk || stage_.layers[layer].chunk == *chunk) {
            sum.dense += stage_.trained(layer).dense;
            sum.expert += stage_.trained(layer).expert;
        }
    prepare(writer, leaving(sum), index);
    for (Traffic& traffic : traffic_)
        start(writer, traffic,
              scaled(Bytes(1), style_.bytes_per_parameter * sum.*traffic.parameters),
              writer.computed(), index);
    take_back(writer);
}

// Parameters whose gradients another rank has too.
double BucketedReduction::leaving(const LayerParameters& parameters) const
{
    double sum = 0;
    for (const Traffic& traffic : traffic_)
        if (traffic.reduction.any())
            sum += parameters.*traffic.parameters;
    return sum;
}

void BucketedReduction::prepare(StageWriter& writer, double parameters, UseIndex index) const
{
    if (style_.bytes_before * parameters > 0)
        writer.memory_pass({.name = "pack gradients",
                            .bytes = style_.bytes_before * parameters,
                            .phase = Phase::gradient_sync,
                            .waits = {writer.tail()},
                            .index = index});
}

void BucketedReduction::start(StageWriter& writer, Traffic& traffic, Bytes bytes, EventId ready,
                              UseIndex index)
{
    if (bytes == Bytes(0))
        return;
    const EventId summed =
        traffic.reduction.any() ? send(writer, traffic, bytes, ready, index) : ready;
    if (last_round_)
        offload_.leave(writer, scaled(bytes, traffic.part), summed, index);
}

EventId BucketedReduction::send(StageWriter& writer, Traffic& traffic, Bytes bytes, EventId ready,
                                UseIndex index)
{
    EventId back = writer.reduced();
    if (style_.bytes_after > 0) {
        if (back_.size() == under_way_.size())
            back_.push_back(writer.event());
        back = back_[under_way_.size()];
        under_way_.push_back({bytes, back, index});
    }
    traffic.reduction.write(writer, {.kind = style_.kind,
                                     .bytes = bytes,
                                     .phase = Phase::gradient_sync,
                                     .waits = {ready},
                                     .record = back,
                                     .index = index});
    return back;
}

// Bucket by bucket, each when it is back.
void BucketedReduction::take_back(StageWriter& writer)
{
    for (const Bucket& bucket : under_way_)
        writer.memory_pass({.name = "unpack gradients",
                            .bytes = static_cast<double>(bucket.bytes.value()) /
                                     style_.bytes_per_parameter * style_.bytes_after,
                            .phase = Phase::gradient_sync,
                            .waits = {bucket.back},
                            .index = bucket.index});
    under_way_.clear();
}

} // namespace trainyard

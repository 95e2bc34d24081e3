// ZeRO-1 and ZeRO-2 as DeepSpeed does them (Rajbhandari 2020; deepspeed/runtime/zero/
// stage_1_and_2.py): gradients are copied into a flat buffer, reduced when it is full, and only a
// rank's shard is kept: with ZeRO-2 after every micro-batch, with ZeRO-1 at the end of
// accumulation. Each rank updates its shard, then the host waits until the parameters are gathered,
// in buckets of their own.

#include "sim/strategy/lower/bucketed_reduction.h"

namespace trainyard {

namespace {

// The copy into the buffer reads and writes each gradient; a shard that sums over micro-batches
// reads both summands and writes one.
ReductionStyle deepspeed_style(const Job& job)
{
    const double width = gradient_bytes(job);
    ReductionStyle style;
    style.into_shards = job.strategy.sharding.reduce_scatter;
    style.kind = style.into_shards ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    style.overlap = *job.strategy.overlap.dp;
    style.every_micro_batch = job.strategy.zero == 2;
    style.bytes_per_parameter = width;
    style.bytes_before = 2 * width;
    if (style.every_micro_batch && job.micro_batches() > 1)
        style.bytes_after = 3 * width / dense_shards(job).ranks;
    return style;
}

BucketSizes bucket_sizes(const Job& job)
{
    const double size =
        gradient_bytes(job) * static_cast<double>(job.strategy.sharding.reduce_bucket);
    return {size, size};
}

class DeepSpeedZero final : public DataParallel {
public:
    DeepSpeedZero(const Job& job, const StageContent& stage)
        : job_(job),
          stage_(stage),
          reduction_(job, stage, deepspeed_style(job), bucket_sizes(job), bucket_sizes(job))
    {}

    EventId before(StageWriter& writer, std::size_t) override { return writer.never(); }
    void after(StageWriter& writer, std::size_t visit, const LayerBlock& block) override
    {
        reduction_.after(writer, visit, block);
    }
    void reduce_rest(StageWriter& writer) override { reduction_.rest(writer); }
    void publish(StageWriter& writer) override
    {
        LayerParameters held;
        for (std::size_t i = 0; i < stage_.layers.size(); ++i) {
            held.dense += stage_.trained(i).dense;
            held.expert += stage_.trained(i).expert;
        }
        gather(writer, dense_shards(job_).group, held.dense);
        gather(writer, expert_shards(job_).group, held.expert);
    }

private:
    void gather(StageWriter& writer, GroupKind group, double parameters) const
    {
        const double width = parameter_bytes(job_);
        const double size = width * static_cast<double>(job_.strategy.sharding.gather_bucket);
        BucketFill fill({size, size});
        std::vector<Bytes> buckets = fill.add(width * parameters);
        buckets.push_back(fill.rest());
        for (const Bytes bytes : buckets)
            writer.transfer({.kind = CollectiveKind::all_gather,
                             .group = group,
                             .bytes = bytes,
                             .phase = Phase::parameter_sync,
                             .stream = data_parallel_stream,
                             .waits = {writer.computed(), writer.tail()},
                             .record = writer.reduced(),
                             .blocks_host = true});
    }

    const Job& job_;
    const StageContent& stage_;
    BucketedReduction reduction_;
};

} // namespace

std::unique_ptr<DataParallel> make_deepspeed_zero(const Job& job, const StageContent& stage)
{
    return std::make_unique<DeepSpeedZero>(job, stage);
}

} // namespace trainyard

// ZeRO-1 as Megatron-Core's distributed optimizer does it: gradients are reduce-scattered in
// buckets (with replicas of the shards then summed across them, as with
// num_distributed_optimizer_instances), every rank updates its shard of all parameters, and the
// parameters are gathered again: beside the next step's first forward passes, or at the end of the
// step.
//
// The gathers queue up at the start of the step in the order of first use. Megatron-Core starts
// those of a chunk while the chunk before is at work (param_sync_func), on all stages at once; were
// they started layer by layer, each stage would wait for its own after it got its input.

#include "sim/strategy/lower/bucketed_reduction.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

// Megatron-Core's default: at least 40 M parameters and 1 M per rank in a bucket
// (DistributedDataParallelConfig.bucket_size).
BucketSizes bucket_sizes(const Job& job, double bytes_per_parameter)
{
    const double ranks = dense_shards(job).ranks;
    const double size = std::max(static_cast<double>(job.strategy.bucket_cap.value()),
                                 bytes_per_parameter * std::max(40e6, 1e6 * ranks));
    return {size, size};
}

ReductionStyle sharded_style(const Job& job)
{
    return {.kind = CollectiveKind::reduce_scatter,
            .into_shards = true,
            .overlap = *job.strategy.overlap.dp,
            .bytes_per_parameter = gradient_bytes(job)};
}

class DistributedOptimizer final : public DataParallel {
public:
    DistributedOptimizer(const Job& job, const StageContent& stage)
        : stage_(stage),
          gathers_ahead_(*job.strategy.sharding.overlap_param_gather),
          groups_{dense_shards(job).group, expert_shards(job).group},
          parameter_bytes_(parameter_bytes(job)),
          narrow_gather_(*job.training.formats.parameter_gather && !job.training.lora),
          reduction_(job, stage, sharded_style(job), bucket_sizes(job, gradient_bytes(job)),
                     bucket_sizes(job, gradient_bytes(job)))
    {
        if (gathers_ahead_)
            plan_gathers(bucket_sizes(job, parameter_bytes_));
    }

    EventId before(StageWriter& writer, std::size_t visit) override;
    void after(StageWriter& writer, std::size_t visit, const LayerBlock& block) override
    {
        reduction_.after(writer, visit, block);
    }
    void reduce_rest(StageWriter& writer) override { reduction_.rest(writer); }
    void publish(StageWriter& writer) override;

private:
    struct Gather {
        GroupKind group;
        Bytes bytes;
        EventId done; // made when it starts
    };

    void plan_gathers(BucketSizes sizes);
    void start(StageWriter& writer, const Gather& gather, bool blocks_host) const;
    double gathered_bytes(std::size_t layer, double LayerParameters::*parameters) const;

    const StageContent& stage_;
    bool gathers_ahead_;
    std::array<GroupKind, 2> groups_; // that gather dense and expert parameters
    double parameter_bytes_;
    bool narrow_gather_;
    BucketedReduction reduction_;
    std::vector<Gather> gathers_;           // in the order of the first forward passes
    std::vector<std::size_t> completed_by_; // by layer: the gather that completes its parameters
    std::size_t started_ = 0;
};

// Buckets of dense and of expert parameters in the order of the first forward passes; none crosses
// a chunk's end.
void DistributedOptimizer::plan_gathers(BucketSizes sizes)
{
    struct Traffic {
        GroupKind group;
        double LayerParameters::*parameters;
        BucketFill fill;
        std::vector<std::size_t> open = {}; // layers with parameters in the bucket being filled
    };
    std::array<Traffic, 2> traffic = {
        Traffic{groups_[0], &LayerParameters::dense, BucketFill(sizes)},
        Traffic{groups_[1], &LayerParameters::expert, BucketFill(sizes)}};
    completed_by_.assign(stage_.layers.size(), 0);
    const auto close = [&](Traffic& t, Bytes bytes) {
        for (const std::size_t layer : t.open)
            completed_by_[layer] = gathers_.size();
        t.open.clear();
        gathers_.push_back({t.group, bytes, {}});
    };
    for (std::size_t i = 0; i < stage_.layers.size(); ++i) {
        const bool ends_chunk =
            i + 1 == stage_.layers.size() || stage_.layers[i + 1].chunk != stage_.layers[i].chunk;
        for (Traffic& t : traffic) {
            if (stage_.trained(i).*t.parameters > 0)
                t.open.push_back(i);
            for (const Bytes bytes : t.fill.add(gathered_bytes(i, t.parameters)))
                close(t, bytes);
            if (!t.fill.empty() && t.open.empty())
                t.open.push_back(i); // the rest of it
            if (ends_chunk && !t.fill.empty())
                close(t, t.fill.rest());
            if (t.fill.empty())
                t.open.clear();
        }
    }
}

// Matrices of layers travel in the narrow format where the framework gathers in it.
double DistributedOptimizer::gathered_bytes(std::size_t layer,
                                            double LayerParameters::*parameters) const
{
    const bool narrow =
        narrow_gather_ && !stage_.work.kinds[stage_.layers[layer].kind].held.in_root_unit();
    return (narrow ? 1 : parameter_bytes_) * stage_.trained(layer).*parameters;
}

EventId DistributedOptimizer::before(StageWriter& writer, std::size_t visit)
{
    const Visit& v = stage_.visits[visit];
    if (!gathers_ahead_ || !v.first || gathers_.empty())
        return writer.never();
    for (; started_ < gathers_.size(); ++started_) {
        gathers_[started_].done = writer.event();
        start(writer, gathers_[started_], false);
    }
    return gathers_[completed_by_[v.layer]].done;
}

void DistributedOptimizer::start(StageWriter& writer, const Gather& gather, bool blocks_host) const
{
    writer.transfer({.kind = CollectiveKind::all_gather,
                     .group = gather.group,
                     .bytes = gather.bytes,
                     .phase = Phase::parameter_sync,
                     .stream = data_parallel_stream,
                     .waits = {writer.computed(), writer.tail()},
                     .record = gather.done,
                     .blocks_host = blocks_host});
}

// The next step starts with whole parameters: the host waits for them.
void DistributedOptimizer::publish(StageWriter& writer)
{
    if (gathers_ahead_)
        return;
    const auto whole = [&](double LayerParameters::*parameters) {
        double bytes = 0;
        for (std::size_t i = 0; i < stage_.layers.size(); ++i)
            bytes += gathered_bytes(i, parameters);
        return scaled(Bytes(1), bytes);
    };
    start(writer, {groups_[0], whole(&LayerParameters::dense), writer.reduced()}, true);
    start(writer, {groups_[1], whole(&LayerParameters::expert), writer.reduced()}, true);
}

} // namespace

std::unique_ptr<DataParallel> make_distributed_optimizer(const Job& job, const StageContent& stage)
{
    return std::make_unique<DistributedOptimizer>(job, stage);
}

} // namespace trainyard

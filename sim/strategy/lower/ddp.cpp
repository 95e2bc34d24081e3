// Distributed data parallel (Li 2020): every rank holds the whole stage; gradients are all-reduced
// in buckets, in the order in which the last micro-batch's backward pass makes them. Earlier
// micro-batches accumulate without exchange (no_sync), or exchange theirs too.
//
// Buckets are those that PyTorch cuts again after the first step, in the order in which gradients
// came. With unused parameters to look for that order is unknown: buckets are then cut in the order
// of registration from the front, so that the small one comes last (torch/nn/parallel/
// distributed.py, _ddp_init_helper).

#include "sim/strategy/lower/bucketed_reduction.h"
#include "sim/strategy/lower/ddp_graph.h"

#include <cmath>

namespace trainyard {

namespace {

bool is_view(const Job& job)
{
    return job.strategy.ddp.gradient_as_bucket_view.value_or(!job.software.copies_into_buckets);
}

// Looks for unused parameters in every step.
bool walks_graph(const Job& job)
{
    return job.strategy.ddp.find_unused_parameters && !job.strategy.ddp.static_graph;
}

// What passes through memory beside the all-reduce (torch/csrc/distributed/c10d/reducer.cpp,
// mark_variable_ready_dense and finalize_bucket_dense; algorithms/ddp_comm_hooks/default_hooks.py).
//
// A copy reads and writes each gradient, in and out, and scales it on the way in; a view is scaled
// in place, where PyTorch's DDP is at work. A hook casts the bucket, scales the cast and casts
// back.
ReductionStyle style_of(const Job& job)
{
    const double width = gradient_bytes(job);
    const bool copies = !is_view(job);
    ReductionStyle style;
    style.overlap = *job.strategy.overlap.dp;
    style.every_micro_batch = !job.strategy.ddp.no_sync;
    style.bytes_per_parameter = width;
    if (copies)
        style.bytes_before = style.bytes_after = 2 * width;
    if (job.strategy.ddp.compression != GradientCompression::none) {
        constexpr double narrow = 2;
        style.bytes_per_parameter = narrow;
        style.bytes_before += width + narrow + 2 * narrow;
        style.bytes_after += narrow + width;
    } else if (!copies && job.software.copies_into_buckets) {
        style.bytes_before = 2 * width;
    }
    return style;
}

// Buckets hold gradients as they are accumulated, whatever travels.
BucketSizes bucket_sizes(const Job& job, const StageContent& stage, const ReductionStyle& style,
                         double LayerParameters::*parameters)
{
    const double travels = style.bytes_per_parameter / gradient_bytes(job);
    const double first = static_cast<double>(job.strategy.first_bucket.value()) * travels;
    const double cap = static_cast<double>(job.strategy.bucket_cap.value()) * travels;
    if (!walks_graph(job))
        return {first, cap};
    double total = 0;
    for (std::size_t layer = 0; layer < stage.layers.size(); ++layer)
        total += style.bytes_per_parameter * stage.trained(layer).*parameters;
    const double behind = std::fmod(std::max(0.0, total - first), cap);
    return {behind > 0 ? behind : cap, cap};
}

class Ddp final : public DataParallel {
public:
    Ddp(const Job& job, const StageContent& stage, const ReductionStyle& style)
        : stage_(stage),
          walks_(walks_graph(job) && dense_shards(job).all() > 1),
          every_micro_batch_(style.every_micro_batch),
          graph_(job, stage),
          reduction_(job, stage, style, bucket_sizes(job, stage, style, &LayerParameters::dense),
                     bucket_sizes(job, stage, style, &LayerParameters::expert))
    {}

    EventId before(StageWriter& writer, std::size_t) override { return writer.never(); }
    void after(StageWriter& writer, std::size_t visit, const LayerBlock& block) override
    {
        reduction_.after(writer, visit, block);
        if (walks_ && graph_.forward_ends(visit) && (every_micro_batch_ || graph_.is_last(visit)))
            graph_.walk(writer, stage_.visits[visit]);
        if (walks_ && graph_.backward_ends(visit) &&
            (every_micro_batch_ || stage_.visits[visit].last))
            graph_.agree(writer, stage_.visits[visit]);
    }
    void reduce_rest(StageWriter& writer) override { reduction_.rest(writer); }
    void publish(StageWriter&) override {}

private:
    const StageContent& stage_;
    bool walks_;
    bool every_micro_batch_;
    DdpGraph graph_;
    BucketedReduction reduction_;
};

} // namespace

std::unique_ptr<DataParallel> make_ddp(const Job& job, const StageContent& stage)
{
    return std::make_unique<Ddp>(job, stage, style_of(job));
}

std::unique_ptr<DataParallel> make_data_parallel(const Job& job, const StageContent& stage)
{
    if (job.strategy.zero == 0)
        return make_ddp(job, stage);
    if (job.strategy.zero == 3)
        return make_fsdp(job, stage);
    return *job.strategy.sharding.style == ShardingStyle::megatron
               ? make_distributed_optimizer(job, stage)
               : make_deepspeed_zero(job, stage);
}

} // namespace trainyard

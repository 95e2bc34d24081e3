// Distributed data parallel (Li 2020): every rank holds the whole stage; gradients are all-reduced
// in buckets, in the order in which the last micro-batch's backward pass makes them. Earlier
// micro-batches accumulate without exchange.

#include "sim/strategy/lower/bucketed_reduction.h"

namespace trainyard {

namespace {

class Ddp final : public DataParallel {
public:
    Ddp(const Job& job, const StageContent& stage)
        : reduction_(job, stage, CollectiveKind::all_reduce,
                     {static_cast<double>(job.strategy.first_bucket.value()),
                      static_cast<double>(job.strategy.bucket_cap.value())})
    {}

    EventId before(StageWriter& writer, std::size_t) override { return writer.never(); }
    void after(StageWriter& writer, std::size_t visit, const LayerBlock& block) override
    {
        reduction_.after(writer, visit, block);
    }
    void reduce_rest(StageWriter& writer) override { reduction_.rest(writer); }
    void publish(StageWriter&) override {}

private:
    BucketedReduction reduction_;
};

} // namespace

std::unique_ptr<DataParallel> make_ddp(const Job& job, const StageContent& stage)
{
    return std::make_unique<Ddp>(job, stage);
}

std::unique_ptr<DataParallel> make_data_parallel(const Job& job, const StageContent& stage)
{
    switch (job.strategy.zero) {
    case 0:
        return make_ddp(job, stage);
    case 3:
        return make_fsdp(job, stage);
    default:
        return make_distributed_optimizer(job, stage);
    }
}

} // namespace trainyard

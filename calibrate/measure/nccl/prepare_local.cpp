#include "calibrate/measure/nccl/prepared_work.h"

namespace trainyard {

namespace {

TimingStyle style_of(LocalKind kind)
{
    switch (kind) {
    case LocalKind::launch:
        return TimingStyle::waited;
    case LocalKind::launch_graph:
        return TimingStyle::graph;
    case LocalKind::issue:
        return TimingStyle::host_issue;
    default:
        return TimingStyle::queued;
    }
}

class PreparedLocal : public PreparedWork {
public:
    PreparedLocal(CudaApi& cuda, const LocalWork& work)
        : cuda_(cuda), work_(work), plan_(cuda.plan(work))
    {}

    Bytes slot() const override { return plan_->slot(); }
    ElementType type() const override { return work_.type; }
    TimingStyle style() const override { return style_of(work_.kind); }

    void issue(int, std::byte* slot, CudaStream stream) override
    {
        require(cuda_, plan_->launch(slot, stream), describe(TimedWork(work_)));
    }

    // The plan works out again what random data give. Tensor cores sum products of 8 bits with less
    // than 24 bits, as nobody promises: there the data are such that no sum is rounded.
    void fill_known(std::byte* slot, CudaStream stream) override
    {
        const auto element = static_cast<std::uint64_t>(element_bytes(work_.type));
        if (slot)
            require(cuda_,
                    cuda_.fill(slot,
                               {work_.type == ElementType::float8_e4m3 ? PatternKind::signs
                                                                       : PatternKind::random,
                                work_.type, plan_->slot().value() / element},
                               stream),
                    "filling buffers");
    }

    std::optional<std::int64_t> wrong(std::byte* slot, CudaStream stream) override
    {
        return require(cuda_, plan_->wrong(slot, stream), "checking a result");
    }

private:
    CudaApi& cuda_;
    LocalWork work_;
    std::unique_ptr<DevicePlan> plan_;
};

} // namespace

std::unique_ptr<PreparedWork> prepare_local(CudaApi& cuda, const LocalWork& work)
{
    return std::make_unique<PreparedLocal>(cuda, work);
}

} // namespace trainyard

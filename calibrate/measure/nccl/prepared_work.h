#pragma once

// One op of a TimedWork on one rank, ready to be queued again and again.

#include "calibrate/measure/nccl/nccl_group.h"

namespace trainyard {

enum class TimingStyle : std::uint8_t {
    queued,    // between two events of the device
    waited,    // each op alone, by the host's clock
    graph,     // ops as one graph, between two events
    host_issue // what the host spends to queue them
};

class PreparedWork {
public:
    PreparedWork() = default;
    PreparedWork(const PreparedWork&) = delete;
    PreparedWork& operator=(const PreparedWork&) = delete;
    virtual ~PreparedWork() = default;

    virtual Bytes slot() const = 0; // device memory of one op; 0: none
    virtual ElementType type() const = 0;
    virtual TimingStyle style() const { return TimingStyle::queued; }

    // Queues op number `op` of a batch.
    virtual void issue(int op, std::byte* slot, CudaStream stream) = 0;

    // Puts data with a known result into the slot.
    virtual void fill_known(std::byte* slot, CudaStream stream) = 0;

    // After the ops that `checked_ops` says on such data: wrong elements. Waits.
    virtual std::optional<std::int64_t> wrong(std::byte* slot, CudaStream stream) = 0;
    virtual int checked_ops() const { return 1; }
};

// `cuda` and `group` must outlive it. Throws MeasureFailure where the group cannot do `work`.
std::unique_ptr<PreparedWork> prepare_collective(CudaApi& cuda, const NcclGroup& group,
                                                 const CollectiveWork& work);
std::unique_ptr<PreparedWork> prepare_exchange(CudaApi& cuda, const NcclGroup& group,
                                               const ExchangeWork& work);
std::unique_ptr<PreparedWork> prepare_ping_pong(CudaApi& cuda, const NcclGroup& group,
                                                const PingPongWork& work);
std::unique_ptr<PreparedWork> prepare_local(CudaApi& cuda, const LocalWork& work);

} // namespace trainyard

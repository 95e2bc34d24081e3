#pragma once

#include "calibrate/backends/host/host_communicator.h"

#include <gloo/algorithm.h>
#include <gloo/context.h>

#include <memory>
#include <string>

namespace trainyard {

// Why Gloo does not do `work`, for people; empty: it does.
std::string cannot_collect_over_gloo(const CollectiveWork& work);

class GlooCommunicator final : public HostCommunicator {
public:
    // `context` is connected; `algorithm` is one of `gloo_algorithms`.
    GlooCommunicator(std::shared_ptr<gloo::Context> context, std::string algorithm,
                     const MemoryLimits& limits);

private:
    void barrier() override;
    void collective(const CollectiveWork& work, std::size_t slot) override;
    void exchange(std::byte* memory, std::span<const Transfer> transfers) override;
    void plan(const CollectiveWork& work) override;
    std::optional<std::size_t> fixed_slots(const CollectiveWork& work) const override;
    void wake() noexcept override;
    MeasureFailure failure(const std::exception& error) const override;

    void run_bound(const CollectiveWork& work, std::size_t slot);
    void all_reduce(const CollectiveWork& work, const OpBuffers& buffers);
    void all_gather(const CollectiveWork& work, const OpBuffers& buffers);
    void all_to_all(const OpBuffers& buffers);
    void broadcast(const CollectiveWork& work, const OpBuffers& buffers);
    void reduce(const CollectiveWork& work, const OpBuffers& buffers);

    std::shared_ptr<gloo::Context> context_;
    std::string algorithm_;
    std::vector<std::unique_ptr<gloo::Algorithm>> bound_; // by slot
    std::uint32_t tag_ = 0;                               // of the next op, equal on all ranks
};

} // namespace trainyard

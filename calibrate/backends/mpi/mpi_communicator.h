#pragma once

#include "calibrate/backends/host/host_communicator.h"
#include "calibrate/backends/mpi/mpi_type.h"

#include <memory>

namespace trainyard {

class MpiCommunicator final : public HostCommunicator {
public:
    // Takes `communicator` over.
    MpiCommunicator(MPI_Comm communicator, std::shared_ptr<const MpiTypes> types,
                    const MemoryLimits& limits);
    ~MpiCommunicator() override;

private:
    void barrier() override;
    void collective(const CollectiveWork& work, std::size_t slot) override;
    void exchange(std::byte* memory, std::span<const Transfer> transfers) override;
    void plan(const CollectiveWork& work) override;
    std::optional<std::size_t> fixed_slots(const CollectiveWork& work) const override;
    void wake() noexcept override;
    MeasureFailure failure(const std::exception& error) const override;

    // Until all requests are done, or somebody aborts.
    void wait(const char* what);

    MPI_Comm communicator_;
    std::shared_ptr<const MpiTypes> types_;
    int largest_tag_ = 0;
    std::vector<MPI_Request> requests_; // of the op in progress
};

} // namespace trainyard

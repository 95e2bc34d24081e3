#pragma once

// The back end of NVIDIA GPUs: collectives and messages through NCCL, kernels through the table of
// CUDA.

#include "calibrate/measure/nccl/nccl_communicator.h"

namespace trainyard {

struct NcclBackendSettings {
    LaunchPlace place;
    NcclLimits limits;
    Seconds warm_up{2.0}; // of GEMMs before the first communicator
};

class NcclBackend : public RankBackend {
public:
    // Takes the device number local_rank, modulo those that the process sees. Throws
    // MeasureFailure where there is none that works. Without NCCL, one rank alone can still time
    // its device.
    NcclBackend(std::shared_ptr<DeviceLibraries> libraries, const NcclBackendSettings& settings);

    BackendFacts facts() const override;
    std::string cannot(const TimedWork& work) const override;
    std::unique_ptr<Communicator> join(const GroupSpec& group, Rendezvous& rendezvous) override;

    // Of the first communicator of all ranks: smaller ones show fewer GPUs. The first rank of a
    // host has it.
    std::string node_topology() const override { return topology_; }

private:
    void on_device(const std::string& doing, std::function<void(CudaApi&)> action);
    std::string cannot_communicate(const CollectiveWork& work) const;

    std::shared_ptr<DeviceLibraries> libraries_;
    NcclBackendSettings settings_;
    std::shared_ptr<DeviceThread> thread_;
    CudaDevice device_;
    int devices_ = 0; // that this process sees
    bool warm_ = false;
    std::string topology_; // as NCCL dumped it
};

} // namespace trainyard

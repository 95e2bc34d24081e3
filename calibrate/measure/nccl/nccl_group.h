#pragma once

// An NCCL communicator whose every error is a failure that says which rank failed at what.

#include "calibrate/measure/nccl/failures.h"

#include <atomic>

namespace trainyard {

// What a back end stands on. Calls that nobody waits for any more keep it alive.
struct DeviceLibraries {
    std::unique_ptr<CudaApi> cuda;
    std::optional<NcclLibrary> nccl;
    std::string nccl_missing; // why there is none
};

// All but `abort` on one thread.
class NcclGroup {
public:
    // `rank` counts in the group.
    NcclGroup(std::shared_ptr<DeviceLibraries> libraries, const GroupSpec& spec, int rank);
    ~NcclGroup(); // collective, unless aborted

    // Collective; blocks. Forces the algorithm and protocol of the GroupSpec meanwhile.
    void connect(const NcclId& id);

    bool alone() const { return !libraries_->nccl; } // no NCCL, one rank
    int rank() const { return rank_; }
    int ranks() const { return static_cast<int>(spec_.members.size()); }
    const GroupSpec& spec() const { return spec_; }
    const std::string& who() const { return who_; }

    const NcclApi& api() const { return libraries_->nccl->api; }
    NcclComm comm() const; // throws once aborted

    void require(NcclResult result, const std::string& doing) const;

    // Throws what went wrong behind our back.
    void check(const std::string& doing) const;

    // From any thread. Operations end with errors; the communicator is gone.
    void abort() noexcept;

private:
    std::shared_ptr<DeviceLibraries> libraries_;
    GroupSpec spec_;
    int rank_;
    std::string who_;
    std::atomic<NcclComm> comm_{nullptr};
};

// Why NCCL would not do `work` with what `spec` forces, so that no time is noted under a name that
// is not its own; empty: it does.
std::string not_with_forced(const GroupSpec& spec, const TimedWork& work);

} // namespace trainyard

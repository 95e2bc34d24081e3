#pragma once

// How long things take on given hardware with given software, each alone.

#include "sim/cost/profile.h"
#include "sim/cost/software.h"
#include "sim/topology/group_shape.h"
#include "sim/workload/kernel.h"

namespace trainyard {

// A collective or a message, alone on its links.
struct TransferTime {
    Seconds latency;       // at the smallest size
    Seconds total;         // T(S) >= latency
    double wire_bytes = 0; // leaving the busiest member, over its way out (NVLink, PCIe or NIC)
    double sm_share = 0;   // of the device's SMs held by the kernel
    double traffic_share =
        0; // compute slowed by this share while data moves at full rate: phi x rate / fastest link
};

class CostModel {
public:
    explicit CostModel(Profile profile);

    const Profile& profile() const { return profile_; }

    // One kernel (its launches together) alone on the device, the device-side gap of each launch
    // included.
    Seconds kernel_time(const Kernel& kernel) const;
    Seconds kernel_time(const WorkList& kernels) const; // communications count nothing

    // Host time to issue one kernel.
    Seconds host_per_kernel(Phase phase, bool cuda_graphs) const;

    // One rank, or zero bytes: all zero. Monotone in `size`.
    TransferTime collective(CollectiveKind kind, Bytes size, const GroupShape& shape,
                            Backend backend) const;

    // A message between a pair of devices: shape.ranks == 2, or several pairs of the same kind at
    // once.
    TransferTime send_receive(Bytes size, const GroupShape& pair, Backend backend) const;

    // Between device and host memory, one way.
    Seconds host_copy(Bytes size) const;

private:
    Profile profile_;
};

} // namespace trainyard

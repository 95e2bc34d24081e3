#pragma once

// How long things take on given hardware with given software, each alone.

#include "sim/cost/collective_form.h"
#include "sim/cost/kernel_time.h"
#include "sim/cost/link_factors.h"
#include "sim/cost/nccl_settings.h"
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
    double nic_bytes = 0;  // of one member's share of what leaves its domain
    double sm_share = 0;   // of the device's SMs' work lost while the kernel is resident
    double traffic_share =
        0; // compute slowed by this share while data moves at full rate: phi x rate / fastest link
    const Algorithm* algorithm = nullptr; // none: nothing moves
};

// Where copies from and to a device's memory go.
enum class CopyRoute : std::uint8_t {
    host, // the host's memory
    peer  // another device of the node
};

// A value without hidden state: const members may run on any number of threads.
class CostModel {
public:
    // With `links` other than 1 what a transfer takes while data moves changes as the closed form
    // says, measured times too; latencies stay.
    explicit CostModel(Profile profile, NcclSettings nccl = {}, LinkFactors links = {});

    const Profile& profile() const { return profile_; }
    const NcclSettings& nccl_settings() const { return nccl_; }

    // The sweep that times a collective over groups of this shape; null: a closed form does.
    const KnotTable* knots_for(CollectiveKind kind, const GroupShape& shape, Backend backend) const;

    // What kernel times follow from.
    ComputeContext compute_context() const;

    // One kernel (its launches together) alone on the device, the device-side gap of each launch
    // included.
    Seconds kernel_time(const Kernel& kernel) const;
    Seconds kernel_time(const WorkList& kernels) const; // communications count nothing

    // Host time to issue one kernel.
    Seconds host_per_kernel(Phase phase, bool cuda_graphs) const;

    // One rank, or zero bytes: all zero (a barrier has no bytes and takes its latency). Monotone in
    // `size`. Measured knots where the profile has them for this shape, the closed form elsewhere.
    //
    // Rings, trees and broadcasts take no less than what leaves a domain needs at the group's share
    // of an oversubscribed fabric (GroupShape::fabric_share).
    TransferTime collective(CollectiveKind kind, Bytes size, const GroupShape& shape,
                            Backend backend) const;

    // A message between a pair of devices: shape.ranks == 2, or several pairs of the same kind at
    // once.
    TransferTime send_receive(Bytes size, const GroupShape& pair, Backend backend) const;

    // Between device and host memory, one way.
    Seconds host_copy(Bytes size) const;
    // One way along a route; `both_ways`: while as much goes the other way.
    Seconds copy(Bytes size, CopyRoute route, bool both_ways) const;

    // Work of the host's cores that is bound by `bytes` through its memory, while all devices of
    // the host ask for as much.
    Seconds host_pass(Bytes bytes) const;

private:
    struct Timing {
        Seconds latency;
        Seconds total;
        const Algorithm* algorithm;
    };
    Timing timing(CollectiveKind kind, Bytes size, const GroupShape& shape, Backend backend) const;
    static Seconds later_by_links(CollectiveKind kind, const GroupShape& shape);
    Timing impaired_timing(CollectiveKind kind, Bytes size, const GroupShape& shape) const;
    Timing nccl_timing(CollectiveKind kind, Bytes size, const GroupShape& shape) const;
    Timing nccl_timing_in_step(CollectiveKind kind, Bytes size, const GroupShape& shape) const;
    // By closed forms alone.
    Timing form_timing(CollectiveKind kind, Bytes size, const GroupShape& shape, Backend backend,
                       const FabricClass& fabric, const NetworkClass& network) const;
    Timing on_other_links(Timing timing, CollectiveKind kind, Bytes size, const GroupShape& shape,
                          Backend backend) const;
    LibraryTime library_time(CollectiveKind kind, Bytes size, const GroupShape& shape,
                             Backend backend) const;
    // NCCL's own choice, and what its settings leave of it.
    Timing usual_timing(CollectiveKind kind, Bytes size, const GroupShape& shape) const;
    Timing settled_timing(CollectiveKind kind, Bytes size, const GroupShape& shape) const;
    // Time inside a training step / in nccl-tests.
    double in_situ(CollectiveKind kind, const GroupShape& shape) const;
    LibraryLinks links_of(const GroupShape& shape) const;
    // A closed form's timing as sweeps change it. form_over(shape) is the form over a shape: a
    // function of the size.
    template <class FormOver>
    Timing by_sweeps(Timing timing, CollectiveKind kind, Bytes size, const GroupShape& shape,
                     Backend backend, const FormOver& form_over) const;
    Timing library_timing(CollectiveKind kind, Bytes size, const GroupShape& shape,
                          Backend backend) const;
    double sm_share(CollectiveKind kind, Bytes size, const GroupShape& shape,
                    const Algorithm& algorithm, Backend backend) const;

    Profile profile_;
    MeasuredKernels kernels_; // on this profile's device
    NcclSettings nccl_;
    LinkFactors links_;
    FabricClass fabric_; // and network, as NCCL's settings leave them
    NetworkClass network_;
    FabricClass other_fabric_; // the same with `links_`
    NetworkClass other_network_;
};

} // namespace trainyard

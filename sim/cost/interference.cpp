#include "sim/cost/interference.h"

#include "sim/base/fields.h"
#include "sim/cost/field_kinds.h"

#include <algorithm>

namespace trainyard {

double BackendInterference::lost_to_full_rate() const
{
    const double waiting = compute_waiting.value_or(0);
    const double lost = (waiting + compute_moving.value_or(0)) * transfer_slowdown.value_or(1);
    return std::clamp(lost - waiting, 0.0, 1.0);
}

const BackendInterference& InterferenceTable::of(Backend backend) const
{
    switch (backend) {
    case Backend::nccl:
        return nccl;
    case Backend::gloo:
        return gloo;
    case Backend::ucx:
        return ucx;
    case Backend::nvshmem:
        return nvshmem;
    case Backend::mpi:
        break;
    }
    return mpi;
}

template <>
const FieldTable<BackendInterference>& fields_of<BackendInterference>()
{
    using B = BackendInterference;
    static const auto table =
        FieldTable<B>("of a library", "Compute and communication beside each other.")
            .field("compute_waiting", &B::compute_waiting,
                   share("compute lost from the arrival of a member, waiting or not"))
            .field("compute_moving", &B::compute_moving, share("compute lost besides, data moving"))
            .field("transfer_slowdown", &B::transfer_slowdown,
                   {.help = "time of a transfer beside compute / alone", .min = 1.0, .max = 100.0});
    return table;
}

template <>
const FieldTable<InterferenceTable>& fields_of<InterferenceTable>()
{
    using T = InterferenceTable;
    static const auto table =
        FieldTable<T>("interference", "Measured slowing of compute and communication, by library.")
            .field("nccl", &T::nccl, {.help = "NCCL"})
            .field("gloo", &T::gloo, {.help = "Gloo"})
            .field("ucx", &T::ucx, {.help = "UCX"})
            .field("nvshmem", &T::nvshmem, {.help = "symmetric memory"})
            .field("mpi", &T::mpi, {.help = "MPI"});
    return table;
}

} // namespace trainyard
